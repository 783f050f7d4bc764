// Syncs of two memories.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  ConfigError,
  Deny,
  HookError,
  Memory,
  StoreError,
  SyncError,
  openStore,
  readOnly,
} from 'memdir';
import type {
  MergeFunction,
  Places,
  Store,
  SyncErrorKind,
  SyncMerge,
  SyncOptions,
  SyncProgress,
} from 'memdir';

import { MapStore } from './stores.mjs';
import { temporary } from './support.mjs';

const skip = process.env['MEMDIR_WASM'] === '1' && 'WebAssembly cannot wait';
const inProcess = process.env['MEMDIR_WASM'] === '1' && 'WebAssembly has the stores in the process';

const tea = '/memories/tea.md';
const pot = '/memories/pots/pot.md';

const METHODS = ['read', 'list', 'write', 'update', 'delete', 'rename'] as const;

/** A store that answers through promises, some time later. */
function asynchronous(store: Store): Store {
  const later = (method: (typeof METHODS)[number]) => {
    return async (...given: unknown[]) => {
      await new Promise(setImmediate);
      return (store[method] as (...given: unknown[]) => unknown).apply(store, given);
    };
  };
  return Object.fromEntries(METHODS.map((method) => [method, later(method)])) as unknown as Store;
}

/** Two memories that are equal, and know each other. */
async function pair(a: Places = 'memory:', b: Places = 'memory:'): Promise<[Memory, Memory]> {
  const memories: [Memory, Memory] = [new Memory(a), new Memory(b)];
  await memories[0].write(tea, 'green\nherbal\nblack\n');
  await memories[0].sync(memories[1]);
  return memories;
}

/** All files of a memory, with their texts. */
async function files(memory: Memory): Promise<Record<string, string>> {
  const entries = await memory.list('/memories', { depth: null });
  const paths = entries.filter(({ size }) => size !== undefined).map(({ path }) => path);
  const texts = paths.map(async (path) => [path, await memory.read(path)] as const);
  return Object.fromEntries(await Promise.all(texts));
}

async function fails(kind: SyncErrorKind, syncing: Promise<unknown>, says?: RegExp): Promise<void> {
  await assert.rejects(syncing, (error) => {
    assert.ok(error instanceof SyncError && error.name === 'SyncError', String(error));
    assert.equal(error.kind, kind);
    assert.match(error.message, says ?? /./);
    return true;
  });
}

async function changesTravel(a: Places, b: Places): Promise<void> {
  const [one, other] = await pair(a, b);
  assert.deepEqual(await files(other), { [tea]: 'green\nherbal\nblack\n' });
  await one.write(pot, 'a pot\n');
  await one.str_replace({ path: tea, old_str: 'green', new_str: 'jasmine' });
  await other.str_replace({ path: tea, old_str: 'black', new_str: 'oolong' });
  await other.write('/memories/cup.md', 'a cup\n');
  assert.deepEqual(await one.sync(other), {
    changes: [
      { path: '/memories/cup.md', side: 'a', action: 'created' },
      { path: pot, side: 'b', action: 'created' },
      { path: tea, side: 'a', action: 'merged' },
      { path: tea, side: 'b', action: 'merged' },
    ],
    conflicts: [],
    leftOut: [],
    redactions: [],
    equal: 3,
    hasBaseline: true,
  });
  const merged = 'jasmine\nherbal\noolong\n';
  const expected = { '/memories/cup.md': 'a cup\n', [pot]: 'a pot\n', [tea]: merged };
  assert.deepEqual(await files(one), expected);
  assert.deepEqual(await files(other), expected);

  // The other memory may also be the one whose method is called.
  await other.rename({ old_path: tea, new_path: '/memories/teas.md' });
  await other.delete({ path: pot });
  assert.deepEqual((await other.sync(one)).changes, [
    { path: pot, side: 'b', action: 'deleted' },
    { path: '/memories/teas.md', side: 'b', action: 'renamed', oldPath: tea },
  ]);
  assert.deepEqual(await files(one), await files(other));
  assert.deepEqual((await one.sync(other)).changes, []);
}

test('changes go in both directions, and those of different lines are merged', async () => {
  await changesTravel('memory:', 'memory:');
  await changesTravel('memory:', new MapStore());
  await changesTravel(new MapStore(), new MapStore());
});

test('two stores of your own answer through promises', { skip }, async () => {
  await changesTravel(asynchronous(new MapStore()), asynchronous(new MapStore()));
  await changesTravel(new MapStore(), asynchronous(new MapStore()));
});

