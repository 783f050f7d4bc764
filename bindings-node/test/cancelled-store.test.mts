// A call that is cancelled while a store in JavaScript waits ends at once, with a true reply, and leaves nothing behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Memory, StoreError, check, memoryTool, openStore } from 'memdir';
import type { CallContext, CallOptions, Edit, MemoryOptions, Store } from 'memdir';

import { MapStore } from './stores.mjs';
import { EFFORT, run, runScript } from './support.mjs';

const path = '/memories/a';
const CANCELLED = 'Error: The command was cancelled before it began. Nothing was changed.';
const UNKNOWN =
  'Error: The memory directory cannot be reached at the moment. The change may or may not have been saved: view the path before trying again.';
const never = () => new Promise<never>(() => {});

/** A store in which one method stops answering after `silence`, and a promise that resolves when that method is called. */
class Silent extends MapStore {
  readonly asked: Promise<CallContext>;
  #tell: (call: CallContext) => void = () => {};
  #answer: () => void = () => {};

  constructor() {
    super();
    this.asked = new Promise((resolve) => (this.#tell = resolve));
  }

  /**
   * From now on the method answers only after `answer` is called. It does its work at the beginning, at the end, or never.
   */
  silence(method: keyof Store, when: 'first' | 'last' | 'never' = 'never'): void {
    const original = (this[method as keyof this] as (...given: unknown[]) => unknown).bind(this);
    const held = new Promise<void>((resolve) => (this.#answer = resolve));
    Object.assign(this, {
      [method]: async (...given: unknown[]) => {
        const done = when === 'first' ? original(...given) : undefined;
        this.#tell(given.at(-1) as CallContext);
        await held;
        return when === 'last' ? original(...given) : done;
      },
    });
  }

  answer(): void {
    this.#answer();
  }
}

const COMMANDS = {
  view: { command: 'view', path },
  list: { command: 'view', path: '/memories' },
  create: { command: 'create', path: '/memories/b', file_text: 'new' },
  insert: { command: 'insert', path, insert_line: 0, insert_text: 'new' },
  rename: { command: 'rename', old_path: path, new_path: '/memories/c' },
  delete: { command: 'delete', path },
} as const;

async function silent(options: MemoryOptions = {}): Promise<{ store: Silent; memory: Memory }> {
  const store = new Silent();
  const memory = new Memory(store, options);
  await memory.create({ path, file_text: 'old' });
  return { store, memory };
}

/** Aborts the call after it has reached the store. */
async function cancelled<T>(store: Silent, call: (options: CallOptions) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const called = call({ signal: controller.signal });
  const context = await store.asked;
  controller.abort();
  assert.ok([controller.signal.aborted, false].includes(context.signal.aborted));
  return called;
}

test('a call that is cancelled while a store is asked ends at once, and says what it knows', async () => {
  const expectations: [keyof Store, keyof typeof COMMANDS, string, string][] = [
    ['read', 'view', CANCELLED, 'ECANCELED'],
    ['list', 'list', CANCELLED, 'ECANCELED'],
    ['write', 'create', UNKNOWN, 'EIO'],
    // It received no new content.
    ['update', 'insert', CANCELLED, 'ECANCELED'],
    ['rename', 'rename', UNKNOWN, 'EIO'],
    ['delete', 'delete', UNKNOWN, 'EIO'],
  ];
  for (const [method, command, content, code] of expectations) {
    const { store, memory } = await silent();
    store.silence(method);
    const reply = await cancelled(store, (call) => memory.execute(COMMANDS[command], call));
    assert.equal(reply.content, content, method);
    assert.ok(reply.cause instanceof StoreError && reply.cause.code === code, method);
  }
});

test('an update that was given its new content may or may not be made', async () => {
  for (const isMade of [true, false]) {
    const { store, memory } = await silent();
    let edited: () => void = () => {};
    const isEdited = new Promise<void>((resolve) => (edited = resolve));
    const { update } = store;
    store.update = async (at: string, edit: Edit) => {
      const content = edit(store.read(at))!;
      edited();
      if (isMade) {
        update.call(store, at, () => content);
      }
      await never();
    };
    const controller = new AbortController();
    const called = memory.execute(COMMANDS.insert, { signal: controller.signal });
    await isEdited;
    controller.abort();
    assert.equal((await called).content, UNKNOWN);
    const is = Buffer.from(store.read(path)).toString();
    assert.equal(is, isMade ? 'new\nold' : 'old');
  }
});

test('what a store does late is not heard, and its edit is asked for nothing', async () => {
  const { store, memory } = await silent();
  let answered: unknown = 'nothing yet';
  const { update } = store;
  store.update = (at: string, edit: Edit) =>
    update.call(store, at, (content) => (answered = edit(content)) as Uint8Array | null);
  store.silence('update', 'last');
  const reply = await cancelled(store, (call) => memory.execute(COMMANDS.insert, call));
  assert.equal(reply.content, CANCELLED);
  store.answer();
  while (answered === 'nothing yet') {
    await new Promise(setImmediate);
  }
  assert.equal(answered, null);
  assert.equal(Buffer.from(store.read(path)).toString(), 'old');
});

test('a store that fails because of the signal is no failure', async () => {
  for (const [method, command, content] of [
    ['read', 'view', CANCELLED],
    ['update', 'insert', CANCELLED],
    ['write', 'create', UNKNOWN],
  ] as const) {
    const { store, memory } = await silent();
    const controller = new AbortController();
    Object.assign(store, {
      [method]: (...given: unknown[]) => {
        controller.abort(new RangeError('stopped'));
        (given.at(-1) as CallContext).signal.throwIfAborted();
      },
    });
    const { signal } = controller;
    assert.equal((await memory.execute(COMMANDS[command], { signal })).content, content, method);
  }
});

test('a store is told of the call that it works for', async () => {
  const told: Record<string, unknown> = {};
  const map = new MapStore();
  const telling = (['read', 'list', 'write', 'update', 'delete', 'rename'] as const).map(
    (method) => {
      const original = map[method] as (...given: unknown[]) => unknown;
      const tell = (...given: unknown[]) => {
        told[method] = given.at(-1);
        return original.apply(map, given);
      };
      return [method, tell];
    },
  );
  const memory = new Memory(Object.fromEntries(telling) as Store);
  const { signal } = new AbortController();
  for (const call of [{ signal }, {}]) {
    for (const command of ['create', 'list', 'view', 'insert', 'rename', 'delete'] as const) {
      await memory.execute(COMMANDS[command], call);
      await memory.execute({ ...COMMANDS.create, path }, call);
    }
    assert.deepEqual(Object.keys(told).length, 6);
    for (const context of Object.values(told)) {
      const { signal } = context as CallContext;
      assert.ok(call.signal ? signal === call.signal : !signal.aborted);
    }
    await memory.clear(call);
  }
});

test('what your own code asks ends with its signal, too', async () => {
  const calls: [keyof Store, (memory: Memory, call: CallOptions) => Promise<unknown>][] = [
    ['read', (memory, call) => memory.read(path, call)],
    ['read', (memory, call) => memory.readShown(path, call)],
    ['read', (memory, call) => memory.grep('old', call)],
    ['read', (memory, call) => memory.index(100, call)],
    ['read', (memory, call) => memory.findSensitive('/memories', call)],
    ['list', (memory, call) => memory.list('/memories', call)],
    ['list', (memory, call) => memory.exists(path, call)],
    ['list', (memory, call) => memory.stats(call)],
    ['list', (memory, call) => memory.clear(call)],
    ['list', (memory, call) => memory.expire(1, call)],
    ['list', (memory, call) => memory.erase(call)],
    ['write', (memory, call) => memory.write('/memories/b', 'new', call)],
    ['read', (memory, call) => memory.bootstrap({ about: 'tea', features: ['pots'] }, call)],
    ['list', (memory, call) => memory.history(null, call)],
    ['read', (memory, call) => memory.blame(path, call)],
    ['list', (memory, call) => memory.filesAt(new Date(), call)],
    ['list', (memory, call) => memory.readAt(path, new Date(), call)],
    ['list', (memory, call) => memory.exportHistory(call)],
    ['list', (memory, call) => memory.grepHistory('old', call)],
    ['list', (memory, call) => memory.restoreAll(new Date(0), call)],
    ['list', (memory, call) => memory.undo({ since: new Date(0) }, call)],
    ['list', (memory, call) => memory.redactText('old', 'a test', call)],
    ['list', (memory, call) => memory.trimHistory(call)],
    ['read', (memory, call) => memory.view({ path }, call)],
    ['read', (memory, call) => memoryTool(asStore(memory)).run(COMMANDS.view, call)],
  ];
  for (const [method, call] of calls) {
    const { store } = await silent({ history: true });
    const memory = new Memory(store, { history: true, recordAccess: true, historyMaxVersions: 1 });
    stores.set(memory, store);
    store.silence(method);
    await assert.rejects(
      cancelled(store, (options) => call(memory, options)),
      (error: Error & { code?: string }) => {
        const { code } = (error.name === 'ToolError' ? error.cause : error) as { code?: string };
        return code === 'ECANCELED' || /may or may not|ECANCELED|cancelled/.test(error.message);
      },
      `${call}`,
    );
  }
});

const stores = new WeakMap<Memory, Store>();
const asStore = (memory: Memory) => stores.get(memory)!;

test('a watch ends when it is closed, whatever its store does', async () => {
  for (const isBegun of [false, true]) {
    const { store, memory } = await silent();
    const controller = new AbortController();
    const watch = memory.watch({ signal: controller.signal, every: 1 });
    if (isBegun) {
      await watch.changes(0);
    }
    store.silence('list');
    const next = watch.next();
    const changes = watch.changes(60_000);
    await store.asked;
    controller.abort();
    assert.deepEqual(await next, { done: true, value: undefined });
    assert.deepEqual(await changes, []);
  }
});

test('calls that wait for a thread end as well', async () => {
  const { store, memory } = await silent();
  store.silence('read');
  const controllers = Array.from({ length: 150 }, () => new AbortController());
  const calls = controllers.map(({ signal }) => memory.execute(COMMANDS.view, { signal }));
  const typed = controllers.map(({ signal }) =>
    memory.read(path, { signal }).catch((error) => error),
  );
  await store.asked;
  // In reverse order, because no thread has taken the last calls yet.
  for (const [at, controller] of [...controllers.entries()].reverse()) {
    controller.abort();
    assert.equal((await calls[at])?.content, CANCELLED);
    assert.equal((await typed[at])?.code, 'ECANCELED');
  }
});

test('a call that is not cancelled keeps no other one waiting', async () => {
  for (const [options, method, first, second] of [
    [{ expireAfter: 60_000, recordAccess: true }, 'list', 'view', 'view'],
    [{ history: true }, 'list', 'history', 'history'],
    [{ history: true }, 'list', 'history', 'view'],
    [{ history: true }, 'update', 'insert', 'insert'],
  ] as const) {
    const { store } = await silent();
    const memory = new Memory(store, options);
    store.silence(method, 'last');
    const call = (name: typeof first, given?: CallOptions) =>
      name === 'history' ? memory.history(null, given) : memory.execute(COMMANDS[name], given);
    const ended = call(first);
    await store.asked;
    const controller = new AbortController();
    const called = call(second, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
    await called.catch((error) => assert.equal(error.code, 'ECANCELED'));
    store.answer();
    await ended;
  }
});

test('the history believes the files about a change that was given up', async () => {
  for (const [method, command, files] of [
    ['write', 'create', ['a', 'b']],
    ['delete', 'delete', []],
    ['rename', 'rename', ['c']],
  ] as const) {
    for (const when of ['first', 'last', 'never'] as const) {
      const { store, memory } = await silent({ history: true });
      if (method === 'write') {
        // The record of the change is written, but the file is not.
        const { write } = store;
        store.write = (at: string, content: Uint8Array, overwrite: boolean, call?: CallContext) => {
          if (at.endsWith('/b')) {
            store.write = write;
            store.silence('write', when);
            return (store as Store).write(at, content, overwrite, call);
          }
          return write.call(store, at, content, overwrite);
        };
      } else {
        store.silence(method, when);
      }
      const reply = await cancelled(store, (call) => memory.execute(COMMANDS[command], call));
      assert.equal(reply.content, UNKNOWN, `${method} ${when}`);
      store.answer();
      await new Promise(setImmediate);
      for (const other of [memory, new Memory(store, { history: true })]) {
        const found = await other.filesAt(new Date(Date.now() + 1000));
        const expected = when === 'never' ? ['a'] : files;
        const names = found.map((file) => file.path.slice('/memories/'.length));
        assert.deepEqual(names, expected, `${method} ${when}`);
      }
      assert.deepEqual((await check(store)).problems, []);
    }
  }
});

test('a change of several steps that has begun is made as a whole', async () => {
  const [above, beside] = [new Silent(), new MapStore()];
  const memory = new Memory({ '/memories': above, '/memories/team': beside });
  for (let n = 0; n < 5; n += 1) {
    await memory.create({ path: `/memories/team/notes/${n}`, file_text: `${n}` });
  }
  let writes = 0;
  const { write } = above;
  const controller = new AbortController();
  above.write = async (at, content, overwrite) => {
    writes += 1;
    if (writes === 2) {
      controller.abort();
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    write.call(above, at, content, overwrite);
  };
  const { content, isError } = await memory.execute(
    { command: 'rename', old_path: '/memories/team/notes', new_path: '/memories/notes' },
    { signal: controller.signal },
  );
  const files = (await memory.list('/memories', { depth: null })).filter(({ size }) => size);
  const paths = files.map((file) => file.path);
  const moved = (to: string) => Array.from({ length: 5 }, (_, n) => `/memories/${to}notes/${n}`);
  if (isError) {
    assert.match(String(content), /Nothing was changed/);
  }
  assert.deepEqual(paths, moved(isError ? 'team/' : ''));
});

test('a step of a move that a store makes after it was given up loses nothing', async () => {
  const [beside, team] = [new MapStore(), new Silent()];
  const memory = new Memory({ '/memories': beside, '/memories/team': team });
  await memory.create({ path: '/memories/team/a', file_text: 'old' });
  // The original is to get a hidden name.
  team.silence('rename', 'last');
  const move = { command: 'rename', old_path: '/memories/team/a', new_path: path } as const;
  const reply = await cancelled(team, (call) => memory.execute(move, call));
  assert.equal(reply.content, UNKNOWN);
  const read = async (at: string) => memory.read(at).catch(() => null);
  assert.deepEqual([await read(path), await read(move.old_path)], ['old', 'old']);
  team.answer();
  await new Promise(setImmediate);
  assert.deepEqual([await read(path), await read(move.old_path)], ['old', null]);
});

test('a process ends by itself when a store never answers', async () => {
  const ran = await runScript(`
    import { Memory } from 'memdir';
    import { MapStore } from './test/dist/stores.mjs';
    const store = new MapStore();
    const memory = new Memory(store);
    await memory.create({ path: '/memories/a', file_text: 'old' });
    const controller = new AbortController();
    // They are kept, as a store that waits for a server keeps them. The watch and both commands wait for one each.
    globalThis.kept = [];
    store.read = store.write = () =>
      new Promise((...settle) => {
        if (kept.push(settle) === 3) setImmediate(() => controller.abort());
      });
    const call = { signal: controller.signal };
    const watch = memory.watch(call);
    for (const { content } of await Promise.all([
      memory.execute({ command: 'view', path: '/memories/a' }, call),
      memory.execute({ command: 'create', path: '/memories/b', file_text: 'new' }, call),
    ])) console.log(content);
    await memory.read('/memories/a', call).catch(({ code }) => console.log(code));
    console.log(kept.length);
  `);
  const stdout = `${CANCELLED}\n${UNKNOWN}\nECANCELED\n3\n`;
  assert.deepEqual(ran, { status: 0, stdout, stderr: '' });
});

test("an own store's exception is the cause, the very object", async () => {
  const thrown: unknown[] = [
    Object.assign(new RangeError('db.internal'), { code: 'ECONNREFUSED', host: 'db.internal' }),
    new StoreError('EIO', 'db.internal'),
    'db.internal',
    42,
    null,
    Symbol('db.internal'),
    { message: 'db.internal' },
  ];
  for (const exception of thrown) {
    for (const fail of [
      () => {
        throw exception;
      },
      () => Promise.reject(exception),
    ]) {
      const store = Object.assign(new MapStore(), { read: fail, list: fail, write: fail }) as Store;
      for (const options of [{}, { history: true }, { encryptionKey: new Uint8Array(32) }]) {
        const place = 'encryptionKey' in options ? store : { '/memories': store };
        const memory = new Memory(place, options);
        const reply = await memory.execute(COMMANDS.view);
        assert.ok(reply.cause instanceof StoreError);
        assert.ok('cause' in reply.cause && reply.cause.cause === exception);
        assert.equal(reply.cause.code, 'EIO');
        await assert.rejects(memory.view({ path }), (error: Error) => {
          return (error.cause as Error).cause === exception;
        });
        await assert.rejects(memory.read(path), (error: Error) => {
          return error instanceof StoreError && 'cause' in error && error.cause === exception;
        });
        await assert.rejects(memory.watch().next(), (error: Error) => error.cause === exception);
      }
      await assert.rejects(new Memory(store, { history: true }).history(), (error: Error) => {
        return error instanceof StoreError && error.cause === exception;
      });
    }
  }
  const broken = await new Memory(
    Object.assign(new MapStore(), { read: () => 5 }) as never,
  ).execute(COMMANDS.view);
  assert.ok(broken.cause instanceof StoreError && broken.cause.cause instanceof TypeError);
});

test('the cause of a reply has the code of what happened', async () => {
  const store = openStore('memory:');
  const { cause } = await new Memory(store).execute(COMMANDS.view, { signal: AbortSignal.abort() });
  assert.ok(cause instanceof StoreError && cause.code === 'ECANCELED');
  const busy = Object.assign(new MapStore(), {
    read() {
      throw new StoreError('EAGAIN');
    },
  });
  const reply = await new Memory(busy).execute(COMMANDS.view);
  assert.ok(reply.cause instanceof StoreError && reply.cause.code === 'EAGAIN');
});

test('exceptions that are not looked at are collected', async () => {
  const ran = await runScript(
    `
    import { Memory } from 'memdir';
    import { MapStore } from './test/dist/stores.mjs';
    let collected = 0;
    const registry = new FinalizationRegistry(() => (collected += 1));
    const store = new MapStore();
    store.read = () => { const error = new Error('x'); registry.register(error, 1); throw error; };
    const memory = new Memory(store);
    for (let n = 0; n < 500; n += 1) await memory.execute({ command: 'view', path: '/memories/a' });
    for (let n = 0; n < 200 && collected < 490; n += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
    console.log(collected >= 490);
  `,
    '--expose-gc',
  );
  assert.deepEqual(ran, { status: 0, stdout: 'true\n', stderr: '' });
});

for (const history of [false, true]) {
  // With a history a call makes more requests to the store, and some of them may take several seconds.
  const calls = (history ? 100 : 500) * EFFORT;
  const what = history ? 'with a history' : 'without a history';
  test(`${calls} calls that are cancelled at random moments, ${what}`, async () => {
    const program = fileURLToPath(new URL('cancelled-at-random.mjs', import.meta.url));
    const seed = process.env['MEMDIR_SEED'] ?? '1';
    const args = ['--no-warnings', program, `${calls}`, seed, `${history}`];
    const ran = await run(process.execPath, args, { timeout: 590_000 });
    const context = `MEMDIR_SEED=${seed} ${ran.stderr} ${ran.stdout}`;
    assert.equal(ran.status, 0, context);
    const { tally, aborted, problems, isSame, unhandled } = JSON.parse(ran.stdout);
    assert.deepEqual([problems, isSame, unhandled], [[], true, []], context);
    const counts = [tally.changed, tally.unchanged, ...Object.values(aborted)] as number[];
    assert.ok(
      counts.every((count) => count > 0),
      context,
    );
    // With a history most requests of a call do not change files.
    assert.ok(history || tally.unknown > 0, context);
  });
}
