/** Copying from store to store. */

import type { Copied, CopyProgress } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';
import { optionsOf } from './named-options.js';
import type { Names } from './named-options.js';
import type { MemoryOptions } from './options.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/** How {@link copy} goes about it. */
export interface CopyOptions {
  /** Whether files that have another content are replaced. Default false. */
  overwrite?: boolean | undefined;
  /**
   * What a copied file survives: `full` loss of power, `relaxed` a crash of the process, which is
   * faster for many small files. For a destination that is given by its address. Default `full`.
   */
  durability?: MemoryOptions['durability'];
  /** Called before each file. If it returns `false` or throws, the copy ends there. */
  onProgress?: ((progress: CopyProgress) => unknown) | undefined;
}

/** The names of {@link CopyOptions}. */
const COPY_OPTIONS: Names<CopyOptions> = { overwrite: true, durability: true, onProgress: true };

/**
 * Copies everything from one store into another: contents, times, hidden files, empty directories.
 *
 * Nothing is ever deleted. Both stores are compared first. A file that is there already with the same
 * content only gets its time. If one is there with another content, nothing is copied at all, unless
 * `overwrite` is true. What is written is read back and compared. After an interruption, the same call
 * does the rest.
 *
 * @example
 * ```ts
 * const { files } = await copy('./memory', 'sqlite:agent.db');
 * ```
 *
 * @param source The store to copy from, or its address; it has to be there, and is only read.
 * @param destination The store to copy to, or its address; a directory or database is made.
 * @throws {@link CopyError} if the destination holds something else or `onProgress` stopped the copy,
 *   {@link StoreError} if a store failed. What was copied before stays.
 */
export async function copy(
  source: Places,
  destination: Places,
  options: CopyOptions = {},
): Promise<Copied> {
  const { overwrite = false, durability, onProgress } = optionsOf(options, COPY_OPTIONS);
  const from = openNative(source, { readOnly: true });
  const to = openNative(destination, { durability });
  const watch = onProgress && ((progress: CopyProgress) => onProgress(progress) !== false);
  return withOurErrorsAsync(async () => from.copyTo(to, overwrite, watch));
}