test('a directory and a database', { skip: inProcess }, async () => {
  const place = temporary();
  await changesTravel(join(place, 'a'), `sqlite:${join(place, 'b.db')}`);
});

test('the other memory may be a store, or an address', async () => {
  const memory = new Memory('memory:');
  await memory.write(tea, 'green\n');
  const store = openStore('memory:');
  const own = new MapStore();
  const mounted = openStore('memory:');
  const mounts = { '/memories': 'memory:', '/memories/team': mounted } as const;
  for (const other of ['memory:', store, own]) {
    const { changes } = await memory.sync(other);
    assert.deepEqual(changes, [{ path: tea, side: 'b', action: 'created' }]);
  }
  assert.equal(await new Memory(store).read(tea), 'green\n');
  assert.equal(Buffer.from(own.read(tea)).toString(), 'green\n');
  await memory.write('/memories/team/plan.md', 'brew\n');
  assert.equal((await memory.sync(mounts)).equal, 2);
  assert.equal(Buffer.from(await mounted.read('/memories/plan.md')).toString(), 'brew\n');
});

test('a conflict keeps both contents', async () => {
  const [one, other] = await pair();
  await one.write(tea, 'white\n');
  await other.write(tea, 'red\n');
  const names = ['laptop', 'server'] as const;
  const { conflicts, equal } = await one.sync(other, { names });
  assert.equal(equal, 2);
  const [{ path, copyPath, side, modified }] = conflicts as [(typeof conflicts)[0]];
  assert.deepEqual([conflicts.length, path, side], [1, tea, 'b']);
  assert.ok(modified instanceof Date);
  assert.match(copyPath, /^\/memories\/tea \(conflict from server .*\)\.md$/);
  for (const memory of [one, other]) {
    assert.deepEqual(await files(memory), { [tea]: 'white\n', [copyPath]: 'red\n' });
  }
});

test('one memory wins a conflict', async () => {
  for (const [onConflict, content] of [
    ['a', 'white\n'],
    ['b', 'red\n'],
  ] as const) {
    const [one, other] = await pair(new MapStore(), new MapStore());
    await one.write(tea, 'white\n');
    await other.write(tea, 'red\n');
    await one.sync(other, { onConflict });
    assert.deepEqual([await files(one), await files(other)], Array(2).fill({ [tea]: content }));
  }
});

test('a dry run changes nothing', async () => {
  const own = new MapStore();
  const [one, other] = [new Memory('memory:'), new Memory(own)];
  await one.write(tea, 'green\n');
  const { changes, equal, hasBaseline } = await one.sync(other, { dryRun: true });
  assert.deepEqual(changes, [{ path: tea, side: 'b', action: 'created' }]);
  assert.deepEqual([equal, hasBaseline], [0, false]);
  assert.deepEqual(own.list('/memories'), []);
  assert.deepEqual((await one.sync(other)).changes, changes);
});

test('one way changes only the passed memory', async () => {
  const [one, other] = await pair();
  await one.write(pot, 'a pot\n');
  await other.write('/memories/own.md', 'mine\n');
  const { changes, leftOut } = await one.sync(other, { oneWay: true });
  assert.deepEqual(changes, [{ path: pot, side: 'b', action: 'created' }]);
  assert.deepEqual(
    leftOut.map(({ path, side, reason }) => [path, side, reason]),
    [['/memories/own.md', 'b', 'one_way']],
  );
  assert.equal(await one.exists('/memories/own.md'), false);
});

test('files are excluded, or too large', async () => {
  const memory = new Memory('memory:');
  await memory.write('/memories/private/a.md', 'secret');
  await memory.write('/memories/large.md', 'x'.repeat(101));
  await memory.write(tea, 'green\n');
  const other = new Memory('memory:');
  const exclude = ['/memories/private'];
  const { leftOut } = await memory.sync(other, { exclude, maxFileBytes: 100 });
  assert.deepEqual(Object.keys(await files(other)), [tea]);
  assert.deepEqual(
    leftOut.map(({ path, reason, details }) => [path, reason, details.length > 0]),
    [['/memories/large.md', 'too_large', true]],
  );
  // However long the list is.
  const many = [...Array.from({ length: 500 }, (_, at) => `/memories/${at}`), ...exclude];
  await memory.sync(other, { exclude: many, maxFileBytes: null });
  assert.deepEqual(Object.keys(await files(other)), ['/memories/large.md', tea]);
});

