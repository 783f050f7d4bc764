/** A key that is kept in a file. */

import native from '../native.cjs';

import { withOurErrors } from './errors.js';

/**
 * Reads a key from a file: 32 bytes for the option `encryptionKey`. If `path` does not exist, it generates a random key
 * and creates the file, which only its owner may read.
 *
 * If several threads or processes make the first call at the same time, all get the same key. The file is never
 * overwritten. Do not lose it: without it the memory cannot be read.
 *
 * @example
 * ```ts
 * const memory = new Memory('./memory', { encryptionKey: keyFromFile('./memory.key') });
 * ```
 *
 * @param path The file. Its directory must exist. `~` as its first component is the home directory.
 * @throws {@link ConfigError} if the file does not have exactly 32 bytes, or cannot be read or made.
 */
export function keyFromFile(path: string): Uint8Array {
  return withOurErrors(() => native.keyFromFile(path));
}
