/** The options of `Memory.sync`. */

import type { MergeRequest } from '../native.cjs';
import type { SyncMerge, SyncProgress } from '../results.cjs';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import { ConfigError } from './errors.js';
import type { Names } from './named-options.js';
import { isPromise, shown } from './store.js';

/**
 * Merges the texts of a file that both memories changed in ways that cannot be merged line by line. Returns the text that
 * both memories get, or `null` to keep both contents. If it throws, the sync ends with that error.
 *
 * The calls come one after another, and also with `dryRun`. A call may take long: if one of the files is changed meanwhile,
 * the function is called again. It is not called for contents that are not text, which are both kept. As WebAssembly it must
 * return the text itself, because a promise cannot be awaited there.
 *
 * @example
 * ```ts
 * const newest: MergeFunction = ({ a, b, modifiedA = 0, modifiedB = 0 }) =>
 *   Number(modifiedA) > Number(modifiedB) ? a : b;
 * await memory.sync('sqlite:team.db', { onConflict: newest });
 * ```
 */
export type MergeFunction = (
  file: SyncMerge,
) => string | null | undefined | Promise<string | null | undefined>;

/** The options of `Memory.sync`. */
export interface SyncOptions extends CallOptions {
  /**
   * Which content wins if both memories changed a file in ways that cannot be merged. `a` is that of
   * this memory, and `b` that of the passed one. `keep-both` keeps both: the content of the passed
   * memory is then in a copy, whose name says where it is from. A function merges both texts itself.
   * Default: `keep-both`.
   */
  onConflict?: 'keep-both' | 'a' | 'b' | MergeFunction | undefined;
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

/** Checks that it may be a word or a function. The native half knows the words. */
export function assertConflictOption(given: unknown): void {
  if (given !== undefined && typeof given !== 'string' && typeof given !== 'function') {
    const words = "'keep-both', 'a', 'b' or a function";
    throw new ConfigError(`onConflict must be ${words}, got ${shown(given)}`, 'onConflict');
  }
}

/** A {@link MergeFunction} for the native half, which cannot hold what it throws. */
export class Merger {
  readonly #merge: MergeFunction;
  #thrown: { error: unknown } | undefined;

  /** For the conflicts of one sync. */
  constructor(merge: MergeFunction) {
    this.#merge = merge;
  }

  /** Answers a request. Never throws. */
  readonly serve = (request: MergeRequest): void => {
    const fail = (error: unknown) => {
      this.#thrown = { error };
      request.fail('the function threw');
    };
    const succeed = (text: unknown) => request.succeed(textOrNull(text));
    try {
      const text = this.#merge(request.takeFile());
      if (isPromise(text)) {
        Promise.resolve(text).then(succeed).catch(fail);
      } else {
        succeed(text);
      }
    } catch (error) {
      fail(error);
    }
  };

  /** The error of the function, or else that of the sync. */
  thrownOr(error: unknown): unknown {
    return this.#thrown ? this.#thrown.error : error;
  }
}

/** An unpaired surrogate. UTF-8 cannot encode it. */
const HALF = /\p{Surrogate}/u;

function textOrNull(text: unknown): string | null {
  const given = text ?? null;
  if (given !== null && (typeof given !== 'string' || HALF.test(given))) {
    const got = typeof given === 'string' ? 'text that is not valid Unicode' : shown(given);
    throw new TypeError(`onConflict must return a string, or null, got ${got}`);
  }
  return given;
}
