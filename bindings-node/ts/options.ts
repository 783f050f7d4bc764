/** The options of a memory, under their JavaScript names. */

import type { Embedder } from './embedder.js';
import type { After, Before } from './hooks.js';

/** The options of a memory. All may be left out. */
export interface MemoryOptions {
  /**
   * The most characters (Unicode scalar values) that one view shows. A longer view is cut, and its
   * last line says how to continue. `null` removes the limit. Default: 16,000.
   */
  maxViewChars?: number | null | undefined;
  /**
   * The most bytes that a file may have after a command. A larger file that another program wrote
   * can be viewed. If it has at most 16 MiB, it can be edited to become smaller. `null` removes the
   * limit. Default: 16,777,216.
   */
  maxFileBytes?: number | null | undefined;
  /**
   * The most bytes that all files together may have, including hidden ones. `null` sets no limit.
   * Default: `null`.
   */
  maxTotalBytes?: number | null | undefined;
  /**
   * The most files that the memory may have, including hidden ones. `null` sets no limit. Default:
   * `null`.
   */
  maxFiles?: number | null | undefined;
  /**
   * The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude
   * accepts at most 3,932,160. `null` turns images off. Default: 3,932,160.
   */
  maxImageBytes?: number | null | undefined;
  /**
   * Selects how `create` treats an existing file: `'error'` refuses, `'overwrite'` replaces the
   * whole content atomically. Default: `'error'`.
   */
  onExisting?: 'error' | 'overwrite' | undefined;
  /**
   * The memory can be viewed but not changed. The directory or database must exist. Nothing is
   * created in a directory. Default: `false`.
   */
  readOnly?: boolean | undefined;
  /**
   * Patterns of paths that no command may change, such as `'/memories/handbook'`, including
   * everything below them. They take precedence over `writablePaths`. Default: none.
   */
  readOnlyPaths?: readonly string[] | undefined;
  /**
   * Patterns of the only paths that commands may change, including everything below them. An empty
   * list allows no changes. `null` allows changes to all paths except `readOnlyPaths`. Default:
   * `null`.
   */
  writablePaths?: readonly string[] | null | undefined;
  /**
   * Refuses an edit that is based on an outdated view. `'on'` guards `insert` into files that this
   * session of the memory has shown or written. `'strict'` also guards `str_replace`, and requires
   * a view first. Default: `'off'`.
   */
  staleGuard?: 'off' | 'on' | 'strict' | undefined;
  /**
   * Controls keys, tokens, passwords and payment cards in text that a command would write: `'off'`
   * does nothing, `'reject'` refuses the command, `'redact'` writes `[REDACTED:rule]` instead of
   * them. Default: `'off'`.
   */
  sensitiveText?: 'off' | 'reject' | 'redact' | undefined;
  /**
   * Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's
   * `regex-lite`, which has no look-around and no back-references. An object: patterns by their
   * ids. Default: none.
   */
  sensitiveRules?: Readonly<Record<string, string>> | undefined;
  /**
   * Views show `[REDACTED:rule]` instead of sensitive text. The file is not changed. Such a view
   * reads the whole file into memory. Default: `false`.
   */
  sensitiveOnView?: boolean | undefined;
  /**
   * Before its first command, the memory removes files that have not been used for this long. Must
   * be more than 0. The store must keep times of access. In milliseconds. Default: `null`.
   */
  expireAfter?: number | null | undefined;
  /**
   * Records each view and each rename of a file as a use of the file. Each record costs a write.
   * `expireAfter` turns this on. `expire()` requires it. Default: `false`.
   */
  recordAccess?: boolean | undefined;
  /**
   * Patterns of files that never expire, such as `'/memories/handbook'`, including everything below
   * them. Default: none.
   */
  neverExpire?: readonly string[] | undefined;
  /**
   * Records every change before it is made, so changes can be listed and undone. Default: `false`.
   */
  history?: boolean | undefined;
  /**
   * The history removes versions that are older than this, except the last ten of a file that
   * exists. `null` keeps versions of any age. In milliseconds. Default: 2,592,000,000.
   */
  historyMaxAge?: number | null | undefined;
  /**
   * The maximum number of versions that are kept of each file; a file that exists keeps at least
   * ten. `null` sets no limit. Default: `null`.
   */
  historyMaxVersions?: number | null | undefined;
  /**
   * The approximate maximum size of the history in bytes; beyond it the oldest versions are
   * removed, except the last ten of a file that exists. `null` sets no limit. Default: `null`.
   */
  historyMaxBytes?: number | null | undefined;
  /**
   * The actor of this memory's changes, for its history: a session, a user, the id of a tool call.
   * Any text from your program, never from a model. `actingAs` starts a session with another actor.
   * Default: `null`.
   */
  actor?: string | null | undefined;
  /**
   * Selects the language of texts in Latin letters, whose endings `search` ignores: `'auto'`
   * detects it for each file, `'none'` ignores no endings. Default: `'auto'`.
   */
  searchLanguage?:
    | 'auto'
    | 'none'
    | 'danish'
    | 'dutch'
    | 'english'
    | 'finnish'
    | 'french'
    | 'german'
    | 'italian'
    | 'norwegian'
    | 'polish'
    | 'portuguese'
    | 'spanish'
    | 'swedish'
    | 'turkish'
    | undefined;
  /**
   * The most bytes of memory for the index of `search`, which holds the texts and takes about 1.7
   * times their size. If not all files fit, the first search takes the newest, and each result says
   * how many are left out. `null` sets no limit. Default: 268,435,456.
   */
  searchMaxBytes?: number | null | undefined;
  /**
   * Keeps the index of `search` in hidden files of the store, so the first search of a process
   * reads only the files that have changed. It has the texts of the files, and is encrypted if the
   * store is. A store of several mounted stores keeps none. Default: `false`.
   */
  searchKeep?: boolean | undefined;
  /**
   * Makes `search` prefer files that were written recently: the score of the newest file is half as
   * large again, and a file that is older by this duration gets half of that bonus. Must be more
   * than 0. `null` gives time no influence. In milliseconds. Default: `null`.
   */
  searchRecency?: number | null | undefined;
  /**
   * Turns texts into vectors, so `search` also finds files by their meaning. It gets a list of
   * texts, and returns a vector for each: a sequence of numbers, all of the same length. If it
   * fails or is too slow, the answer is by words alone. Default: none.
   */
  embedder?: Embedder | null | undefined;
  /**
   * The name of the model behind `embedder`, with its version. It is required with an embedder,
   * because a vector is kept under this name and the SHA-256 of its text. A new model needs a new
   * name. Default: `null`.
   */
  embedderName?: string | null | undefined;
  /**
   * The time that one search waits for `embedder`. After that the answer is by words alone, and
   * later searches embed the rest. `null` waits without limit, as a program that embeds many files
   * does. In milliseconds. Default: 10,000.
   */
  embedderTimeout?: number | null | undefined;
  /**
   * Called for each command before the store is touched. It allows the command, replaces its text,
   * or denies it. Default: none.
   */
  before?: Before | null | undefined;
  /**
   * Called after each call with its outcome. Commands that a hook issues itself run without hooks.
   * Default: none.
   */
  after?: After | null | undefined;
  /** Includes the reply's text in the events for `after`. Default: `false`. */
  eventContent?: boolean | undefined;
  /**
   * The failures that an acknowledged command survives: `'full'` a loss of power, `'relaxed'` only
   * a crash of the process. Object storage is always durable. Default: `'full'`.
   */
  durability?: 'full' | 'relaxed' | undefined;
  /**
   * The time that a change waits for other writers of the same store (local directory, SQLite,
   * PostgreSQL). After that the command is refused, and nothing is changed. `null` waits without
   * limit. In milliseconds. Default: 10,000.
   */
  lockTimeout?: number | null | undefined;
  /**
   * Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as a
   * user's name. `null` selects the one that the address names. Pass untrusted values in this
   * option, never in an address. On every other store this option is an error. Default: `null`.
   */
  namespace?: string | null | undefined;
  /**
   * Encrypts everything that the store keeps. A store is encrypted from its creation or not at all.
   * A `Uint8Array` of 32 bytes; a string is a passphrase, or `hex:…` or `base64:…`. Default:
   * `null`.
   */
  encryptionKey?: Uint8Array | string | null | undefined;
  /**
   * Also encrypts the names in a store that is created with a key. An existing store keeps its
   * setting. Default: `false`.
   */
  encryptNames?: boolean | undefined;
}
