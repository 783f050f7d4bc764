// Stores written in JavaScript.

import assert, { AssertionError } from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory, StoreError, openStore } from 'memdir';
import type { Edit, Entry, Store } from 'memdir';
import { checkContract } from 'memdir/testing';

import {
  FileStore,
  FoldingStore,
  MapStore,
  OpeningStore,
  smallestStore,
  tableStore,
} from './stores.mjs';
import { temporary } from './support.mjs';

const VIEW = { command: 'view', path: '/memories' };
const OUT_OF_REACH =
  'Error: The memory directory cannot be reached at the moment. Try again later.';

test('stores in JavaScript keep the contract of a store', async () => {
  await checkContract(() => new MapStore());
  await checkContract(() => new OpeningStore());
  await checkContract(() => FileStore.at(temporary()));
  await checkContract(tableStore);
  await checkContract(smallestStore);
});

test('a store of the core keeps it too when JavaScript hands it on', async () => {
  await checkContract(() => openStore('memory:'));
});

test('the contract notices a store that does not keep it', async () => {
  class Overwriting extends MapStore {
    override write(path: string, content: Uint8Array): void {
      super.write(path, content, true);
    }
  }
  await assert.rejects(
    checkContract(() => new Overwriting()),
    (error) =>
      error instanceof AssertionError &&
      /breaks the rule "creation is exclusive/.test(error.message),
  );
  class Forgetful extends MapStore {
    override setModified(): void {}
    modified(): number {
      return Math.random() * 1_000_000;
    }
  }
  await assert.rejects(
    checkContract(() => new Forgetful()),
    /the rule "a time that is set stays/,
  );
});

test('the check says when there is no store', async () => {
  await assert.rejects(
    checkContract(() => Promise.reject(new Error('none today'))),
    /none today/,
  );
  await assert.rejects(
    checkContract(() => ({ read() {} }) as unknown as Store),
    /it lacks list, write, update, delete, rename/,
  );
});

test('times are exact, and older than any computer', async () => {
  const store = openStore('memory:');
  const path = '/memories/a';
  await store.write(path, Buffer.from('a'), false);
  assert.ok(Math.abs(((await store.modified?.(path)) ?? 0) - Date.now()) < 3_600_000);
  for (const time of [1_779_006_600_123.456, 0, -3_163_428_599_999.999]) {
    await store.setModified?.(path, time);
    assert.equal(await store.modified?.(path), time);
    assert.deepEqual(await store.list('/memories'), [{ path, size: 1, modified: time }]);
  }
  for (const time of [NaN, Infinity]) {
    await assert.rejects(
      async () => store.setModified?.(path, time),
      /^ConfigError: time must be a number/,
    );
  }
  await assert.rejects(async () => store.modified?.('/memories'), { code: 'EISDIR' });
  await assert.rejects(async () => store.setModified?.('/memories/b', 0), { code: 'ENOENT' });
});

test('the native store class is what the package says a store is', () => {
  const store: Store = openStore('memory:');
  for (const method of ['read', 'list', 'write', 'update', 'delete', 'rename'] as const) {
    assert.equal(typeof store[method], 'function');
  }
});

test('a store that ignores case says so', async () => {
  await checkContract(() => new FoldingStore());
  const store = new FoldingStore();
  store.write('/memories/Handbook/rules.md', Buffer.from('one\n'), false);
  const path = '/memories/HANDBOOK/Rules.md';
  const edit = { command: 'insert', path, insert_line: 0, insert_text: 'two' };
  for (const place of [store, { '/memories': store }]) {
    const memory = new Memory(place, { readOnlyPaths: ['/memories/handbook'] });
    const { content, isError } = await memory.execute(edit);
    assert.ok(isError);
    assert.match(String(content), /is read-only/);
  }
  assert.equal(String(store.read(path)), 'one\n');
  assert.equal(openStore('memory:').foldsCase, false);
  assert.equal((new MapStore() as Store).foldsCase, undefined);

  const wrong = Object.assign(new MapStore(), { foldsCase: () => true });
  assert.throws(() => new Memory(wrong as unknown as Store), {
    name: 'ConfigError',
    message: /^foldsCase of a store must be true or false, got/,
  });
});

