// Results are plain objects of the types that core/results.json describes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Memory, openStore } from 'memdir';

import { TYPES, allResults, assertIs, camel } from './all-results.mjs';
import type { Seen } from './all-results.mjs';
import { MapStore } from './stores.mjs';
import { PACKAGE } from './support.mjs';

/**
 * Types and fields that these results do not contain: a watch reports a rename as changes of two files, namespaces need a
 * server, entries are also created by programs, and kinds of errors are in replies and errors.
 */
const ELSEWHERE = [
  'Change.oldPath',
  'Entry',
  'ErrorKind',
  'HistoryErrorKind',
  'Namespace',
  'SyncErrorKind',
];

test('a result of every type has the fields that its type says', async () => {
  const seen: Seen = new Set();
  for (const [name, result] of await allResults()) {
    assertIs(name, result, seen);
  }
  const missing = Object.entries(TYPES)
    .flatMap(([name, { properties }]) => [
      name,
      ...Object.keys(properties ?? {}).map((field) => `${name}.${camel(field)}`),
    ])
    .filter((name) => !seen.has(name))
    .filter((name) => !ELSEWHERE.some((other) => name === other || name.startsWith(`${other}.`)));
  assert.deepEqual(missing, []);
});

test('every type is exported', () => {
  const index = readFileSync(new URL('esm/index.d.ts', PACKAGE), 'utf8');
  const missing = Object.keys(TYPES).filter((name) => !new RegExp(`\\b${name}\\b`).test(index));
  assert.deepEqual(missing, []);
});

test('a time that no date reaches is the last one', async () => {
  // In milliseconds: 8.64e15 is the last date, and 9.2e15 the engine's last time.
  const path = '/memories/a';
  for (const [modified, shown] of [
    [8.64e15, 8.64e15],
    [8.7e15, 8.64e15],
    [-8.7e15, -8.64e15],
    [-0.5, -1],
    [1_500.999, 1_500],
  ] as const) {
    const store = new MapStore();
    store.write(path, Buffer.from('x'), false);
    store.setModified(path, modified);
    const { newest } = await new Memory(store).stats();
    assert.equal(newest!.time.getTime(), shown);
    assert.doesNotThrow(() => newest!.time.toISOString());
  }
  const store = openStore('memory:');
  await store.write(path, Buffer.from('x'), false);
  await store.setModified!(path, 1_500.999);
  // An entry's time is exact to the microsecond, so a copy loses nothing.
  assert.equal((await new Memory(store).list())[0]!.modified, 1_500.999);
});