test('too many deletions are refused, unless they are allowed', async () => {
  const [one, other] = await pair();
  await one.delete({ path: tea });
  const says = /^1 of the 1 files of .* would be deleted, .* nothing was changed$/;
  await fails('too_many_deletions', one.sync(other), says);
  assert.ok(await other.exists(tea));
  await one.sync(other, { delete: true });
  assert.equal(await other.exists(tea), false);
});

test('the same memory twice is refused', async () => {
  const store = openStore('memory:');
  const memory = new Memory(store);
  for (const other of [memory, memory.actingAs('Ann'), new Memory(store), store]) {
    await fails('overlapping', memory.sync(other));
  }
});

test('the same place twice is refused', { skip: inProcess }, async () => {
  const place = temporary();
  const memory = new Memory(place);
  await fails('overlapping', memory.sync(place));
  await fails('overlapping', memory.sync({ '/memories': place, '/memories/other': 'memory:' }));
});

test('a read-only memory is only read', async () => {
  const store = openStore('memory:');
  await store.write(tea, Buffer.from('green\n'), false);
  const [memory, fixed] = [new Memory('memory:'), new Memory(readOnly(store))];
  await fails('read_only', memory.sync(fixed), /read-only/);
  await fails('read_only', memory.sync(readOnly(store)));
  await fails('read_only', fixed.sync(memory));
  assert.equal((await fixed.sync(memory, { oneWay: true })).equal, 1);
  assert.equal(await memory.read(tea), 'green\n');
});

test('the options of each memory apply, and its history shows the sync', async () => {
  const memory = new Memory('memory:', { history: true, maxFileBytes: 10 });
  const other = new Memory('memory:');
  await other.write(tea, 'green\n');
  await other.write(pot, 'a pot that is too large\n');
  const { leftOut } = await memory.sync(other);
  assert.deepEqual(
    leftOut.map(({ path, side, reason }) => [path, side, reason]),
    [[pot, 'a', 'refused']],
  );
  assert.deepEqual(
    (await memory.history()).map(({ path, actor }) => [path, actor]),
    [[tea, 'sync']],
  );
});

/** Two memories with a conflict. */
async function inConflict(a?: Places, b?: Places): Promise<[Memory, Memory]> {
  const memories = await pair(a, b);
  await memories[0].write(tea, 'white\n');
  await memories[1].write(tea, 'red\n');
  return memories;
}

test('a function merges a conflict', async () => {
  const [one, other] = await inConflict();
  const merges: SyncMerge[] = [];
  const onConflict: MergeFunction = (file) => {
    merges.push(file);
    return file.a + file.b;
  };
  const { changes, conflicts } = await one.sync(other, { onConflict });
  assert.deepEqual(
    changes.map(({ side, action }) => [side, action]),
    [
      ['a', 'merged'],
      ['b', 'merged'],
    ],
  );
  assert.deepEqual([await files(one), conflicts], [{ [tea]: 'white\nred\n' }, []]);
  assert.deepEqual(await files(other), await files(one));
  const [{ modifiedA, modifiedB, ...texts }] = merges as [SyncMerge];
  const base = 'green\nherbal\nblack\n';
  assert.deepEqual(texts, { path: tea, a: 'white\n', b: 'red\n', base });
  assert.ok(modifiedA instanceof Date && modifiedB instanceof Date);
  assert.deepEqual((await one.sync(other, { onConflict })).changes, []);
});

test('a function may return any text, or none', async () => {
  for (const text of ['', 'ä\0\r\nno end 😀', 'x'.repeat(2_000_000)]) {
    const [one, other] = await inConflict();
    await one.sync(other, { onConflict: () => text });
    assert.equal(await other.read(tea), text);
  }
  for (const none of [null, undefined]) {
    const [one, other] = await inConflict();
    const { conflicts } = await one.sync(other, { onConflict: () => none });
    assert.equal(conflicts.length, 1);
    assert.equal(await other.read(conflicts[0]!.copyPath), 'red\n');
  }
});