for (const [kind, make] of [
  ['that answers at once', async () => new MapStore()],
  ['that reads and writes files with node:fs', async () => FileStore.at(temporary())],
] as [string, () => Promise<Store>][]) {
  test(`64 edits in one turn on a store ${kind}: all are there`, async () => {
    const memory = new Memory(await make());
    const path = '/memories/list.md';
    await memory.create({ path, file_text: '' });
    const edits = Array.from({ length: 64 }, (_, n) =>
      memory.execute({ command: 'insert', path, insert_line: 0, insert_text: `entry ${n}` }),
    );
    // Keeps libuv's four threads busy.
    const aside = join(temporary(), 'aside');
    const busy = Array.from({ length: 32 }, async () => {
      await writeFile(aside, 'x'.repeat(100_000));
      await readFile(aside);
    });
    for (const { content, isError } of await Promise.all(edits)) {
      assert.ok(!isError, String(content));
    }
    await Promise.all(busy);
    const view = await memory.view({ path });
    for (let n = 0; n < 64; n += 1) {
      assert.match(String(view), new RegExp(`\\tentry ${n}$`, 'm'));
    }
  });
}

test('more calls in one turn than there are threads', async () => {
  const memory = new Memory(await FileStore.at(temporary()));
  const replies = await Promise.all(
    Array.from({ length: 500 }, (_, n) =>
      memory.execute({ command: 'create', path: `/memories/${n}`, file_text: `${n}` }),
    ),
  );
  assert.ok(replies.every(({ isError }) => !isError));
  assert.equal(String(await memory.view({ path: '/memories' })).split('\n').length, 502);
});

test('a memory may be kept in another memory, also by many calls at once', async () => {
  // Every call of the outer memory waits for a call of the inner one.
  const inner = new Memory(await FileStore.at(temporary()));
  const store = new MapStore();
  const nested: Store = {
    read: async (path) => (await inner.execute(VIEW)) && store.read(path),
    list: (path) => store.list(path),
    write: (path, content, overwrite) => store.write(path, content, overwrite),
    update: (path, edit) => store.update(path, edit),
    delete: (path) => store.delete(path),
    rename: (from, to) => store.rename(from, to),
  };
  const outer = new Memory(nested);
  const replies = await Promise.all(Array.from({ length: 200 }, () => outer.execute(VIEW)));
  assert.ok(replies.every(({ isError }) => !isError));
});

test('a store is asked through its own open if it has one', async () => {
  const store = new OpeningStore();
  const memory = new Memory(store);
  await memory.create({ path: '/memories/a/b', file_text: 'b' });
  assert.match(String((await memory.execute(VIEW)).content), /\/memories\/a\/b$/);
  assert.ok(store.opened > 0);
});

test('documented conditions go by the codes of node:fs', async () => {
  const path = '/memories/a';
  const expectations: [string, string, string][] = [
    ['ENOENT', `Error: The path ${path} does not exist`, 'not_found'],
    [
      'EACCES',
      `Error: Permission denied: the memory store does not allow this for ${path}`,
      'permission_denied',
    ],
    [
      'EPERM',
      `Error: Permission denied: the memory store does not allow this for ${path}`,
      'permission_denied',
    ],
    ['EROFS', `Error: ${path} is read-only: it can be viewed but not changed`, 'read_only'],
    ['ENAMETOOLONG', `Error: The path ${path} is too long for this memory store`, 'invalid'],
  ];
  for (const [code, content, kind] of expectations) {
    const failing = Object.assign(new MapStore(), {
      delete() {
        throw Object.assign(new Error('host detail'), { code });
      },
    });
    assert.deepEqual(await new Memory(failing).execute({ command: 'delete', path }), {
      content,
      isError: true,
      kind,
    });
  }
});

