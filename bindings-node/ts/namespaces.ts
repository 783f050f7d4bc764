/** The memories in a database or bucket. */

import native from '../native.cjs';
import type { Namespace } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';

/**
 * The memories in a PostgreSQL database, or below a prefix of object storage: those that hold something, sorted by their
 * names. Each opens with its name as the option `namespace`.
 *
 * In PostgreSQL row-level security limits them to those that the user may see. In object storage a directory of a memory
 * that is at the prefix itself looks like a namespace. Of an encrypted memory with encrypted names, the history counts
 * among the files.
 *
 * @param address The address of the database or the prefix.
 * @throws {@link ConfigError} if the address is wrong, or that of another store, which is one memory;
 *   {@link StoreError} if the store cannot be reached, or failed.
 */
export async function namespaces(address: string): Promise<Namespace[]> {
  return withOurErrorsAsync(async () => native.namespaces(address));
}