test('the error of the function ends the sync', async () => {
  const thrown: unknown[] = [new RangeError('no'), new ConfigError('mine'), null, 'a text'];
  for (const error of thrown) {
    const [one, other] = await inConflict();
    const onConflict = () => {
      throw error;
    };
    const caught = await one.sync(other, { onConflict }).then(
      () => assert.fail('it did not throw'),
      (caught: unknown) => caught,
    );
    assert.equal(caught, error);
    assert.equal(await one.read(tea), 'white\n');
    assert.equal(await other.read(tea), 'red\n');
  }
  for (const wrong of [5, true, {}, ['a'], Buffer.from('a'), 'half \ud800']) {
    const [one, other] = await inConflict();
    const onConflict = (() => wrong) as unknown as MergeFunction;
    await assert.rejects(one.sync(other, { onConflict }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^onConflict must return a string, or null, got /);
      return true;
    });
  }
});

test('a function may return a promise, and use both memories', { skip }, async () => {
  const [one, other] = await inConflict(new MapStore(), asynchronous(new MapStore()));
  const onConflict = async ({ path, a }: SyncMerge): Promise<string> => {
    await new Promise(setImmediate);
    return a + (await other.read(path)) + (await one.read(path));
  };
  await one.sync(other, { onConflict });
  assert.equal(await other.read(tea), 'white\nred\nwhite\n');
  await one.write(tea, 'a\n');
  await other.write(tea, 'b\n');
  const failing = async () => Promise.reject(new RangeError('later'));
  await assert.rejects(one.sync(other, { onConflict: failing }), RangeError);
  await one.sync(other, { onConflict: async () => null });
  assert.equal(await other.read(tea), 'a\n');
});

test('as WebAssembly a function must return the text itself', { skip: !skip }, async () => {
  const [one, other] = await inConflict();
  const awaited = one.sync(other, { onConflict: async () => 'white' });
  await fails('stopped', awaited, /a promise, which WebAssembly cannot await/);
  assert.equal(await other.read(tea), 'red\n');
});

test('a signal ends the wait for a function', { skip }, async () => {
  const [one, other] = await inConflict();
  const stop = new AbortController();
  const onConflict = async () => {
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    return 'never';
  };
  await fails('stopped', one.sync(other, { onConflict, signal: stop.signal }));
  assert.equal(await one.read(tea), 'white\n');
});

test('many syncs wait for their functions', { skip }, async () => {
  // More at once than one memory has threads.
  const waiting = Array.from({ length: 70 }, async () => {
    const [one, other] = await inConflict();
    await one.sync(other, {
      onConflict: async ({ path, b }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return b + (await one.read(path));
      },
    });
    assert.equal(await other.read(tea), 'red\nwhite\n');
  });
  await Promise.all(waiting);
});

test('the progress is reported, and can stop the sync', async () => {
  for (const end of ['false', 'throw'] as const) {
    const [one, other] = await pair();
    await one.write(pot, 'a pot\n');
    await one.sync(other);
    await one.write(tea, 'white\n');
    await one.write(pot, 'two pots\n');
    const told: SyncProgress[] = [];
    const onProgress = (progress: SyncProgress): boolean => {
      told.push(progress);
      if (progress.phase === 'comparing' || progress.files < 1) {
        return true;
      }
      if (end === 'throw') {
        throw new RangeError('enough');
      }
      return false;
    };
    const syncing = one.sync(other, { onProgress });
    await (end === 'throw'
      ? assert.rejects(syncing, (error) => error instanceof RangeError)
      : fails('stopped', syncing));
    assert.deepEqual(
      told.map(({ phase, path, files, ofFiles }) => [phase, path, files, ofFiles]),
      [
        ['comparing', pot, 0, 2],
        ['comparing', tea, 1, 2],
        ['changing', pot, 0, 2],
        ['changing', tea, 1, 2],
      ],
    );
    assert.equal(await other.read(pot), 'two pots\n');
    assert.equal(await other.read(tea), 'green\nherbal\nblack\n');
    assert.equal((await one.sync(other)).equal, 2);
    assert.equal(await other.read(tea), 'white\n');
  }
});

test('a callback and a store may use memories themselves', { skip }, async () => {
  const log = new Memory('memory:');
  await log.write('/memories/log', '');
  const pending: Promise<unknown>[] = [];
  const note = (text: string) =>
    log.insert({ path: '/memories/log', insert_line: 0, insert_text: text });
  const onProgress = ({ path }: SyncProgress): void => void pending.push(note(path));
  const logged = () => {
    const store = asynchronous(new MapStore());
    const update: Store['update'] = async (path, ...given) => {
      if (path === tea) {
        await note(`update ${path}`);
      }
      await store.update(path, ...given);
    };
    return { ...store, update };
  };
  // More at once than one memory has threads.
  const syncs = Array.from({ length: 70 }, async () => {
    const [one, other] = await pair(logged(), logged());
    await one.write(tea, 'white\n');
    await one.sync(other, { onProgress });
    assert.equal(await other.read(tea), 'white\n');
  });
  await Promise.all(syncs);
  await Promise.all(pending);
  const lines = (await log.read('/memories/log')).trimEnd().split('\n');
  // The sync updates the file once.
  assert.equal(lines.length, 70 + pending.length);
  assert.ok(pending.length >= 70 * 2);
});

