/**
 * Help for the tests of those who write a {@link Store} of their own.
 *
 * @module
 */

import { AssertionError } from 'node:assert';

import native from '../native.cjs';

import { assertStore, optionalMethods, serve } from './store.js';
import type { Store } from './store.js';

/**
 * Checks that a store keeps what {@link Store} promises: on each rule, a fresh store.
 *
 * The rules are about single calls as well as about many at once, so that a fault of the second
 * kind may need more than one run to show.
 *
 * @param factory Makes a new, empty store each time it is called.
 * @throws `AssertionError` with the first rule that is not kept, what was expected and what came.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { checkContract } from 'memdir/testing';
 *
 * test('my store keeps the contract', () => checkContract(() => new MyStore()));
 * ```
 */
export async function checkContract(factory: () => Store | Promise<Store>): Promise<void> {
  for (let rule = 0; rule < native.contractRules(); rule += 1) {
    const store = await factory();
    assertStore(store);
    const violation = await native.checkContract(rule, serve(store), optionalMethods(store));
    if (violation !== null) {
      throw new AssertionError({ message: violation });
    }
  }
}
