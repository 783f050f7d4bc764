/** What a developer can set: the options of the core, under their JavaScript names. */

import type { After, Before } from './hooks.js';

/** How a memory behaves where the tool's documentation leaves a choice. All may be left out. */
export interface Options {
  /**
   * The most characters (Unicode code points) that one view returns before it is cut and says how
   * to go on; `null` lifts the limit. Default 16,000.
   */
  maxViewChars?: number | null | undefined;
  /**
   * The most bytes that a file may come to hold by a command; `null` lifts the limit. Larger files
   * made by somebody else can still be viewed. Default 16 MiB.
   */
  maxFileBytes?: number | null | undefined;
  /**
   * The most bytes that an image (a file named `.png`, `.jpg` or `.jpeg`) may have to be shown; `null`
   * shows no images. Default 3,932,160, which is what Claude takes.
   */
  maxImageBytes?: number | null | undefined;
  /**
   * The most bytes that all files together may come to hold, hidden ones included; `null`, the
   * default, sets no limit.
   */
  maxTotalBytes?: number | null | undefined;
  /**
   * The most files that there may come to be, hidden ones included; `null`, the default, sets no
   * limit.
   */
  maxFiles?: number | null | undefined;
  /** What `create` does about a file that is there: refuse (the default), or replace it whole. */
  onExisting?: 'error' | 'overwrite' | undefined;
  /**
   * What an acknowledged command survives: loss of power (`full`, the default), or a crash of the
   * process (`relaxed`, which does not wait for the disk).
   */
  durability?: 'full' | 'relaxed' | undefined;
  /**
   * How many milliseconds a change waits for other writers of the same store; then it is refused, and
   * nothing was changed. `null` waits for as long as it takes. Default 10,000.
   */
  lockTimeout?: number | null | undefined;
  /**
   * Which of several memories in one PostgreSQL database or one bucket this is: any text, such as a
   * user's name as it is. `null`, the default, is the one that the address says. Never put a value
   * that is not your own into an address.
   */
  namespace?: string | null | undefined;
  /**
   * Keeps the files encrypted: 32 bytes; as a string, `hex:…` or `base64:…` for those, or else a
   * passphrase. A store is encrypted from its beginning or never.
   */
  encryptionKey?: Uint8Array | string | undefined;
  /** Whether a store that is made with a key encrypts names, too. Default: no. */
  encryptNames?: boolean | undefined;
  /**
   * Whether the whole memory can be viewed but not changed. A directory or database then has to be
   * there, and nothing is made in it. Default false.
   */
  readOnly?: boolean | undefined;
  /** Patterns of what no command may change, and of all that is below. Default: none. */
  readOnlyPaths?: readonly string[] | undefined;
  /**
   * Patterns of what commands may change, and all that is below: nothing else. `null`, the default,
   * sets no such limit. `readOnlyPaths` wins.
   */
  writablePaths?: readonly string[] | null | undefined;
  /**
   * Whether an edit is refused that was meant for an older content of its file: `on` guards `insert`
   * into files that were shown or written, `strict` also `str_replace`, and wants every file to be
   * viewed first; `off` (the default) does nothing.
   */
  staleGuard?: 'off' | 'on' | 'strict' | undefined;
  /**
   * What is done about keys, tokens, passwords and payment cards in text that a command would
   * write: `reject` refuses the command, `redact` writes `[REDACTED:rule]` in their place, `off`
   * (the default) does nothing.
   */
  sensitive?: 'off' | 'reject' | 'redact' | undefined;
  /**
   * Patterns of your own by their ids, beside the built-in rules. The syntax is that of Rust's
   * `regex-lite`: no look-around, no back-references.
   */
  sensitiveRules?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether views show `[REDACTED:rule]` in the place of sensitive text that a file holds, which
   * is not changed. Default false.
   */
  sensitiveOnView?: boolean | undefined;
  /**
   * Before the first command files are removed that nobody used for so many milliseconds, as by
   * `Memory.expire`. The store has to keep when files were last accessed. Default: nothing is.
   */
  expireAfter?: number | undefined;
  /**
   * Whether a view of a file, and a rename of one, is noted as a use of it, which costs a write;
   * always with `expireAfter`. `Memory.expire` needs it. Default false.
   */
  recordAccess?: boolean | undefined;
  /** Patterns of paths that never expire, such as `/memories/handbook`. Default: none. */
  pins?: readonly string[] | undefined;
  /** Called with each command before the store is touched: to let it pass, change or forbid it. */
  before?: Before | undefined;
  /** Called after each call with what it came to. Commands of hooks themselves run without hooks. */
  after?: After | undefined;
  /** Whether the events that `after` gets hold the reply's text. Default false. */
  afterContent?: boolean | undefined;
}
