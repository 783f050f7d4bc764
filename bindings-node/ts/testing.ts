/**
 * Help for the tests of your own {@link Store}.
 *
 * @module memdir/testing
 */

import { AssertionError } from 'node:assert';

import native from '../native.cjs';

import { assertStore } from './places.js';
import { optionalMembers, serve } from './store.js';
import type { Store } from './store.js';

/**
 * Checks that a store keeps the contract of {@link Store}. Each rule gets a fresh store.
 *
 * Some rules are about concurrent calls. A violation of these may show only after several runs.
 *
 * @param factory Returns a new, empty store each time it is called.
 * @throws `AssertionError` with the first rule that the store breaks, and the expected and the actual
 *   result.
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
    const violation = await native.checkContract(rule, serve(store), optionalMembers(store));
    if (violation !== null) {
      throw new AssertionError({ message: violation });
    }
  }
}