test('a store that is broken is out of reach, and its developer learns why', async () => {
  const failures: [() => unknown, RegExp][] = [
    [
      () => {
        throw new Error('connection to db.internal refused');
      },
      /db\.internal/,
    ],
    [() => Promise.reject(new Error('connection to db.internal refused')), /db\.internal/],
    [
      () => {
        throw new StoreError('EIO', 'db.internal');
      },
      /db\.internal/,
    ],
    [
      () => {
        throw Object.assign(new Error('db.internal'), { code: 42 });
      },
      /db\.internal/,
    ],
    [
      () => {
        throw 'db.internal';
      },
      /db\.internal/,
    ],
    [
      () => {
        throw undefined;
      },
      /undefined/,
    ],
    [
      () => {
        throw null;
      },
      /null/,
    ],
    [
      () => {
        throw Object.create(null);
      },
      /./,
    ],
    [
      () => {
        throw {
          get message() {
            throw new Error('again');
          },
        };
      },
      /./,
    ],
    [() => Promise.reject(Symbol('db.internal')), /db\.internal/],
    [() => undefined, /returned undefined and not a Uint8Array/],
    [() => null, /./],
    [() => 'text', /./],
    [() => 5, /./],
    [() => ({}), /./],
    [() => [], /returned \[\] and not a Uint8Array/],
    [() => [{ path: 5 }], /./],
    [() => new Uint16Array(2), /./],
  ];
  for (const [read, cause] of failures) {
    const memory = new Memory(Object.assign(new MapStore(), { read }) as Store);
    const reply = await memory.execute({ command: 'view', path: '/memories/a' });
    assert.equal(reply.content, OUT_OF_REACH, `${read}`);
    assert.ok(reply.isError);
    assert.ok(reply.cause instanceof StoreError);
    assert.equal(reply.cause.code, 'EIO');
    assert.match(reply.cause.message, cause, `${read}`);
    await assert.rejects(
      memory.view({ path: '/memories/a' }),
      (error: Error & { content: string }) => {
        assert.equal(error.content, OUT_OF_REACH);
        assert.ok(error.cause instanceof StoreError);
        return true;
      },
    );
  }
});

test('what a store lists that no command could name is left out', async () => {
  const list = (): Entry[] => [
    { path: '/memories/fine', size: 1 },
    { path: '/memories/two\nlines', size: 1 },
    { path: '/memories/back\\slash', size: 1 },
  ];
  const memory = new Memory(Object.assign(new MapStore(), { list }));
  assert.match(
    String((await memory.execute(VIEW)).content),
    /:\n4\.0K\t\/memories\n1B\t\/memories\/fine$/,
  );
});

test('a listing with a wrong entry is a broken store', async () => {
  const path = '/memories/a';
  const cases: [unknown, RegExp][] = [
    ['abc', /returned 'abc' and not an array of entries/],
    [null, /returned null and not an array of entries/],
    [[null], /the entry null, which has no path/],
    [[{ path: 5 }], /which has no path/],
    [[{ path: '/elsewhere' }], /'\/elsewhere', which is not an entry of \/memories/],
    [[{ path: '/memories' }], /is not an entry of \/memories/],
    [[{ path: '/memoriesa' }], /is not an entry of \/memories/],
    [[{ path: '/memories/a/b' }], /is not an entry of \/memories/],
    [[{ path: '/memories/../x' }], /is not an entry of \/memories/],
    [[{ path, size: -1 }], /the size of \/memories\/a must be a whole number from 0 on/],
    [[{ path, size: 1.5 }], /got 1\.5/],
    [[{ path, size: 2 ** 53 }], /got 9007199254740992/],
    [[{ path, size: '5' }], /got '5'/],
    [[{ path, size: 1, modified: 'x' }], /modified of \/memories\/a must be a number/],
    [[{ path, size: 1, accessed: NaN }], /accessed of \/memories\/a must be a number/],
  ];
  for (const [returned, cause] of cases) {
    const store = Object.assign(new MapStore(), { list: () => returned }) as Store;
    const reply = await new Memory(store).execute(VIEW);
    assert.equal(reply.kind, 'unavailable', String(cause));
    assert.match(String(reply.cause?.message), cause);
  }
  for (const size of [0, 2 ** 53 - 1, undefined]) {
    const list = (at: string) => (at === '/memories' ? [{ path, size }] : []);
    const store = Object.assign(new MapStore(), { list }) as Store;
    assert.equal((await new Memory(store).execute(VIEW)).isError, false, String(size));
  }
});

