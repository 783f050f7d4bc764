// The engine, its options, and memdir's own stores.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory, openStore } from 'memdir';
import type { MemoryOptions } from 'memdir';

import { temporary } from './support.mjs';

const text = (content: Uint8Array) => Buffer.from(content).toString();

test('a command is an object or its JSON text', async () => {
  const memory = new Memory('memory:');
  const create = { command: 'create', path: '/memories/a.md', file_text: 'hé 🦀\n' };
  assert.deepEqual(await memory.execute(create), {
    content: 'File created successfully at: /memories/a.md',
    isError: false,
  });
  assert.deepEqual(await memory.execute('{"command":"view","path":"/memories/a.md"}'), {
    content: "Here's the content of /memories/a.md with line numbers:\n     1\thé 🦀",
    isError: false,
  });
  assert.deepEqual(await memory.execute({ command: 'view', path: '/etc/passwd' }), {
    content: 'Path must start with /memories, got: /etc/passwd',
    isError: true,
    kind: 'invalid',
  });
  const { content, isError } = await memory.execute('{"command":');
  assert.match(String(content), /^Error: The input is not valid JSON: /);
  assert.ok(isError);
});

test('there is a method for each command, which needs no name in its fields', async () => {
  const memory = new Memory('memory:');
  const path = '/memories/a';
  assert.equal(
    await memory.create({ path, file_text: 'one\nthree\n' }),
    'File created successfully at: /memories/a',
  );
  assert.equal(
    await memory.insert({ path, insert_line: 1, insert_text: 'two' }),
    'The file /memories/a has been edited.',
  );
  assert.match(await memory.str_replace({ path, old_str: 'one', new_str: '1' }), /\n {5}1\t1\n/);
  assert.match(
    String(await memory.view({ path, view_range: [2, -1] })),
    /:\n {5}2\ttwo\n {5}3\tthree$/,
  );
  assert.equal(
    await memory.rename({ old_path: path, new_path: '/memories/b' }),
    'Successfully renamed /memories/a to /memories/b',
  );
  assert.equal(await memory.delete({ path: '/memories/b' }), 'Successfully deleted /memories/b');
  await assert.rejects(memory.delete({ path }), {
    name: 'ToolError',
    message: 'Error: The path /memories/a does not exist',
    content: 'Error: The path /memories/a does not exist',
  });
});

