// Copying from store to store.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { CopyError, Memory, copy, openStore, readOnly } from 'memdir';
import type { CopyProgress, Places, Store } from 'memdir';

import { MapStore } from './stores.mjs';
import { temporary } from './support.mjs';

const TREE = new Map([
  ['/memories/a.md', Buffer.from('one\n')],
  ['/memories/dir/.hidden', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
]);

async function filled<S extends Store>(store: S): Promise<S> {
  for (const [path, content] of TREE) {
    await store.write(path, content, false);
  }
  return store;
}

async function holds(store: Store): Promise<void> {
  for (const [path, content] of TREE) {
    assert.deepEqual(Buffer.from(await store.read(path)), content);
  }
}

async function modified(store: Store): Promise<number | undefined> {
  const [entry] = await store.list('/memories/dir');
  return entry?.modified;
}

test('the history is copied', async () => {
  const place = temporary();
  const [source, destination] = [join(place, 'source'), `sqlite:${join(place, 'a.db')}`];
  const memory = new Memory(source, { history: true });
  await memory.create({ path: '/memories/a.md', file_text: 'one\n' });
  await memory.str_replace({ path: '/memories/a.md', old_str: 'one', new_str: 'two' });
  assert.equal((await copy(source, destination)).changes, 2);
  const copied = new Memory(destination, { history: true });
  assert.deepEqual(await copied.history(), await memory.history());
  assert.equal((await copy(source, destination)).changes, 0);
  await copied.create({ path: '/memories/b.md', file_text: 'three\n' });
  await memory.delete({ path: '/memories/a.md' });
  await assert.rejects(copy(source, destination), CopyError);
  const alone = await copy(source, destination, { withoutHistory: true });
  assert.equal(alone.changes, undefined);
});

test('between every kind of store', async () => {
  const place = temporary();
  const own = new MapStore();
  const directory = join(place, 'directory');
  const last = openStore(join(place, 'last'));
  const stores: Places[] = [
    await filled(openStore('memory:')),
    directory,
    `sqlite:${join(place, 'a.db')}`,
    own,
    { '/memories': openStore('memory:'), '/memories/dir': join(place, 'mounted') },
    last,
  ];
  // Mounts given by address are opened again for each copy. This store is opened once.
  stores[4] = openStore(stores[4] as Exclude<Places, Store>);
  for (const [index, source] of stores.slice(0, -1).entries()) {
    const copied = await copy(source, stores[index + 1]!, { durability: 'relaxed' });
    assert.deepEqual(copied, { files: 2, bytes: 260, equal: 0, directories: 0, leftOut: [] });
  }
  await holds(own);
  await holds(last);
  assert.equal((await copy(readOnly(directory), own)).equal, 2);
  assert.ok(await modified(last));
  assert.equal(await modified(last), await modified(openStore(directory)));
});

test('several stores at once', async () => {
  const place = temporary();
  const to = { '/memories': join(place, 'a'), '/memories/dir': join(place, 'b') } as const;
  await copy(await filled(openStore('memory:')), to);
  assert.deepEqual(readdirSync(join(place, 'a/memories')), ['a.md']);
  assert.deepEqual(readdirSync(join(place, 'b')), ['.hidden']);
  const back = openStore('memory:');
  assert.equal((await copy(to, back)).files, 2);
  await holds(back);
});

test('a source that is not there is not made', async () => {
  const place = temporary();
  for (const source of [join(place, 'none'), `sqlite:${join(place, 'none.db')}`]) {
    await assert.rejects(copy(source, join(place, 'to')), /none/);
  }
  assert.ok(!existsSync(join(place, 'none')) && !existsSync(join(place, 'none.db')));
});

test('what is in the way is named, and nothing is copied', async () => {
  const [source, destination] = [await filled(new MapStore()), openStore('memory:')];
  await destination.write('/memories/a.md', Buffer.from('other'), false);
  await assert.rejects(copy(source, destination), (error) => {
    assert.ok(error instanceof CopyError && error.name === 'CopyError');
    assert.deepEqual(error.paths, ['/memories/a.md']);
    assert.equal(error.message, 'the destination holds something else at /memories/a.md');
    return true;
  });
  const entries = await destination.list('/memories');
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['/memories/a.md'],
  );
  assert.equal((await copy(source, destination, { overwrite: true })).files, 2);
  await holds(destination);
});

test('progress is told and can end it', async () => {
  const source = await filled(openStore('memory:'));
  for (const end of ['false', 'throw'] as const) {
    const destination = new MapStore();
    const told: CopyProgress[] = [];
    const onProgress = (progress: CopyProgress): boolean => {
      told.push(progress);
      if (progress.phase === 'comparing' || progress.files < 1) {
        return true;
      }
      if (end === 'throw') {
        throw new RangeError('enough');
      }
      return false;
    };
    const copying = copy(source, destination, { onProgress });
    await assert.rejects(copying, end === 'throw' ? /enough/ : { name: 'CopyError', paths: [] });
    assert.deepEqual(
      told.map(({ phase, path, files, ofBytes }) => [phase, path, files, ofBytes]),
      [
        ['comparing', '/memories/a.md', 0, 4],
        ['comparing', '/memories/dir/.hidden', 1, 260],
        ['copying', '/memories/a.md', 0, 260],
        ['copying', '/memories/dir/.hidden', 1, 260],
      ],
    );
    assert.equal((await copy(source, destination)).equal, 1);
    await holds(destination);
  }
});

test('a callback and a store may use memories themselves', async () => {
  const log = new Memory('memory:');
  await log.create({ path: '/memories/log', file_text: '' });
  const pending: Promise<unknown>[] = [];
  const onProgress = ({ path }: CopyProgress): void => {
    pending.push(log.insert({ path: '/memories/log', insert_line: 0, insert_text: path }));
  };
  class Logged extends MapStore {
    override async write(path: string, content: Uint8Array, overwrite: boolean): Promise<void> {
      await log.insert({ path: '/memories/log', insert_line: 0, insert_text: `write ${path}` });
      super.write(path, content, overwrite);
    }
  }
  await copy(await filled(new MapStore()), new Logged(), { onProgress });
  await Promise.all(pending);
  const lines = String(await log.view({ path: '/memories/log' })).split('\n');
  assert.equal(lines.length, 1 + 4 + 2);
});

test('a store that fails is told of by its code', async () => {
  class Full extends MapStore {
    override write(): never {
      throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
    }
  }
  const copying = copy(await filled(openStore('memory:')), new Full());
  await assert.rejects(copying, {
    name: 'StoreError',
    code: 'ENOSPC',
    message: /\/memories\/a\.md to the destination/,
  });
});

test('what is no store is told at once', async () => {
  const wrong = (option: string, message: RegExp) => ({ name: 'ConfigError', option, message });
  await assert.rejects(
    copy('memory:', {} as Store),
    wrong('destination', /^destination must be .* it lacks read/),
  );
  await assert.rejects(
    copy('memory:', 5 as never),
    wrong('destination', /^destination must be an address .* got 5$/),
  );
  await assert.rejects(copy({} as Store, 'memory:'), wrong('source', /^source must be/));
});
