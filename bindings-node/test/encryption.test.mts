// Encrypted stores: keys, refusals, a changed key, and a JavaScript store.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory, memoryTool, openStore, rekey } from 'memdir';
import type { MemoryOptions } from 'memdir';

import { MapStore } from './stores.mjs';
import { temporary } from './support.mjs';

const SECRET = 'where the treasure lies';
const path = '/memories/a map.md';

function onDisk(directory: string): string {
  return readdirSync(directory, { withFileTypes: true })
    .map((entry) => {
      const inside = join(directory, entry.name);
      return entry.name + (entry.isDirectory() ? onDisk(inside) : readFileSync(inside, 'latin1'));
    })
    .join();
}

test('the files are encrypted, and names if that is asked for', async () => {
  const encryptionKey = randomBytes(32);
  for (const encryptNames of [false, true]) {
    const directory = temporary();
    const tool = memoryTool(directory, { encryptionKey, encryptNames });
    await tool.run({ command: 'create', path, file_text: SECRET });
    const seen = onDisk(directory);
    assert.ok(seen.length > 200 && !seen.includes(SECRET));
    assert.equal(seen.includes('a map'), !encryptNames);
    for (const key of [
      `hex:${encryptionKey.toString('hex')}`,
      `base64:${encryptionKey.toString('base64')}`,
      new Uint8Array(encryptionKey),
    ]) {
      const memory = new Memory(directory, { encryptionKey: key });
      assert.ok(String(await memory.view({ path })).includes(SECRET));
    }
  }
});

test('plain and encrypted are never mixed, and a wrong key is told at once', async () => {
  const [plain, encrypted] = [temporary(), temporary()];
  const key = 'correct horse';
  await new Memory(plain).create({ path, file_text: 'x' });
  await new Memory(encrypted, { encryptionKey: key }).create({ path, file_text: 'x' });
  const cases: [string, MemoryOptions | undefined, RegExp][] = [
    [plain, { encryptionKey: key }, /not encrypted/],
    [encrypted, undefined, /its key is needed/],
    [encrypted, { encryptionKey: 'correct hors' }, /another key or passphrase/],
    [encrypted, { encryptionKey: randomBytes(32) }, /another key or passphrase/],
    [encrypted, { encryptionKey: key, encryptNames: true }, /names are not encrypted/],
  ];
  for (const [directory, options, message] of cases) {
    assert.throws(() => new Memory(directory, options), { message });
    assert.throws(() => openStore(directory, options), { message });
  }
});

test('what is no key is told, and not shown', () => {
  const cases: [unknown, RegExp][] = [
    ['', /^encryptionKey must not be empty$/],
    ['hex:1234', /^encryptionKey must have 64 hexadecimal digits after "hex:"$/],
    [new Uint8Array(31), /^encryptionKey must have 32 bytes, got 31$/],
    [new Float64Array(4), /^encryptionKey must be a Uint8Array or a string of valid Unicode$/],
    [{}, /^encryptionKey must be a Uint8Array or a string of valid Unicode$/],
    [5, /^encryptionKey must be a Uint8Array or a string of valid Unicode$/],
  ];
  for (const [encryptionKey, message] of cases) {
    assert.throws(() => new Memory('memory:', { encryptionKey } as MemoryOptions), { message });
  }
  assert.throws(() => new Memory('memory:', { encryptNames: 1 } as unknown as MemoryOptions), {
    message: /^encryptNames must be true or false, got 1$/,
  });
});

test('a store of one’s own is encrypted', async () => {
  const store = new MapStore();
  const options = { encryptionKey: randomBytes(32), encryptNames: true };
  const memory = new Memory(store, options);
  await memory.create({ path, file_text: SECRET });
  await memory.rename({ old_path: path, new_path: '/memories/b/the map.md' });
  const seen = (await Promise.resolve(store.list('/memories'))).map((entry) => entry.path).join();
  assert.ok(seen.length > 30 && !seen.includes('map'));
  assert.match(
    String(await new Memory(store, options).view({ path: '/memories/b/the map.md' })),
    /treasure/,
  );
  // A JavaScript store is not read until the first command needs it.
  const other = new Memory(store, { encryptionKey: randomBytes(32) });
  const { isError, content, cause } = await other.execute({ command: 'view', path: '/memories' });
  assert.ok(isError && !String(content).includes('key'));
  assert.match(String(cause), /another key/);
});

test('a key is changed', async () => {
  const address = `sqlite:${join(temporary(), 'agent.db')}`;
  const [oldKey, newKey] = [randomBytes(32), 'correct horse'];
  const old = new Memory(address, { encryptionKey: oldKey });
  await old.create({ path, file_text: SECRET });
  assert.equal(await rekey(address, oldKey, newKey), 1);
  assert.throws(() => new Memory(address, { encryptionKey: oldKey }));
  const memory = new Memory(address, { encryptionKey: newKey });
  assert.match(String(await memory.view({ path })), /treasure/);
  const { cause } = await old.execute({ command: 'create', path: '/memories/b', file_text: 'x' });
  assert.match(String(cause), /key was changed/);
  await assert.rejects(rekey(address, oldKey, randomBytes(32)), /another key/);
});
