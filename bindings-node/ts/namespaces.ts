/** The memories in a database or bucket. */

import native from '../native.cjs';
import type { Namespace } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';

/**
 * The memories in a PostgreSQL database, or below a prefix of object storage, that are not empty, sorted by name. To
 * open one, pass its name as the option `namespace`.
 *
 * In PostgreSQL, row-level security limits the list to memories that the database user may see. In object storage, if a
 * memory is at the prefix itself, its directories look like namespaces. For an encrypted memory with encrypted names,
 * the file count includes the history.
 *
 * @param address The address of the database or the prefix.
 * @throws {@link ConfigError} if the address is wrong or belongs to a store that holds only one
 *   memory; {@link StoreError} if the store cannot be reached, or failed.
 */
export async function namespaces(address: string): Promise<Namespace[]> {
  return withOurErrorsAsync(async () => native.namespaces(address));
}
