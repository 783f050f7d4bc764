// Opens each of memdir's stores by its address, and checks that commands, refusals and errors reach JavaScript. The
// behaviour of the stores is tested in the core; these tests cover only the JavaScript side.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory, StoreError, namespaces, openStore } from 'memdir';
import type { MemoryOptions } from 'memdir';

import { assertIs } from './all-results.mjs';
import { azure, postgres, s3 } from './servers.mjs';
import { temporary } from './support.mjs';

const path = '/memories/notes/tea.md';
const moved = '/memories/tea.md';

/** Uses a new memory through the commands and through the store below them, and opens it once more. */
async function use(address: string, options: MemoryOptions = {}): Promise<void> {
  options = { durability: 'relaxed', ...options };
  const memory = new Memory(address, options);
  assert.match(await memory.create({ path, file_text: 'green\n' }), /^File created/);
  assert.match(
    await memory.insert({ path, insert_line: 1, insert_text: 'two cups 🫖' }),
    /has been edited/,
  );
  await memory.str_replace({ path, old_str: 'green', new_str: 'black' });
  await memory.rename({ old_path: path, new_path: moved });

  // The view of another memory, through commands and as bytes.
  const again = new Memory(address, options);
  assert.match(String(await again.view({ path: moved })), /1\tblack\n {5}2\ttwo cups 🫖$/);
  const refused = await again.execute({ command: 'create', path: moved, file_text: 'x' });
  const content = `Error: File ${moved} already exists`;
  assert.deepEqual(refused, { content, isError: true, kind: 'exists' });
  assert.equal((await again.execute({ command: 'view', path })).isError, true);
  const store = openStore(address, options);
  assert.equal(Buffer.from(await store.read(moved)).toString(), 'black\ntwo cups 🫖\n');
  await store.update(moved, (content) => Buffer.concat([content, Buffer.from([0xff])]));
  const entries = await store.list('/memories');
  assert.deepEqual(entries.map(({ path, size }) => [path, size]).sort(), [
    ['/memories/notes', undefined],
    [moved, 21],
  ]);
  const { modified } = entries.find(({ path }) => path === moved)!;
  assert.ok(Math.abs(modified! - Date.now()) < 3_600_000, `${modified}`);
  await assert.rejects(async () => store.read(path), { name: 'StoreError', code: 'ENOENT' });
  await assert.rejects(async () => store.read('/memories'), { code: 'EISDIR' });
  await assert.rejects(async () => store.write(moved, Buffer.alloc(0), false), { code: 'EEXIST' });
  await memory.delete({ path: moved });
  await memory.delete({ path: '/memories/notes' });
  assert.deepEqual(await store.list('/memories'), []);
}

/** Asserts that opening fails with an error that names the mistake and contains no password. */
function tellsOf(address: string, fault: RegExp): void {
  for (const open of [() => new Memory(address), () => openStore(address)]) {
    assert.throws(open, (error: Error) => {
      assert.ok(error instanceof StoreError, String(error));
      assert.match(error.message, fault);
      assert.doesNotMatch(error.message, /se:cret|se%3Acret|test-secret-key/);
      return true;
    });
  }
}

test('a directory and an SQLite database', async () => {
  const place = temporary();
  await use(join(place, 'memory'));
  await use(`dir:${join(place, 'directory')}`);
  await use(`sqlite:${join(place, 'agent.db')}`);
  tellsOf(`sqlite:${join(place, 'none', 'agent.db')}`, /none/);
});

test('encrypted stores', async () => {
  const place = temporary();
  const options = { encryptionKey: randomBytes(32), encryptNames: true };
  await use(join(place, 'memory'), options);
  await use(`sqlite:${join(place, 'agent.db')}`, options);
});

test('a PostgreSQL database', async (t) => {
  const fresh = await postgres();
  if (!fresh) {
    t.skip('LEFT OUT: PostgreSQL is not installed');
    return;
  }
  await use(fresh());
  await use(fresh(), { encryptionKey: randomBytes(32) });
  const address = new URL(fresh());
  await new Memory(address.href).write('/memories/a', 'one\n');
  const name = address.searchParams.get('namespace')!;
  address.search = '';
  const found = (await namespaces(address.href)).find((one) => one.name === name);
  assert.deepEqual(found, { name, files: 1, bytes: 4, historyBytes: 0 });
  assertIs('Namespace', found, new Set());
  tellsOf(fresh().replace(/:\d+\/.*/, ':1/postgres'), /refused/);
});

for (const [storage, server] of [
  ['of Amazon’s', s3],
  ['of Azure’s', azure],
] as const) {
  test(`object storage ${storage}`, async (t) => {
    const fresh = await server();
    if (!fresh) {
      t.skip('LEFT OUT: object storage: make servers');
      return;
    }
    await use(fresh());
    await use(fresh(), { encryptionKey: randomBytes(32) });
    tellsOf(fresh().replace('//memdir/', '//none-here/'), /none-here|not found|NotFound|404/i);
  });
}