test("a method's name counts, and not what the fields say", async () => {
  const memory = new Memory('memory:');
  const fields = { command: 'delete', path: '/memories' } as never;
  assert.match(String(await memory.view(fields)), /^Here're the files and directories/);
});

test('a directory is taken over as the SDK keeps it', async () => {
  const base = temporary();
  const memory = new Memory(base);
  await memory.create({ path: '/memories/notes/today.md', file_text: 'tea\n' });
  const file = join(base, 'memories', 'notes', 'today.md');
  assert.equal(readFileSync(file, 'utf8'), 'tea\n');
  writeFileSync(file, 'coffee\n');
  assert.match(String(await memory.view({ path: '/memories/notes/today.md' })), /\tcoffee$/);
});

test('the default is ./memory', async () => {
  const before = process.cwd();
  const base = temporary();
  process.chdir(base);
  try {
    await new Memory().create({ path: '/memories/a', file_text: 'a' });
  } finally {
    process.chdir(before);
  }
  assert.equal(readFileSync(join(base, 'memory', 'memories', 'a'), 'utf8'), 'a');
});

test('options have an effect', async () => {
  const path = '/memories/a';
  const short = new Memory('memory:', { maxViewChars: 80, maxFileBytes: 200 });
  await short.create({ path, file_text: 'line\n'.repeat(40) });
  assert.match(String(await short.view({ path })), /\[Lines 1 to \d+ of 40 are shown/);
  await assert.rejects(
    short.insert({ path, insert_line: 0, insert_text: 'x' }),
    /200 at most|200 bytes/,
  );

  const all = new Memory('memory:', { maxViewChars: null, maxFileBytes: null });
  await all.create({ path, file_text: 'line\n'.repeat(10_000) });
  assert.match(String(await all.view({ path })), /\n 10000\tline$/);

  const overwriting = new Memory('memory:', { onExisting: 'overwrite', durability: 'relaxed' });
  await overwriting.create({ path, file_text: 'one' });
  await overwriting.create({ path, file_text: 'two' });
  assert.match(String(await overwriting.view({ path })), /\ttwo$/);

  const plain = new Memory('memory:', { maxViewChars: undefined, onExisting: undefined });
  await plain.create({ path, file_text: 'line\n'.repeat(10_000) });
  assert.match(String(await plain.view({ path })), /are shown/);
});

test('a wrong option is told at once', () => {
  const cases: [unknown, RegExp][] = [
    [{ maxViewChars: -1 }, /^maxViewChars must be a whole number from 0 on, or null, got -1$/],
    [{ maxFileBytes: 1.5 }, /^maxFileBytes must be .* got 1\.5$/],
    [{ maxFileBytes: '5' }, /^maxFileBytes must be .* got "5"$/],
    [{ onExisting: 'replace' }, /^onExisting must be "error" or "overwrite", got "replace"$/],
    [{ durability: 1 }, /^durability must be "full" or "relaxed", got 1$/],
    [{ maxViewChar: 5 }, /^there is no option maxViewChar; did you mean maxViewChars\?$/],
    [5, /^options must be an object, got 5$/],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => new Memory('memory:', options as MemoryOptions), { message });
    assert.throws(() => openStore('memory:', options as MemoryOptions), { message });
  }
  // Inherited properties are not options.
  new Memory('memory:', Object.create({ nonsense: 1 }) as MemoryOptions);
});

test('a wrong address is told at once, without its secrets', () => {
  assert.throws(
    () => new Memory('redis://user:hunter2@host/0'),
    (error: Error) => error.message.includes('"redis:"') && !error.message.includes('hunter2'),
  );
  assert.throws(() => new Memory(''), /the store address is empty/);
  assert.throws(() => new Memory(5 as never), /store must be an address such as/);
  assert.throws(() => new Memory(null as never), /store must be an address such as/);
  assert.throws(() => new Memory({ read() {} } as never), {
    name: 'ConfigError',
    message: /lacks list, write, update, delete, rename/,
  });
  assert.throws(() => new Memory({} as never), { name: 'ConfigError', message: /it lacks read/ });
  assert.throws(() => new Memory({ x: 'memory:' } as never), {
    name: 'ConfigError',
    message: /"x"/,
  });
});

test('a store that is opened once can be shared, and written to directly', async () => {
  const store = openStore(temporary());
  const [one, two] = [new Memory(store), new Memory(store, { maxViewChars: 100 })];
  await one.create({ path: '/memories/a', file_text: 'a\n' });
  assert.match(String(await two.view({ path: '/memories/a' })), /\ta$/);

  await store.write('/memories/d/b', Buffer.from('b'), false);
  await assert.rejects(async () => store.write('/memories/d/b', Buffer.from('c'), false), {
    code: 'EEXIST',
  });
  await store.write('/memories/d/b', Buffer.from('c'), true);
  assert.equal(text(await store.read('/memories/d/b')), 'c');
  assert.deepEqual(
    (await store.list('/memories'))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ modified: _, ...entry }) => entry),
    [{ path: '/memories/a', size: 2 }, { path: '/memories/d' }],
  );
  await store.update('/memories/a', (content) => Buffer.concat([content, Buffer.from('more')]));
  assert.equal(text(await store.read('/memories/a')), 'a\nmore');
  await store.update('/memories/a', () => null);
  await store.update('/memories/a', () => undefined);
  assert.equal(text(await store.read('/memories/a')), 'a\nmore');
  await store.rename('/memories/d', '/memories/e');
  await store.delete('/memories/e');
  await assert.rejects(async () => store.delete('/memories/e'), { code: 'ENOENT' });
  await assert.rejects(async () => store.read('/memories'), { code: 'EISDIR' });
  await assert.rejects(async () => store.read('/memories/../etc'), /would escape/);
});

test('what an edit throws reaches the caller, and nothing is changed', async () => {
  const store = openStore('memory:');
  await store.write('/memories/a', Buffer.from('a'), false);
  const thrown = new RangeError('mine');
  await assert.rejects(
    async () =>
      store.update('/memories/a', () => {
        throw thrown;
      }),
    (error) => error === thrown,
  );
  assert.equal(text(await store.read('/memories/a')), 'a');
});

test('64 edits of one file in one turn: all are there', async () => {
  const memory = new Memory(temporary());
  const path = '/memories/list.md';
  await memory.create({ path, file_text: '' });
  const edits = Array.from({ length: 64 }, (_, n) =>
    memory.execute({ command: 'insert', path, insert_line: 0, insert_text: `entry ${n}` }),
  );
  for (const { content, isError } of await Promise.all(edits)) {
    assert.ok(!isError, String(content));
  }
  const view = await memory.view({ path });
  for (let n = 0; n < 64; n += 1) {
    assert.match(String(view), new RegExp(`\\tentry ${n}$`, 'm'));
  }
});
