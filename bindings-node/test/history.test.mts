// The history of a memory: listed, read, compared and undone, on every store.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';

import { ConfigError, HistoryError, Memory, StoreError, openStore } from 'memdir';
import type { Event, HistoryErrorKind, MemoryOptions, Places, Version } from 'memdir';

import { postgres, s3 } from './servers.mjs';
import { FileStore, MapStore, tableStore } from './stores.mjs';
import { require, temporary } from './support.mjs';

const skip = process.env['MEMDIR_WASM'] === '1' && 'WebAssembly has the stores in the process';
const path = '/memories/tea.md';
const text = async (memory: Memory, id: string) =>
  new TextDecoder().decode(await memory.readVersion(id));
const told = ({ operation, path, oldPath, actor, size }: Version) =>
  [operation, path, oldPath, actor, size].filter((part) => part !== undefined).join(' ');
const pause = () => new Promise((resolve) => setTimeout(resolve, 3));

function rejects(call: Promise<unknown>, kind: HistoryErrorKind, ...paths: string[]) {
  return assert.rejects(call, (error) => {
    assert.ok(error instanceof HistoryError, String(error));
    assert.deepEqual([error.name, error.kind, error.paths], ['HistoryError', kind, paths]);
    assert.ok(error.message.length > 10);
    return true;
  });
}

/** The behaviour that every store must have. */
async function session(store: Places, options: MemoryOptions = {}): Promise<void> {
  const given = { ...options, durability: 'relaxed', history: true, actor: 'nobody' } as const;
  const everybody = new Memory(store, given);
  const [me, other] = [everybody.actingAs('me'), everybody.actingAs('other')];
  await other.create({ path, file_text: 'green\n' });
  await other.write('/memories/gone', 'here\n');
  await pause();
  const begun = new Date();
  await pause();
  await me.str_replace({ path, old_str: 'green', new_str: 'black' });
  await me.rename({ old_path: path, new_path: '/memories/d/tea.md' });
  await me.delete({ path: '/memories/gone' });
  await everybody.write('/memories/d/tea.md', 'white\n');

  const versions = await me.history();
  assert.deepEqual(versions.map(told), [
    'overwritten /memories/d/tea.md nobody 6',
    'deleted /memories/gone me',
    `renamed /memories/d/tea.md ${path} me 6`,
    `modified ${path} me 6`,
    'created /memories/gone other 5',
    `created ${path} other 6`,
  ]);
  const [latest, deleted, renamed, modified, , created] = versions as [
    Version,
    Version,
    Version,
    Version,
    Version,
    Version,
  ];
  assert.deepEqual(
    versions.filter(({ isCurrent }) => isCurrent),
    [latest],
  );
  assert.ok(modified.time instanceof Date && modified.time >= begun, String(modified.time));
  assert.ok(Math.abs(modified.time.getTime() - Date.now()) < 60_000);
  assert.equal(created.sha256, createHash('sha256').update('green\n').digest('hex'));
  assert.ok(!('size' in deleted && deleted.size !== undefined) && deleted.redacted === undefined);

  // Filters.
  const ids = async (...asked: Parameters<Memory['history']>) =>
    (await me.history(...asked)).map(({ id }) => id);
  const all = versions.map(({ id }) => id);
  assert.deepEqual(await ids(undefined, { limit: 2 }), all.slice(0, 2));
  assert.deepEqual(await ids(null, { limit: 2, before: all[1] }), all.slice(2, 4));
  assert.deepEqual(await ids('/memories/gone'), [all[1], all[4]]);
  assert.deepEqual(await ids(null, { actor: 'me' }), all.slice(1, 4));
  assert.deepEqual(await ids(null, { change: renamed.change }), [renamed.id]);
  assert.deepEqual(await ids(null, { since: begun }), all.slice(0, 4));
  assert.deepEqual(await ids(null, { limit: 0, since: null, actor: null }), []);

  assert.equal(await text(me, created.id), 'green\n');
  assert.equal((await me.readVersion(created.id)).constructor, Uint8Array);
  await rejects(me.readVersion(deleted.id), 'no_content');
  assert.match(await me.diff(modified.id), /^--- .*\n\+\+\+ .*\n@@ -1 \+1 @@\n-green\n\+black\n$/);
  assert.match(await me.diff(created.id, latest.id), /\n-green\n\+white\n$/);
  assert.equal(await me.diff(modified.id, modified.id), '');

  // Another actor's change depends on one of mine.
  const mine = { since: begun, actor: 'me' };
  await rejects(me.undo(mine), 'conflict', '/memories/d/tea.md');
  const { change, files } = await everybody.undo({ change: latest.id });
  assert.deepEqual(files, [{ operation: 'modified', path: '/memories/d/tea.md' }]);
  assert.deepEqual(await me.undo({ change: change! }, { dryRun: true }), { files, skipped: [] });
  assert.equal(await me.read('/memories/d/tea.md'), 'black\n');

  const back = await everybody.restoreAll(begun, { dryRun: true });
  assert.equal(back.change, undefined);
  await everybody.restoreAll(begun);
  assert.equal(await me.read(path), 'green\n');
  assert.equal(await me.read('/memories/gone'), 'here\n');
  assert.equal(await me.exists('/memories/d/tea.md'), false);
  const again = (await me.history(path, { limit: 1 }))[0]!;
  assert.equal(again.operation, 'restored');

  // The state at a version's own time includes the version.
  await pause();
  await me.write(path, 'blue\n');
  const blue = (await me.history(path, { limit: 1 }))[0]!;
  await pause();
  await me.write(path, 'red\n');
  await me.restoreAll(blue.time);
  assert.equal(await me.read(path), 'blue\n');
  assert.ok((await ids(null, { since: blue.time })).includes(blue.id));

  await rejects(me.restore(created.id), 'conflict', path);
  const restored = await me.restore(created.id, { overwrite: true });
  assert.deepEqual(restored.files, [{ operation: 'modified', path }]);
  assert.equal(await me.read(path), 'green\n');
  await rejects(me.redact(created.id, 'a name'), 'is_current', path);
  const redaction = await me.redact(blue.id, 'a name');
  assert.equal((await me.history(null, { change: redaction }))[0]?.operation, 'redacted');
  assert.equal(await me.redact(blue.id, 'a name'), null);
  await rejects(me.readVersion(blue.id), 'redacted');
  const { redacted, size } = (await me.history(null, { change: blue.change }))[0]!;
  assert.deepEqual([redacted, size], ['a name', undefined]);
  assert.equal(await me.trimHistory(), 0);

  // Deleting a directory with all its files is one change.
  await me.write('/memories/d/a', 'a');
  await me.write('/memories/d/b', 'b');
  await me.delete({ path: '/memories/d' });
  const [one, two] = await me.history('/memories/d', { limit: 2 });
  assert.equal(one!.change, two!.change);
  await me.restore(one!.change);
  assert.deepEqual([await me.read('/memories/d/a'), await me.read('/memories/d/b')], ['a', 'b']);
}

