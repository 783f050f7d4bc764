/** Checking a whole store. */

import { withOurErrorsAsync } from './errors.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/** The result of a {@link check}. */
export interface Checked {
  /** Directories, including the root. */
  directories: number;
  /** Files; each was read to its end. */
  files: number;
  /** The bytes that were read. */
  bytes: number;
  /** Versions in the store's history, each computed; absent if the store has no history. */
  versions?: number | undefined;
  /** The problems that were found; empty if there are none. */
  problems: Problem[];
}

/** A problem in a store. */
export interface Problem {
  /** The kind of problem. */
  kind:
    'unreadable' | 'wrong-size' | 'damaged' | 'left-over' | 'link' | 'special-file' | 'bad-name';
  /** The path, or a text like a path if no path can contain the name. It is safe to display. */
  path: string;
  /** The problem as a sentence, for you. */
  description: string;
  /** Whether it is about an entry that is not part of the memory. The memory itself is then in order. */
  isBeside: boolean;
}

/**
 * Checks a store and its history: inspects the store's structures, reads every file, reads every record of the
 * history and computes every version. Changes nothing. Others may use the store meanwhile. A store that fails in the
 * middle is a problem, too: what was found before is kept.
 *
 * @example
 * ```ts
 * const { problems } = await check('./memory');
 * ```
 *
 * @param store The store, or its address. It must exist.
 * @throws {@link StoreError} if the store cannot be opened, or fails before anything was read or found,
 *   {@link ConfigError} if the address is wrong.
 */
export async function check(store: Places): Promise<Checked> {
  const opened = openNative(store, { readOnly: true });
  return withOurErrorsAsync(async () => opened.check());
}
