/** Copies everything from one store to another. */

import type { Copied, CopyProgress } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';
import { assertFunction, optionsOf } from './named-options.js';
import type { Names } from './named-options.js';
import type { MemoryOptions } from './options.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/** The options of {@link copy}. */
export interface CopyOptions {
  /** Replaces files that have different content. Default false. */
  overwrite?: boolean | undefined;
  /** Copies only the files, and not the history. Default false. */
  withoutHistory?: boolean | undefined;
  /**
   * The failure that a copied file survives: `full` a loss of power; `relaxed` only a crash of the
   * process, which is faster for many small files. It applies to a destination that is given by its
   * address. Default `full`.
   */
  durability?: MemoryOptions['durability'];
  /** Called before each file. If it returns `false` or throws, the copy ends there. */
  onProgress?: ((progress: CopyProgress) => unknown) | undefined;
}

/** The names of {@link CopyOptions}. */
const COPY_OPTIONS: Names<CopyOptions> = {
  overwrite: true,
  withoutHistory: true,
  durability: true,
  onProgress: true,
};

/**
 * Copies everything from one store into another: contents, times, hidden files, empty directories,
 * the history.
 *
 * Nothing is ever deleted. The stores are compared first. For an existing file with the same content,
 * only the time is set. If a file exists with different content, nothing at all is copied, unless
 * `overwrite` is true. Everything that is written is read back and compared. After an interruption,
 * the same call copies the rest.
 *
 * If the history of the destination has changes that the source does not have, or the history of the
 * source is damaged, nothing is copied at all, unless `withoutHistory` is true.
 *
 * @example
 * ```ts
 * const { files } = await copy('./memory', 'sqlite:agent.db');
 * ```
 *
 * @param source The store to copy from, or its address. It must exist, and is only read.
 * @param destination The store to copy to, or its address. A directory or database is created.
 * @throws {@link CopyError} if the destination has files with different content, the history cannot be
 *   copied, or `onProgress` stopped the copy, {@link StoreError} if a store failed. Files that were copied before stay.
 */
export async function copy(
  source: Places,
  destination: Places,
  options: CopyOptions = {},
): Promise<Copied> {
  const named = optionsOf(options, COPY_OPTIONS);
  const { overwrite = false, withoutHistory = false, durability, onProgress } = named;
  assertFunction('onProgress', onProgress);
  const from = openNative(source, { readOnly: true }, 'source');
  const to = openNative(destination, { durability }, 'destination');
  const watch = onProgress && ((progress: CopyProgress) => onProgress(progress) !== false);
  return withOurErrorsAsync(async () => from.copyTo(to, overwrite, withoutHistory, watch));
}