test('a session is seen and undone in this process', () => session('memory:'));

test('a session is seen and undone on the local directory', { skip }, async () => {
  await session(temporary());
  await session(temporary(), { encryptionKey: 'correct horse' });
  await session({ '/memories': temporary(), '/memories/mounted': 'memory:' });
});

test('a session is seen and undone on an SQLite database', { skip }, () =>
  session(`sqlite:${join(temporary(), 'agent.db')}`),
);

test('a session is seen and undone on a PostgreSQL database', { skip }, async (t) => {
  const fresh = await postgres();
  if (!fresh) {
    t.skip('PostgreSQL is not installed');
    return;
  }
  await session(fresh());
});

test('a session is seen and undone on object storage', { skip }, async (t) => {
  const fresh = await s3();
  if (!fresh) {
    t.skip('LEFT OUT: object storage: make servers');
    return;
  }
  await session(fresh());
});

test('a session is seen and undone on a store of one’s own', async () => {
  await session(new MapStore());
});

test('a session is seen and undone on stores that answer later', { skip }, async () => {
  await session(tableStore());
  await session(await FileStore.at(temporary()));
});

test('a text is redacted in all versions that have it', async () => {
  const memory = new Memory('memory:', { history: true });
  await memory.write(path, 'key: hunter2\n');
  await memory.write(path, 'key: Hunter2\n');
  const dry = await memory.redactText('hunter2', 'a key', { ignoreCase: true, dryRun: true });
  assert.deepEqual([dry.change, dry.versions.length, dry.current], [undefined, 2, [path]]);
  await rejects(memory.redactText('(?i)HUNTER2', 'a key', { regex: true }), 'is_current', path);
  await memory.delete({ path });
  const redacted = await memory.redactText('hunter2', 'a key', { ignoreCase: true });
  assert.equal(redacted.versions.length, 2);
  const versions = await memory.history();
  assert.equal(versions[0]?.change, redacted.change);
  assert.equal(versions.at(-1)?.redacted, 'a key');
  assert.deepEqual((await memory.redactText('hunter2', 'a key')).versions, []);
  await memory.write('/memories/acme/deal', 'one\n');
  await memory.delete({ path: '/memories/acme' });
  await memory.write('/memories/b-acme', 'two\n');
  const named = await memory.redactText('acme', 'a client');
  assert.deepEqual([named.names, named.keptNames], [['/memories/acme/deal'], ['/memories/b-acme']]);
  assert.ok((await memory.history()).every((one) => !one.path.includes('acme/')));
});

