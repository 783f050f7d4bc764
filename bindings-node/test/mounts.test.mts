// Several stores mounted into one tree, and stores that are read-only.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory, StoreError, memoryTool, openStore, readOnly } from 'memdir';
import type { Places } from 'memdir';

import { MapStore } from './stores.mjs';
import { temporary } from './support.mjs';

const VIEW = { path: '/memories' };
const READ_ONLY = 'is read-only: it can be viewed but not changed';

/** A directory with a handbook in `docs`. */
function place(): string {
  const directory = temporary();
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(directory, 'docs', 'style.md'), 'Be brief.\n');
  return directory;
}

/** A view without its header. */
async function shown(memory: Memory): Promise<string[]> {
  return String(await memory.view(VIEW))
    .split('\n')
    .slice(1);
}

test('stores of every kind make one tree', async () => {
  const base = place();
  const shared = openStore('memory:');
  const own = new MapStore();
  const memory = new Memory({
    '/memories': join(base, 'memory'),
    '/memories/db': `sqlite:${join(base, 'a.db')}`,
    '/memories/docs': join(base, 'docs'),
    '/memories/docs/own': own,
    '/memories/shared': readOnly(shared),
  });
  await shared.write('/memories/s.md', Buffer.from('s'), false);
  for (const path of ['a.md', 'db/b.md', 'docs/c.md', 'docs/own/d.md']) {
    await memory.create({ path: `/memories/${path}`, file_text: path });
  }
  assert.equal(readFileSync(join(base, 'memory', 'memories', 'a.md'), 'utf8'), 'a.md');
  assert.equal(readFileSync(join(base, 'docs', 'c.md'), 'utf8'), 'docs/c.md');
  assert.equal(Buffer.from(await own.read('/memories/d.md')).toString(), 'docs/own/d.md');
  await memory.rename({ old_path: '/memories/docs/own/d.md', new_path: '/memories/db/d.md' });
  assert.deepEqual(await shown(memory), [
    '4.0K\t/memories',
    '4B\t/memories/a.md',
    '4.0K\t/memories/db',
    '7B\t/memories/db/b.md',
    '13B\t/memories/db/d.md',
    '4.0K\t/memories/docs',
    '9B\t/memories/docs/c.md',
    '4.0K\t/memories/docs/own',
    '10B\t/memories/docs/style.md',
    '4.0K\t/memories/shared',
    '1B\t/memories/shared/s.md',
  ]);
  await assert.rejects(memory.delete({ path: '/memories/shared/s.md' }), {
    message: `Error: /memories/shared/s.md ${READ_ONLY}`,
  });
  await assert.rejects(memory.delete({ path: '/memories/docs' }), /fixed directory of this memory/);
});

test('a store in JavaScript below a mount point may use a memory itself', async () => {
  const notes = new Memory('memory:');
  class Noting extends MapStore {
    override async write(path: string, content: Uint8Array, overwrite: boolean): Promise<void> {
      await notes.create({ path, file_text: String(content.length) });
      super.write(path, content, overwrite);
    }
  }
  const memory = new Memory({ '/memories': 'memory:', '/memories/own': new Noting() });
  // More concurrent calls than threads.
  const paths = Array.from({ length: 100 }, (_, number) => `/memories/own/${number}`);
  await Promise.all(paths.map((path) => memory.create({ path, file_text: path })));
  assert.equal((await shown(memory)).length, 102);
  assert.equal((await shown(notes)).length, 101);
});

test('conditions of mounts are those of a file system', async () => {
  const store = openStore({ '/memories': 'memory:', '/memories/a/b': readOnly('memory:') });
  await assert.rejects(async () => store.delete('/memories/a'), { code: 'EBUSY' });
  await assert.rejects(async () => store.delete('/memories/a/b/c'), { code: 'EROFS' });
  await assert.rejects(async () => store.read('/memories/a'), { code: 'EISDIR' });
  assert.deepEqual(await store.list('/memories'), [{ path: '/memories/a' }]);
  for (const [code, said] of [
    ['EROFS', /\/memories\/a is read-only/],
    ['EBUSY', /\/memories\/a is or holds a fixed/],
  ] as const) {
    class Refusing extends MapStore {
      override delete(): void {
        throw new StoreError(code);
      }
    }
    const memory = new Memory(new Refusing());
    await assert.rejects(memory.delete({ path: '/memories/a' }), said);
  }
});

test('what cannot be mounted is an error', () => {
  const none = /no store is mounted at "\/memories"/;
  for (const [mounts, problem] of [
    [{ '/memories/a': 'memory:' }, none],
    [{ '/memories': 'memory:', '/memories/': 'memory:' }, /two stores are to be mounted/],
    [{ '/memories': 'memory:', '/memories/../a': 'memory:' }, /cannot be mounted at/],
    [{ '/memories': 'nowhere:a' }, /"nowhere:" is not known/],
    [{ '/memories': 3 }, /store must be an address/],
    [{ '/memories': null }, /store must be an address/],
    [{ '/memories': {} }, /store must be an address/],
    [{}, /store must be an address/],
    [null, /store must be an address/],
  ] as unknown as [Places, RegExp][]) {
    assert.throws(() => new Memory(mounts), problem);
  }
});

test('read-only makes nothing and changes nothing', async () => {
  const base = place();
  const missing = join(base, 'none');
  for (const address of [missing, `dir:${missing}`, `sqlite:${missing}`]) {
    assert.throws(() => new Memory(address, { readOnly: true }));
    assert.throws(() => new Memory(readOnly(address)));
    assert.throws(() => openStore(readOnly(address)));
    assert.throws(() => memoryTool(address, { readOnly: true }));
  }
  assert.ok(!existsSync(missing));
  const docs = `dir:${join(base, 'docs')}`;
  for (const store of [docs, readOnly(docs), openStore(docs), readOnly(new MapStore())]) {
    const memory = new Memory(store, { readOnly: true });
    const { content, isError } = await memory.execute({
      command: 'create',
      path: '/memories/a.md',
      file_text: 'a',
    });
    assert.deepEqual(
      { content, isError },
      { content: `Error: /memories/a.md ${READ_ONLY}`, isError: true },
    );
  }
  assert.deepEqual(readdirSync(join(base, 'docs')), ['style.md']);
  assert.throws(
    () => new Memory('memory:', { readOnly: 1 } as never),
    /readOnly must be true or false/,
  );
});