test('a code of what a store uses is no condition', async () => {
  const create = { command: 'create', path: '/memories/a', file_text: 'x' };
  for (const code of ['EAGAIN', 'EBUSY', 'ECANCELED', 'ELOOP', 'ENXIO', 'EINVAL']) {
    const thrown = Object.assign(new Error('of a socket'), { code });
    class Failing extends MapStore {
      override write(...given: Parameters<MapStore['write']>): void {
        super.write(...given);
        throw thrown;
      }
    }
    const reply = await new Memory(new Failing()).execute(create);
    assert.equal(reply.kind, 'outcome_unknown', code);
    assert.equal(reply.cause?.cause, thrown);
  }
  // A store of memdir's, which this store is built on, was busy.
  const busy = () => {
    throw new StoreError('EAGAIN');
  };
  const reply = await new Memory(Object.assign(new MapStore(), { write: busy })).execute(create);
  assert.equal(reply.kind, 'busy');
});

test('a wrong argument of an opened store is a ConfigError that names it', async () => {
  const store = openStore('memory:') as unknown as Record<
    string,
    (...given: unknown[]) => Promise<unknown>
  >;
  const path = '/memories/a';
  const cases: [string, unknown[], RegExp][] = [
    ['read', [], /^path must be a string, got undefined$/],
    ['read', [5], /^path must be a string, got 5$/],
    ['list', [null], /^path must be a string, got null$/],
    ['write', [path, Buffer.from('x')], /^overwrite must be true or false, got undefined$/],
    ['write', [path, 'x', false], /^content must be a Uint8Array, got "x"$/],
    ['write', [path, new Uint16Array(2), false], /^content must be a Uint8Array, got /],
    ['update', [path], /^edit must be a function, got undefined$/],
    ['delete', [{}], /^path must be a string, got /],
    ['rename', [path], /^to must be a string, got undefined$/],
    ['modified', [5], /^path must be a string, got 5$/],
    ['setModified', [path, 'x'], /^time must be a number of milliseconds since 1970, got "x"$/],
    ['recordAccess', [path, NaN], /^time must be a number of milliseconds since 1970, got NaN$/],
    ['deleteUnused', [path], /^since must be a number of milliseconds since 1970, got /],
  ];
  for (const [method, given, message] of cases) {
    await assert.rejects(async () => store[method]?.(...given), { name: 'ConfigError', message });
  }
});

test('edit serves an update and nothing after it', async () => {
  let kept: Edit | undefined;
  class Keeping extends MapStore {
    override update(path: string, edit: Edit): void {
      kept = edit;
      super.update(path, edit);
    }
  }
  const memory = new Memory(new Keeping());
  const path = '/memories/a';
  await memory.create({ path, file_text: 'a' });
  await memory.insert({ path, insert_line: 1, insert_text: 'b' });
  assert.throws(() => kept?.(Buffer.from('a')), /edit was called after the update had ended/);
  assert.match(String(await memory.view({ path })), /1\ta\n {5}2\tb$/);
});

test('a store may ask again when another writer was faster', async () => {
  let tries = 0;
  class Conflicting extends MapStore {
    override update(path: string, edit: Edit): void {
      const before = this.read(path);
      assert.equal(Buffer.from(edit(before) ?? []).toString(), 'new\nold\n');
      tries += 1;
      super.write(path, Buffer.concat([before, Buffer.from('theirs\n')]), true);
      super.update(path, edit);
    }
  }
  const memory = new Memory(new Conflicting());
  const path = '/memories/a';
  await memory.create({ path, file_text: 'old\n' });
  await memory.insert({ path, insert_line: 0, insert_text: 'new' });
  assert.equal(tries, 1);
  assert.match(String(await memory.view({ path })), /1\tnew\n {5}2\told\n {5}3\ttheirs$/);
});

test('an update that never calls edit is not taken for one that did', async () => {
  const memory = new Memory(Object.assign(new MapStore(), { update() {} }));
  const path = '/memories/a';
  await memory.create({ path, file_text: 'a' });
  const reply = await memory.execute({ command: 'insert', path, insert_line: 0, insert_text: 'b' });
  assert.ok(reply.isError, String(reply.content));
});