test('erase removes the files and the history', async () => {
  const store = openStore('memory:');
  const memory = new Memory(store, { history: true });
  await memory.write(path, 'one\n');
  await memory.clear();
  await memory.write(path, 'two\n');
  const { historyBytes, ...counted } = await memory.erase({ dryRun: true });
  assert.deepEqual(counted, { files: 1, bytes: 4, versions: 3 });
  assert.ok(historyBytes > 100);
  // Also without the option.
  assert.deepEqual(await new Memory(store).erase(), { ...counted, historyBytes });
  assert.deepEqual(await memory.history(), []);
  assert.equal(await memory.exists(path), false);
  await memory.write(path, 'new\n');
  assert.equal((await memory.history()).length, 1);
  await assert.rejects(new Memory(store, { readOnly: true }).erase());
  await assert.rejects(memory.erase({ dryRun: 1 as never }), /dryRun/u);
});

test('without the option there is no history, and a read-only one can be read', async () => {
  const store = openStore('memory:');
  await rejects(new Memory(store).history(), 'off');
  await rejects(new Memory('memory:').undo({ since: new Date() }), 'off');
  await new Memory(store, { history: true }).write(path, 'x');
  const memory = new Memory(store, { history: true, readOnly: true });
  const [version] = await memory.history();
  assert.equal(await text(memory, version!.id), 'x');
  await rejects(memory.undo({ change: version!.id }), 'read_only');
  await rejects(memory.trimHistory(), 'read_only');
});

test('what is no id, no path and no version is told apart', async () => {
  const memory = new Memory('memory:', { history: true });
  const id = '01990a3c-7c00-7123-8456-789abc000001';
  for (const call of [
    (id: string) => memory.readVersion(id),
    (id: string) => memory.diff(id),
    (id: string) => memory.restore(id),
    (id: string) => memory.undo({ change: id }),
    (id: string) => memory.redact(id, 'why'),
  ]) {
    await rejects(call('yesterday'), 'no_id');
    await rejects(call(''), 'no_id');
    await rejects(call(id), 'unknown');
  }
  await rejects(memory.history(null, { before: '1' }), 'no_id');
  await rejects(memory.history(null, { change: '1' }), 'no_id');
  await rejects(memory.history('/etc'), 'path');
  assert.deepEqual(await memory.history('/memories/none', { before: id }), []);
});

