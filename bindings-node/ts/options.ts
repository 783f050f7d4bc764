/** The options of a memory, under their JavaScript names. */

import type { After, Before } from './hooks.js';

/** The options of a memory. All may be left out. */
export interface MemoryOptions {
  /**
   * The most characters (Unicode scalar values) that one view shows. A longer view is cut, and its
   * last line says how to go on. `null` lifts the limit. Default: 16,000.
   */
  maxViewChars?: number | null | undefined;
  /**
   * The most bytes that a command may make a file hold. A larger file that another program wrote
   * can be viewed. It can be edited to be smaller if it has at most 16 MiB. `null` lifts the limit.
   * Default: 16,777,216.
   */
  maxFileBytes?: number | null | undefined;
  /**
   * The most bytes that all files together may hold, hidden ones included. `null` sets no limit.
   * Default: `null`.
   */
  maxTotalBytes?: number | null | undefined;
  /**
   * The most files that the memory may hold, hidden ones included. `null` sets no limit. Default:
   * `null`.
   */
  maxFiles?: number | null | undefined;
  /**
   * The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude
   * accepts at most 3,932,160. `null` shows no images. Default: 3,932,160.
   */
  maxImageBytes?: number | null | undefined;
  /**
   * What `create` does if the file already exists: `'error'` refuses, `'overwrite'` replaces the
   * whole content atomically. Default: `'error'`.
   */
  onExisting?: 'error' | 'overwrite' | undefined;
  /**
   * The memory can be viewed but not changed. The directory or database must exist. Nothing is made
   * in a directory. Default: `false`.
   */
  readOnly?: boolean | undefined;
  /**
   * Patterns of paths that no command may change, such as `'/memories/handbook'`, with everything
   * below them. They take precedence over `writablePaths`. Default: none.
   */
  readOnlyPaths?: readonly string[] | undefined;
  /**
   * Patterns of the only paths that commands may change, with everything below them. An empty list
   * allows no changes. `null` sets no limit. Default: `null`.
   */
  writablePaths?: readonly string[] | null | undefined;
  /**
   * Refuses an edit that is based on an outdated view. `'on'` guards `insert` into files that this
   * session of the memory has shown or written. `'strict'` also guards `str_replace`, and requires
   * a view first. Default: `'off'`.
   */
  staleGuard?: 'off' | 'on' | 'strict' | undefined;
  /**
   * What happens to keys, tokens, passwords and payment cards in text that a command would write:
   * `'off'` does nothing, `'reject'` refuses the command, `'redact'` writes `[REDACTED:rule]` in
   * their place. Default: `'off'`.
   */
  sensitiveText?: 'off' | 'reject' | 'redact' | undefined;
  /**
   * Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's
   * `regex-lite`, without look-around and back-references. An object: patterns by their ids.
   * Default: none.
   */
  sensitiveRules?: Readonly<Record<string, string>> | undefined;
  /**
   * Views show `[REDACTED:rule]` in the place of sensitive text. The file is not changed. Such a
   * view reads the whole file into memory. Default: `false`.
   */
  sensitiveOnView?: boolean | undefined;
  /**
   * Before its first command, the memory removes files that were not used for this long. Must be
   * more than 0. The store must keep times of access. In milliseconds. Default: `null`.
   */
  expireAfter?: number | null | undefined;
  /**
   * Records each view and each rename of a file as a use of it. That costs a write. `expireAfter`
   * turns it on. `expire()` needs it. Default: `false`.
   */
  recordAccess?: boolean | undefined;
  /**
   * Patterns of files that never expire, such as `'/memories/handbook'`, with everything below
   * them. Default: none.
   */
  neverExpire?: readonly string[] | undefined;
  /**
   * Records every change before it is made, so that it can be seen and taken back. Default:
   * `false`.
   */
  history?: boolean | undefined;
  /**
   * Versions that are older are removed, except the last ten of a file that is there. `null` keeps
   * them however old they are. In milliseconds. Default: 2,592,000,000.
   */
  historyMaxAge?: number | null | undefined;
  /**
   * The most versions that are kept of a file, at least ten if it is there. `null` sets no limit.
   * Default: `null`.
   */
  historyMaxVersions?: number | null | undefined;
  /**
   * About how many bytes the history may hold: beyond it the oldest versions are removed, except
   * the last ten of a file that is there. `null` sets no limit. Default: `null`.
   */
  historyMaxBytes?: number | null | undefined;
  /**
   * Who makes the changes of this memory, for its history: a session, a user, the id of a tool
   * call. Any text of your program, never of a model. `acting_as` begins a session with another
   * one. Default: `null`.
   */
  actor?: string | null | undefined;
  /**
   * Called with each command before the store is touched. It allows the command, replaces its text,
   * or denies it. Default: none.
   */
  before?: Before | null | undefined;
  /**
   * Called after each call with its outcome. Commands that a hook issues itself run without hooks.
   * Default: none.
   */
  after?: After | null | undefined;
  /** The events that `after` gets contain the reply's text. Default: `false`. */
  eventContent?: boolean | undefined;
  /**
   * What an acknowledged command survives: `'full'` a loss of power, `'relaxed'` only a crash of
   * the process. Object storage is always durable. Default: `'full'`.
   */
  durability?: 'full' | 'relaxed' | undefined;
  /**
   * How long a change waits for other writers of the same store (local directory, SQLite,
   * PostgreSQL). After that the command is refused, and nothing was changed. `null` waits without
   * limit. In milliseconds. Default: 10,000.
   */
  lockTimeout?: number | null | undefined;
  /**
   * Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as a
   * user's name. `null` selects the one that the address names. Never put a value that is not your
   * own into an address. On every other store it is an error. Default: `null`.
   */
  namespace?: string | null | undefined;
  /**
   * Encrypts everything that the store keeps. A store is encrypted from its creation or not at all.
   * A `Uint8Array` of 32 bytes; a string is a passphrase, or `hex:…` or `base64:…`. Default:
   * `null`.
   */
  encryptionKey?: Uint8Array | string | null | undefined;
  /**
   * Also encrypts the names in a store that is made with a key. An existing store stays as it was
   * made. Default: `false`.
   */
  encryptNames?: boolean | undefined;
}