test('a callback may use both memories, when the sync has ended', async () => {
  const [one, other] = await pair(new MapStore(), new MapStore());
  await one.write(pot, 'a pot\n');
  const third = new Memory('memory:');
  const pending: Promise<unknown>[] = [];
  await one.sync(other, {
    onProgress: () => void pending.push(one.read(tea), other.read(tea), one.sync(third)),
  });
  assert.ok(pending.length > 0);
  await Promise.all(pending);
});

test('a store that fails is told of by its code', async () => {
  const thrown = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  const write = () => {
    throw thrown;
  };
  const full = Object.assign(new MapStore(), { write });
  const memory = new Memory('memory:');
  await memory.write(tea, 'green\n');
  await assert.rejects(memory.sync(full), (error) => {
    assert.ok(error instanceof StoreError && error.name === 'StoreError');
    assert.equal(error.code, 'ENOSPC');
    assert.match(error.message, /^ENOSPC: .*\/memories\//);
    return true;
  });
  const broken = new RangeError('broken');
  const read = () => {
    throw broken;
  };
  const failing = Object.assign(new MapStore(), { read });
  await assert.rejects(memory.sync(failing), (error: Error) => {
    return error instanceof StoreError && error.code === 'EIO' && error.cause === broken;
  });
});

test('a signal stops the sync', async () => {
  const [one, other] = await pair();
  await one.write(pot, 'a pot\n');
  const signal = AbortSignal.abort();
  await fails('stopped', one.sync(other, { signal }));
  assert.equal(await other.exists(pot), false);
  await one.sync(other, { signal: new AbortController().signal });
  assert.ok(await other.exists(pot));
});

test('a signal stops the sync while a store waits', { skip }, async () => {
  for (const method of ['list', 'read', 'write'] as const) {
    for (const side of ['a', 'b'] as const) {
      const store = new MapStore();
      const controller = new AbortController();
      const silent = () => {
        setImmediate(() => controller.abort());
        return new Promise<never>(() => {});
      };
      const memory = new Memory('memory:');
      await memory.write(tea, 'green\n');
      const waiting = new Memory(store);
      await waiting.write(pot, 'a pot\n');
      Object.assign(store, { [method]: silent });
      const { signal } = controller;
      const syncing =
        side === 'a' ? waiting.sync(memory, { signal }) : memory.sync(waiting, { signal });
      await assert.rejects(syncing, (error) => {
        // A write may be made later.
        return method === 'write' ? error instanceof StoreError : error instanceof SyncError;
      });
      delete (store as Partial<Store>)[method];
      await memory.sync(waiting);
      assert.deepEqual(await files(memory), { [pot]: 'a pot\n', [tea]: 'green\n' });
      assert.deepEqual(await files(waiting), await files(memory));
    }
  }
});

test('an option that is wrong is named', async () => {
  const [one, other] = await pair();
  await one.write(pot, 'a pot\n');
  for (const [option, given, says] of [
    ['onConflict', 'c', /^onConflict must be "keep-both", "a" or "b", got "c"$/],
    ['onConflict', null, /^onConflict must be .* got null$/],
    ['oneWay', 'yes', /^oneWay must be true or false, got "yes"$/],
    ['dryRun', 1, /^dryRun must be true or false, got 1$/],
    ['delete', null, /^delete must be true or false, got null$/],
    ['exclude', '/memories', /^exclude must be an array of strings, got "\/memories"$/],
    ['exclude', [tea, 5], /^exclude\[1\] must be a string, got 5$/],
    ['exclude', ['notes'], /^exclude: the pattern "notes" /],
    ['exclude', [...Array(200).fill(tea), null], /^exclude\[200\] must be a string, got null$/],
    ['exclude', Array(2 ** 32 - 1), /^exclude\[0\] must be a string, got null$/],
    ['maxFileBytes', -1, /^maxFileBytes must be a whole number from 0 on, or null, got -1$/],
    ['maxFileBytes', 1.5, /^maxFileBytes must be .* got 1\.5$/],
    ['names', ['laptop'], /^names must be two names, got \["laptop"\]$/],
    ['names', ['laptop', 5], /^names\[1\] must be a string, got 5$/],
    ['names', 'laptop', /^names must be an array of strings, got "laptop"$/],
    ['onProgress', 5, /^onProgress must be a function, or null, got 5$/],
    ['signal', 5, /^signal must be an AbortSignal, or null, got 5$/],
    ['one_way', true, /^there is no option one_way; did you mean oneWay\?$/],
  ] as const) {
    const options = { [option]: given } as unknown as SyncOptions;
    await assert.rejects(one.sync(other, options), (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, says);
      return error.option === option;
    });
  }
  for (const given of [undefined, null, 5, {}, { read() {} }]) {
    await assert.rejects(one.sync(given as never), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^other must be an address such as/);
      return error.option === 'other';
    });
  }
  assert.equal(await other.exists(pot), false);
  const absent = { names: null, maxFileBytes: null, exclude: [], oneWay: undefined, signal: null };
  await one.sync(other, absent);
  await one.sync(other, null as never);
});