test('a wrong argument is a ConfigError that names it', async () => {
  const memory = new Memory('memory:', { history: true });
  const date = new Date();
  const wrong: [option: string, message: RegExp, call: (given: any) => unknown][] = [
    ['actor', /^actor must be a string, got 5$/, (one) => one.actingAs(5)],
    ['path', /^path must be a string, or null, got 5$/, (one) => one.history(5)],
    ['limit', /^limit must be .* got -1$/, (one) => one.history(null, { limit: -1 })],
    ['since', /^since must be a valid Date$/, (one) => one.history(null, { since: 5 })],
    ['since', /^since must be a valid Date$/, (one) => one.undo({ since: new Date('x') })],
    ['at', /^at must be a valid Date$/, (one) => one.restoreAll()],
    ['at', /^at must be a valid Date$/, (one) => one.restoreAll(new Date(NaN))],
    ['id', /^id must be a string, got null$/, (one) => one.readVersion(null)],
    ['overwrite', /^overwrite must be true/, (one) => one.restore('', { overwrite: 1 })],
    ['dryRun', /^dryRun must be true or false/, (one) => one.undo({ change: '' }, { dryRun: 'a' })],
    ['reason', /^reason must be a string, got undefined$/, (one) => one.redact('')],
    ['change', /^change or since must be given$/, (one) => one.undo({})],
    [
      'since',
      /^since must not be given together with change$/,
      (one) => one.undo({ change: 'a', since: date }),
    ],
    [
      'actor',
      /^actor must be given together with since$/,
      (one) => one.undo({ change: 'a', actor: 'me' }),
    ],
  ];
  for (const [option, message, call] of wrong) {
    await assert.rejects(
      async () => call(memory),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.deepEqual(
          [error.option, message.test(error.message)],
          [option, true],
          String(error),
        );
        return true;
      },
    );
  }
});

test('a memory that acts as somebody shares hooks, and the event has the change', async () => {
  const events: Event[] = [];
  const memory: Memory = new Memory('memory:', {
    history: true,
    before: async ({ command }) => {
      if (command === 'create') {
        // A hook's own calls run without hooks, under any actor.
        await memory.actingAs('hook').create({ path: '/memories/by hook', file_text: '' });
      }
    },
    after: (event) => events.push(event),
  });
  await memory.actingAs('me').create({ path, file_text: 'x' });
  await memory.view({ path });
  const versions = await memory.history();
  assert.deepEqual(
    versions.map(({ actor }) => actor),
    ['me', 'hook'],
  );
  assert.deepEqual(
    events.map(({ command, change }) => [command, change]),
    [
      ['create', versions[0]!.change],
      ['view', undefined],
    ],
  );
});

test('a broken store is a StoreError, and a signal cancels', async () => {
  const broken = new MapStore();
  const memory = new Memory(broken, { history: true });
  await memory.write(path, 'x');
  const [version] = await memory.history();
  const signal = AbortSignal.abort();
  const cancelled = { name: 'StoreError', code: 'ECANCELED' };
  await assert.rejects(memory.history(null, { signal }), cancelled);
  await assert.rejects(memory.undo({ change: version!.id }, { signal }), cancelled);
  await assert.rejects(memory.trimHistory({ signal }), cancelled);
  assert.equal(await memory.exists(path), true);
  broken.read = broken.list = () => {
    throw new Error('out of reach');
  };
  await assert.rejects(new Memory(broken, { history: true }).history(), (error) => {
    assert.ok(error instanceof StoreError, String(error));
    return error.code === 'EIO' && error.message.includes('out of reach');
  });
});

test('CommonJS has the same', async () => {
  const memdir = require('memdir') as typeof import('memdir');
  const memory = new memdir.Memory('memory:');
  await assert.rejects(memory.actingAs('me').history(), memdir.HistoryError);
});

test('an undo names, leaves out or merges what was changed since', async () => {
  const memory = new Memory('memory:', { history: true });
  const path = '/memories/a';
  await memory.write(path, '1\n2\n3\n');
  await memory.actingAs('Ann').write(path, 'one\n2\n3\n');
  const [{ change }] = (await memory.history(path, { limit: 1 })) as [Version];
  await memory.actingAs('Ben').write(path, 'one\n2\nthree\n');
  const [later] = (await memory.history(path, { limit: 1 })) as [Version];
  const conflict = { path, inTheWay: false, change: later.change, actor: 'Ben', time: later.time };
  await assert.rejects(memory.undo({ change }), (error: unknown) => {
    assert(error instanceof HistoryError);
    assert.deepEqual(error.conflicts, [conflict]);
    return true;
  });
  const skipped = await memory.undo({ change }, { skipConflicts: true });
  assert.deepEqual(skipped, { files: [], skipped: [conflict] });
  const would = await memory.undo({ change }, { merge: true, dryRun: true });
  const merged = '1\n2\nthree\n';
  assert.deepEqual(would, { files: [{ operation: 'modified', path, merged }], skipped: [] });
  assert.equal(await memory.read(path), 'one\n2\nthree\n');
  await memory.undo({ change }, { merge: true });
  assert.equal(await memory.read(path), merged);
});
