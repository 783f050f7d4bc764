/** What a developer can set: the options of the core, under their JavaScript names. */

import type { After, Before } from './hooks.js';

/** How a memory behaves where the tool's documentation leaves a choice. All may be left out. */
export interface MemoryOptions {
  /**
   * The most characters (Unicode scalar values) of one view. A longer view is cut and says how to
   * go on. `null` lifts the limit. Default: 16,000.
   */
  maxViewChars?: number | null | undefined;
  /**
   * The most bytes that one file may come to hold by a command. A larger file made by somebody else
   * can be viewed, and made smaller if it has no more than 16 MiB. `null` lifts the limit. Default:
   * 16,777,216.
   */
  maxFileBytes?: number | null | undefined;
  /**
   * The most bytes that all files together may come to hold, hidden ones included. `null` sets no
   * limit. Default: `null`.
   */
  maxTotalBytes?: number | null | undefined;
  /**
   * The most files that the memory may come to hold, hidden ones included. `null` sets no limit.
   * Default: `null`.
   */
  maxFiles?: number | null | undefined;
  /**
   * The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude takes
   * 3,932,160. `null` shows no images. Default: 3,932,160.
   */
  maxImageBytes?: number | null | undefined;
  /**
   * What `create` does about a file that is already there: `'error'` refuses, `'overwrite'`
   * replaces the whole content atomically. Default: `'error'`.
   */
  onExisting?: 'error' | 'overwrite' | undefined;
  /**
   * The memory can be viewed but not changed. A directory or database must be there already.
   * Nothing is made in a directory. Default: `false`.
   */
  readOnly?: boolean | undefined;
  /**
   * What no command may change: what a pattern matches, such as `'/memories/handbook'`, and
   * everything below it. Wins over `writablePaths`. Default: none.
   */
  readOnlyPaths?: readonly string[] | undefined;
  /**
   * What commands may change, and nothing else: what a pattern matches, and everything below it. An
   * empty list is nothing at all. `null` sets no limit. Default: `null`.
   */
  writablePaths?: readonly string[] | null | undefined;
  /**
   * Refuses an edit that was meant for an older content. `'on'` guards `insert` into files that
   * this memory has shown or written. `'strict'` also guards `str_replace`, and requires a view
   * first. Default: `'off'`.
   */
  staleGuard?: 'off' | 'on' | 'strict' | undefined;
  /**
   * What happens to keys, tokens, passwords and payment cards in text that a command would write:
   * `'off'` does nothing, `'reject'` refuses the command, `'redact'` writes `[REDACTED:rule]` in
   * their place. Default: `'off'`.
   */
  sensitiveText?: 'off' | 'reject' | 'redact' | undefined;
  /**
   * Your own rules, beside the built-in ones: patterns in the syntax of Rust's `regex-lite`,
   * without look-around and back-references. An object: patterns by their ids. Default: none.
   */
  sensitiveRules?: Readonly<Record<string, string>> | undefined;
  /**
   * Views show `[REDACTED:rule]` in the place of sensitive text. The file is not changed. Such a
   * view reads the whole file into memory. Default: `false`.
   */
  sensitiveOnView?: boolean | undefined;
  /**
   * Before the first command, files are removed that nobody used for so long. Must be more than 0.
   * The store must keep times of access. In milliseconds. Default: `null`.
   */
  expireAfter?: number | null | undefined;
  /**
   * A view of a file, and a rename of one, is recorded as a use of it. That costs a write. It is
   * always on with `expireAfter`. `expire()` needs it. Default: `false`.
   */
  recordAccess?: boolean | undefined;
  /**
   * Files that never expire: what a pattern matches, such as `'/memories/handbook'`, and everything
   * below it. Default: none.
   */
  neverExpire?: readonly string[] | undefined;
  /**
   * Called with each command before the store is touched. It allows the command, replaces its text,
   * or denies it. Default: none.
   */
  before?: Before | null | undefined;
  /**
   * Called after each call with what it came to. Commands that a hook issues itself run without
   * hooks. Default: none.
   */
  after?: After | null | undefined;
  /** The events that `after` gets hold the reply's text. Default: `false`. */
  eventContent?: boolean | undefined;
  /**
   * What an acknowledged command survives: `'full'` a loss of power, `'relaxed'` only a crash of
   * the process. Object storage is always durable. Default: `'full'`.
   */
  durability?: 'full' | 'relaxed' | undefined;
  /**
   * How long a change waits for other writers of the same store (local directory, SQLite,
   * PostgreSQL). Then it is refused, and nothing was changed. `null` waits for as long as it takes.
   * In milliseconds. Default: 10,000.
   */
  lockTimeout?: number | null | undefined;
  /**
   * Which of several memories in one PostgreSQL database or one bucket this is. Any text, such as a
   * user's name. `null` is the one that the address names. Never put a value that is not your own
   * into an address. An error on every other store. Default: `null`.
   */
  namespace?: string | null | undefined;
  /**
   * Encrypts what the store keeps. A store is encrypted from its beginning or never. A `Uint8Array`
   * of 32 bytes; a string is a passphrase, or `hex:…` or `base64:…`. Default: `null`.
   */
  encryptionKey?: Uint8Array | string | null | undefined;
  /**
   * A store that is made with a key encrypts names, too. An existing store stays as it was made.
   * Default: `false`.
   */
  encryptNames?: boolean | undefined;
}
