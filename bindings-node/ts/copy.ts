/** Copying from store to store. */

import type { NativeStore } from '../native.cjs';

import type { MemoryOptions } from './options.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/** What a {@link copy} did. */
export interface Copied {
  /** Files that were written. */
  files: number;
  /** Their bytes. */
  bytes: number;
  /** Files that were there already, with the same content. */
  equal: number;
  /** Empty directories that were made. */
  directories: number;
  /** What is kept beside the memory that was copied, such as links, and is no part of it. */
  leftOut: string[];
}

/** How far a {@link copy} is. */
export interface CopyProgress {
  /** `comparing` while both stores are looked through, then `copying`. */
  phase: 'comparing' | 'copying';
  /** The file that comes next. */
  path: string;
  /** The files that this phase is through with. */
  files: number;
  /** Their bytes. */
  bytes: number;
  /** The files that this phase is about; while comparing, as many as were found so far. */
  ofFiles: number;
  /** Their bytes. */
  ofBytes: number;
}

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

/** The destination of a {@link copy} holds something else; nothing was copied. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
  /** Where it does; none if the copy was stopped. */
  readonly paths: readonly string[];

  /** The message is for the developer. */
  constructor(message: string, paths: readonly string[] = [], options?: ErrorOptions) {
    super(message, options);
    this.paths = paths;
  }
}

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
 * @throws A {@link CopyError} if the destination holds something else or `onProgress` stopped it; an
 *   error with a `code` if a store failed. What was copied before stays.
 */
export async function copy(
  source: Places,
  destination: Places,
  options: CopyOptions = {},
): Promise<Copied> {
  const { overwrite = false, durability, onProgress } = options;
  const from = openNative(source, { readOnly: true });
  const to = openNative(destination, { durability });
  const watch = onProgress && ((progress: CopyProgress) => onProgress(progress) !== false);
  return carriedOut(from, to, overwrite, watch);
}

async function carriedOut(
  from: NativeStore,
  to: NativeStore,
  overwrite: boolean,
  watch: ((progress: CopyProgress) => boolean) | undefined,
): Promise<Copied> {
  try {
    return await from.copyTo(to, overwrite, watch);
  } catch (error) {
    const paths = (error as { paths?: unknown } | null)?.paths;
    if (error instanceof Error && Array.isArray(paths)) {
      throw new CopyError(error.message, paths as string[]);
    }
    throw error;
  }
}
