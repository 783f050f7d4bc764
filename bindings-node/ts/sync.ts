/** The options of `Memory.sync`. */

import type { SyncProgress } from '../results.cjs';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import type { Names } from './named-options.js';

/** The options of `Memory.sync`. */
export interface SyncOptions extends CallOptions {
  /**
   * Which content wins if both memories changed a file in ways that cannot be merged. `a` is that of
   * this memory, and `b` that of the passed one. `keep-both` keeps both: the content of the passed
   * memory is then in a copy, whose name says where it is from. Default: `keep-both`.
   */
  onConflict?: 'keep-both' | 'a' | 'b' | undefined;
  /** Only the passed memory is changed. Default: both are. */
  oneWay?: boolean | undefined;
  /** Changes nothing, and resolves to what would be changed. Default: `false`. */
  dryRun?: boolean | undefined;
  /**
   * Allows the sync to delete more than a quarter of a memory's files, or all of them. Default:
   * `false`.
   */
  delete?: boolean | undefined;
  /**
   * Also takes redactions over: the content of a version that was redacted in one history is redacted
   * in the other one, if a sync brought it there. Both memories need a history. Default: `false`.
   */
  redactions?: boolean | undefined;
  /**
   * Patterns of paths that are left as they are in both memories, such as `'/memories/private'`,
   * including everything below them. Default: none.
   */
  exclude?: readonly string[] | undefined;
  /** Files with more bytes are left as they are. Default: `null`, no limit. */
  maxFileBytes?: number | null | undefined;
  /**
   * The names of this memory and of the passed one in the names of conflict copies, such as
   * `['laptop', 'server']`. Default: `null`, the name of the directory, or `a` and `b`.
   */
  names?: readonly [string, string] | null | undefined;
  /**
   * Called before each file, and once for files that are written together. If it returns `false` or
   * throws, the sync ends there. The changes before that stay, and the next sync makes the others.
   */
  onProgress?: ((progress: SyncProgress) => unknown) | undefined;
}

/** The names of {@link SyncOptions}. */
export const SYNC_OPTIONS: Names<SyncOptions> = {
  onConflict: true,
  oneWay: true,
  dryRun: true,
  delete: true,
  redactions: true,
  exclude: true,
  maxFileBytes: true,
  names: true,
  onProgress: true,
  ...CALL_OPTIONS,
};