test('hooks review what a sync writes', async () => {
  const asked: string[] = [];
  const told: string[] = [];
  const laptop = new Memory('memory:');
  const server = new Memory('memory:', {
    before: (command, { actor }) => {
      assert.ok(command.command === 'create' && actor === 'sync');
      asked.push(command.path);
      if (command.path === '/memories/no.md') throw new Deny('Not this one.');
      return command.path === tea ? { file_text: `${command.file_text}reviewed\n` } : undefined;
    },
    after: ({ path, outcome }) => told.push(`${path} ${outcome}`),
  });
  for (const path of [tea, '/memories/no.md', '/memories/yes.md']) {
    await laptop.write(path, 'green\n');
  }
  const { leftOut } = await laptop.sync(server);
  assert.deepEqual(
    leftOut.map(({ path, side, reason, details }) => ({ path, side, reason, details })),
    [{ path: '/memories/no.md', side: 'b', reason: 'refused', details: 'Not this one.' }],
  );
  assert.equal(await server.read(tea), 'green\nreviewed\n');
  assert.deepEqual(asked, ['/memories/no.md', tea, '/memories/yes.md']);
  assert.deepEqual(told, ['/memories/no.md denied', `${tea} ok`, '/memories/yes.md ok']);

  // Also those of the memory whose method it is.
  const third = new Memory('memory:');
  await third.write('/memories/third.md', 'third\n');
  asked.length = 0;
  await server.sync(third, { oneWay: true });
  assert.deepEqual(asked, []);
  await server.sync(third);
  assert.deepEqual(asked, ['/memories/third.md']);
});

test('hooks that return promises see the diff of a change', { skip }, async () => {
  const diffs: string[] = [];
  const told: string[] = [];
  const laptop = new Memory('memory:');
  const server: Memory = new Memory('memory:', {
    before: async (_, call) => {
      // Commands of a hook have no hooks.
      await server.view({ path: '/memories' });
      diffs.push(await call.diff());
    },
    after: async ({ path }) => {
      await new Promise(setImmediate);
      told.push(String(path));
    },
  });
  await laptop.write(tea, 'green\n');
  await laptop.sync(server);
  assert.deepEqual(diffs, [`--- /dev/null\n+++ ${tea}\n@@ -0,0 +1 @@\n+green\n`]);
  assert.deepEqual(told, [tea]);
});

test('a hook that fails ends the sync', async () => {
  const mine = new RangeError('mine');
  const server = new Memory('memory:', {
    before: () => {
      throw mine;
    },
  });
  const laptop = new Memory('memory:');
  await laptop.write(tea, 'green\n');
  await assert.rejects(laptop.sync(server), (error) => {
    assert.ok(error instanceof HookError, String(error));
    assert.match(error.message, /RangeError: mine/);
    assert.equal(error.cause, mine);
    return true;
  });
  assert.deepEqual(await server.list(), []);
});

test('a signal ends a sync whose hook waits', { skip }, async () => {
  const abort = new AbortController();
  const server = new Memory('memory:', {
    before: async () => {
      abort.abort();
      await new Promise(() => {});
    },
  });
  const laptop = new Memory('memory:');
  await laptop.write(tea, 'green\n');
  await fails('stopped', laptop.sync(server, { signal: abort.signal }));
  assert.deepEqual(await server.list(), []);
});
