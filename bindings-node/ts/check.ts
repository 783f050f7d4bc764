/** Checking a whole store. */

import type { Checked } from '../results.cjs';

import { withOurErrorsAsync } from './errors.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

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
