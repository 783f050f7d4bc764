/** Verifies a whole store. */

import type { Checked } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/**
 * Verifies a store and its history: inspects the store's structures, reads every file and every record of the
 * history, and reconstructs every version. It changes nothing, and the store may be in use meanwhile. If the store
 * fails midway, that is reported as one more problem, and the problems found before it are kept.
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
