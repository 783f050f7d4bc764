// memdir as WebAssembly. `make test-wasm` runs this with MEMDIR_WASM=1, together with the conformance cases and the test
// files that use only the store in the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize } from 'node:v8';

import Anthropic from '@anthropic-ai/sdk';
import { ConfigError, Memory, StoreError, memoryTool, openStore, readOnly } from 'memdir';
import type { Store } from 'memdir';
import { checkContract } from 'memdir/testing';

import { allResults } from './all-results.mjs';
import { project } from './consumer.mjs';
import { MapStore, tableStore } from './stores.mjs';
import { PACKAGE, run, runScript } from './support.mjs';

const skip = process.env['MEMDIR_WASM'] === '1' ? false : 'it is what make test-wasm runs';
const path = '/memories/a.txt';

/** Prints the results of many calls, without times. */
const CALLS = `
  import { Memory, copy, check, openStore, readOnly } from 'memdir';
  const said = [];
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNgQAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC', 'base64');
  const plain = (key, value) =>
    ['modified', 'accessed', 'duration', 'lastUsed', 'session', 'time'].includes(key) ? typeof value
    : typeof value === 'bigint' ? String(value) : value;
  async function say(name, work) {
    try {
      said.push([name, JSON.stringify(await work(), plain)]);
    } catch (error) {
      const { constructor, message, code, option, content, paths } = error;
      // napi-rs gives errors without a class of ours a code of its own.
      said.push([name, constructor.name, message, code === 'GenericFailure' ? undefined : code, option, content, paths]);
    }
  }
  const path = '/memories/a.txt';
  const events = [];
  const store = openStore('memory:');
  const memory = new Memory(store, { eventContent: true, after: (event) => { events.push(event); } });
  const inputs = [
    { command: 'create', path, file_text: 'a\\0b\\nc\\u2028\\r\\n\u{1F600}' },
    { command: 'view', path },
    { command: 'create', path: '/memories/half', file_text: 'x\\ud800y' },
    { command: 'create', path: '/memories/half\\udc00', file_text: 'x' },
    { command: 'str_replace', path, old_str: '\\0', new_str: '\\ud800\\udc00' },
    { command: 'insert', path, insert_line: 2.0, new_str: 'aliased' },
    { command: 'insert', path, insert_line: '1', insert_text: '' },
    { command: 'view', path, view_range: [1, -1] },
    ...[[1, 2n], [1.5, 2], [NaN, Infinity], [2 ** 53 + 2, 1], [1e300, -0], new Array(200), [[[[[[1]]]]]]]
      .map((view_range) => ({ command: 'view', path, view_range })),
    ...[undefined, null, true, 5, () => {}, Symbol('s'), {}, new Date(0), [path], 10n ** 30n]
      .map((path) => ({ command: 'view', path })),
    { command: 'create', path: '/memories/large.txt', file_text: 'line of text\\n'.repeat(80_660) },
    { command: 'view', path: '/memories/large.txt', view_range: [80_650, 80_660] },
    { command: 'rename', old_path: path, new_path: '/memories/b/c/d.txt' },
    { command: 'delete', path: '/memories' },
    { command: 5 }, { command: 'nothing' }, {}, [], 'text', '{"command": "view", "path": "/memories"}', '\\ud800', 7, null, undefined,
    Object.create({ command: 'view', path }), { type: 'tool_use', input: { command: 'view', path: '/memories' } },
  ];
  for (const [at, input] of inputs.entries()) {
    await say('input ' + at, () => memory.execute(input));
  }
  await say('throwing', () => memory.execute({ command: 'view', get path() { throw new RangeError('mine'); } }));
  await store.write('/memories/a.png', png, false);
  await say('image', () => memory.view({ path: '/memories/a.png' }));
  await say('method', () => memory.create({ path, file_text: 'one' }));
  await say('again', () => memory.create({ path, file_text: 'one' }));
  for (const [method, ...given] of [
    ['read', path], ['read', '/memories/none'], ['read', 5], ['read', '/etc/passwd'], ['read', '\\ud800'],
    ['write', path, 'two\\0'], ['write', path, 'three', { ifUnchanged: 'one' }], ['write', path, 'three', { ifUnchanged: 'two\\0' }],
    ['write', path, '\\ud800'], ['exists', path], ['exists', '/memories/none'],
    ['list'], ['list', '/memories', { depth: null }], ['list', '/memories', { depth: -1 }], ['list', '/memories', { depth: 2 ** 60 }],
    ['grep', 'TEXT', { ignoreCase: true, limit: 3 }], ['grep', '^thr', { regex: true }], ['grep', '(', { regex: true }],
    ['grep', 'x', { limit: 1.5 }], ['search', 'tea'], ['search', 5],
    ['findSensitive'], ['findSensitive', '/memories/none'], ['findSensitive', 5],
    ['findSensitive', '/memories', { limit: -1 }], ['stats'], ['readShown', path], ['readShown', 5],
    ['resolveId', 'tea'], ['resolveId', 5], ['exportHistory'], ['grepHistory', 'x'], ['grepHistory', '(', { regex: true }],
    ['filesAt', new Date()], ['filesAt', 5], ['readAt', path, new Date(NaN)], ['blame', path], ['blame', 5], ['index'], ['index', 40], ['index', 'many'],
    ['bootstrap', { about: 'tea', features: ['a', 'b'], init: 'make' }], ['bootstrap', { about: 'tea', features: 5 }],
    ['toolDefinition'], ['toolDefinition', 'openai'], ['toolDefinition', 'none'], ['toolDefinitions', 'gemini', 'm_'],
    ['toolDefinitions', 'openai', 'not a name'], ['forgetViews'], ['expire', 0, { dryRun: true }], ['expire', -1], ['clear'],
  ]) {
    await say(method + ' ' + given.length, () => memory[method](...given));
  }
  await say('watch', async () => {
    const watch = memory.watch({ path: '/memories/w' });
    const before = await watch.changes(0);
    await memory.write('/memories/w/a', 'one');
    return [before, await watch.changes(0), await watch.changes(1)];
  });
  for (const options of [{ path: 5 }, { path: 'none' }, { every: -1 }, { every: NaN }]) {
    await say('no watch', () => memory.watch(options).changes(0));
  }
  const sum = new AbortController();
  sum.abort();
  await say('cancelled', () => memory.execute({ command: 'create', path, file_text: '' }, { signal: sum.signal }));
  await say('cancelled read', () => memory.read('/memories', { signal: sum.signal }));
  for (const options of [
    { maxFiles: -1 }, { maxFiles: '5' }, { maxViewChars: 2 ** 53 - 1 }, { nothing: 1 }, 5, 'text', [], [1], { staleGuard: 'maybe' },
    { expireAfter: -1 }, { expireAfter: NaN }, { lockTimeout: 1.5 }, { namespace: 'x' }, { readOnlyPaths: ['a', 5] },
    { writablePaths: null }, { sensitiveRules: { id: 5 } }, { sensitiveRules: { id: '(' } }, { sensitiveRules: [] },
    { encryptionKey: 5 }, { encryptionKey: 'short' }, { encryptionKey: '\\ud800' }, { encryptionKey: new Uint8Array(3) },
    { encryptionKey: new Uint8Array(32), encryptNames: true }, { maxImageBytes: null }, { readOnly: 1 }, { before: 5 },
  ]) {
    await say('options', async () => {
      const memory = new Memory('memory:', options);
      return [await memory.execute({ command: 'create', path, file_text: 'x' }), await memory.execute({ command: 'view', path })];
    });
  }
  await say('hooks', async () => {
    const seen = [];
    const hooked = new Memory('memory:', {
      before(command) { seen.push(command); if (command.path.endsWith('b')) { throw new Error('no'); } return { file_text: 'hook\\0' }; },
      after(event) { seen.push(event); },
    });
    seen.push(await hooked.execute({ command: 'create', path, file_text: 'x' }));
    seen.push(await hooked.execute({ command: 'create', path: '/memories/b', file_text: 'x' }));
    return [seen, await hooked.read(path)];
  });
  const other = openStore('memory:');
  const at = 1_700_000_000_123.456;
  for (const [method, ...given] of [
    ['write', path, new Uint8Array([0, 255, 128]), false], ['write', path, new Uint8Array(), false], ['read', path], ['read', 'none'],
    ['setModified', path, at], ['recordAccess', path, NaN], ['list', '/memories'], ['list', path], ['delete', '/memories/none'],
    ['read'], ['list', null], ['write', path, 'x', false], ['write', path, new Uint8Array(1)], ['update', path], ['rename', path],
    ['modified', 5], ['setModified', path, 'x'], ['deleteUnused', path], ['deleteUnused', path, 5], ['rename', path, path], ['update', path, () => null], ['update', path, (old) => Buffer.concat([old, old])],
    ['update', path, () => { throw new RangeError('mine'); }], ['read', path],
  ]) {
    await say('store ' + method, () => other[method](...given));
  }
  await say('time', async () => (await other.modified(path)) > at);
  await say('copy', () => copy(store, other, { onProgress: (at) => { said.push(at); } }));
  await store.write(path, png, true);
  await say('copy refused', () => copy(store, other));
  await say('copy stopped', () => copy(store, openStore('memory:'), { onProgress: () => { throw new RangeError('mine'); } }));
  await say('sync', async () => {
    const [one, two] = [new Memory('memory:'), new Memory('memory:')];
    await one.write(path, 'one\\ntwo\\nthree\\n');
    const result = [await one.sync(two)];
    await one.write(path, 'ONE\\ntwo\\nthree\\n');
    await two.write(path, 'one\\ntwo\\nTHREE\\n');
    result.push(await two.sync(one, { dryRun: true }), await two.sync(one, { onProgress: (at) => { said.push(at); } }), await one.read(path));
    for (const options of [{ onConflict: 'c' }, { oneWay: 5 }, { exclude: [5] }, { exclude: ['x'] }, { names: ['x'] }, { maxFileBytes: -1 }, { exclude: '\\ud800' }, { exclude: ['\\ud800'] }]) {
      await say('sync options', () => one.sync(two, options));
    }
    await one.delete({ path });
    await say('sync refused', () => one.sync(two));
    await say('sync overlapping', () => one.sync(one.actingAs('Ann')));
    await say('sync cancelled', () => one.sync(two, { signal: sum.signal }));
    await say('sync read-only', () => one.sync(readOnly(openStore('memory:'))));
    await say('sync stopped', () => one.sync(new Memory(store), { onProgress: () => false }));
    await say('sync threw', () => one.sync(new Memory(store), { onProgress: () => { throw new RangeError('mine'); } }));
    await say('sync with a number', () => one.sync(5));
    return result;
  });
  await say('check', () => check(other));
  await say('mounts', async () => {
    const tree = new Memory({ '/memories': store, '/memories/other': other, '/memories/new': 'memory:' });
    return [await tree.execute({ command: 'view', path: '/memories' }),
      await tree.execute({ command: 'create', path: '/memories/new/x', file_text: 'x' })];
  });
  await say('no mount', () => new Memory({ '/memories/other': other }));
  said.push(JSON.stringify(events, plain));
  for (const line of said) { console.log(JSON.stringify(line)); }
`;

test('every call comes to what it comes to with the binary', { skip }, async () => {
  const wasm = await runScript(CALLS);
  assert.equal(wasm.status, 0, wasm.stderr);
  const native = await run(process.execPath, ['--input-type=module', '--eval', CALLS], {
    cwd: new URL('.', PACKAGE).pathname,
    env: { ...process.env, MEMDIR_WASM: '' },
  });
  assert.equal(native.status, 0, native.stderr);
  const [here, there] = [wasm, native].map(({ stdout }) => stdout.split('\n'));
  assert.ok(here!.length > 120);
  here!.forEach((line, at) => assert.equal(line, there![at]));
  assert.equal(here!.length, there!.length);
});

const IDS = ['id', 'change', 'partnerVersion', 'session', 'version'];

/** Results without the values that differ between calls: ids, times, durations. */
function comparable(value: unknown, name?: string): unknown {
  if (value instanceof Date) {
    return 'a date';
  }
  if (name === 'duration') {
    return typeof value;
  }
  if (typeof value === 'string') {
    // The name of a conflict copy has a time.
    const same = value.replace(/(conflict from \w+) .*\)/, '$1 …)');
    return IDS.includes(name ?? '') ? 'an id' : same;
  }
  if (Array.isArray(value)) {
    return value.map((item) => comparable(item));
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).map(([key, field]) => [key, comparable(field, key)])
    : value;
}

test('results are deeply equal to those of the binary', { skip }, async () => {
  const script = `
    import { serialize } from 'node:v8';
    import { allResults } from './all-results.mjs';
    process.stdout.write(serialize(await allResults()).toString('base64'));
  `;
  const native = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('.', import.meta.url).pathname,
    env: { ...process.env, MEMDIR_WASM: '' },
  });
  assert.equal(native.status, 0, native.stderr);
  const there: unknown = deserialize(Buffer.from(native.stdout, 'base64'));
  assert.deepEqual(comparable(await allResults()), comparable(there));
});

test('other addresses are refused with the reason', { skip }, () => {
  const directory = /runs as WebAssembly here, .* a directory needs a file system: use "memory:"/;
  for (const [address, said] of [
    ['./memory', directory],
    ['dir:./notes', directory],
    ['C:\\memory', directory],
    ['sqlite:agent.db', /SQLite needs a file system/],
    ['postgres://user:secret@host/db', /needs a network/],
    ['s3://bucket/prefix', /needs a network/],
    ['nothing:', /"nothing:" is not known/],
  ] as const) {
    for (const open of [
      () => new Memory(address),
      () => openStore(address),
      () => new Memory({ '/memories': 'memory:', '/memories/x': readOnly(address) }),
    ]) {
      assert.throws(open, (error: Error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, said);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    }
  }
  assert.throws(() => new Memory(), directory);
});

test('a store of one’s own works if it answers at once', { skip }, async () => {
  const memory = new Memory(new MapStore(), { recordAccess: true });
  await memory.create({ path, file_text: 'a\0b' });
  await memory.insert({ path, insert_line: 0, insert_text: 'first' });
  assert.equal(await memory.read(path), 'first\na\0b');
  // The store counts milliseconds, so only a write in an earlier one counts as unused with a limit of 0.
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await memory.expire(0, { dryRun: true })).length, 1);
  const encrypted = new Memory(new MapStore(), { encryptionKey: new Uint8Array(32) });
  await encrypted.create({ path, file_text: 'x' });
  assert.equal(await encrypted.read(path), 'x');

  const store = Object.assign(new MapStore(), { read: () => Promise.resolve(Buffer.from('x')) });
  const late = new Memory(store as Store);
  await late.create({ path, file_text: 'x' });
  const reply = await late.execute({ command: 'view', path });
  assert.match(String(reply.content), /^Error: The memory directory cannot be reached/);
  assert.ok(reply.cause instanceof StoreError);
  assert.match(reply.cause.message, /it returned a promise: memdir runs as WebAssembly here/);
  assert.ok((await new Memory(tableStore()).execute({ command: 'view', path })).isError);
  for (const exception of [new RangeError('mine'), 'mine', undefined]) {
    const read = () => {
      throw exception;
    };
    const broken = new Memory(Object.assign(new MapStore(), { read }) as Store);
    const { cause } = await broken.execute({ command: 'view', path });
    assert.ok(cause instanceof StoreError && 'cause' in cause && cause.cause === exception);
    await assert.rejects(broken.read(path), (error: Error) => {
      return error instanceof StoreError && 'cause' in error && error.cause === exception;
    });
  }
  await assert.rejects(
    checkContract(() => new MapStore()),
    /cannot check the contract/,
  );
});

test('what a call calls may use the memory, when the call has ended', { skip }, async () => {
  const store = openStore('memory:');
  const memory = new Memory(store);
  await memory.create({ path, file_text: 'x' });
  let read: Promise<string> | undefined;
  await store.update(path, () => {
    read = memory.read(path);
    return Buffer.from('y');
  });
  assert.equal(await read, 'y');
});

test('the SDK’s tool runner uses it', { skip }, async () => {
  const requests: { messages: { content: unknown }[] }[] = [];
  const input = { command: 'create', path, file_text: 'tea\0' };
  const turns = [
    {
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'memory', input }],
    },
    {
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'toolu_2', name: 'memory', input }],
    },
    { stop_reason: 'end_turn', content: [{ type: 'text', text: 'Noted.' }] },
  ];
  const client = new Anthropic({
    apiKey: 'none',
    fetch: async (_url, request) => {
      requests.push(JSON.parse(String(request?.body)) as (typeof requests)[number]);
      const turn = turns[requests.length - 1];
      const message = { id: 'msg', type: 'message', role: 'assistant', model: 'm', ...turn };
      const usage = { input_tokens: 1, output_tokens: 1 };
      return Response.json({ ...message, usage });
    },
  });
  const last = await client.beta.messages.toolRunner({
    model: 'claude-opus-4-6',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Note the tea.' }],
    tools: [memoryTool('memory:')],
  });
  assert.deepEqual(last.content, turns[2]!.content);
  const results = requests
    .slice(1)
    .map(({ messages }) => (messages.at(-1)!.content as object[])[0]);
  assert.deepEqual(
    results.map((result) => {
      const { content, is_error } = result as { content: string; is_error?: boolean };
      return [content, is_error ?? false];
    }),
    [
      [`File created successfully at: ${path}`, false],
      [`Error: File ${path} already exists`, true],
    ],
  );
});

test('a machine without a binary has it', { skip }, async () => {
  const directory = project();
  const program = `
    Object.defineProperty(process, 'arch', { value: 'sparc' });
    const { Memory } = require('memdir');
    new Memory('memory:').execute({ command: 'view', path: '/memories' }).then(console.log);
  `;
  const env = { ...process.env, MEMDIR_WASM: '' };
  const ran = await run(process.execPath, ['--eval', program], { cwd: directory, env });
  assert.equal(ran.stderr, '');
  assert.match(ran.stdout, /isError: false/);
  const tool = `
    Object.defineProperty(process, 'arch', { value: 'sparc' });
    require('memdir/package.json');
    process.argv = [process.argv[0], 'memdir', 'tree', 'memory'];
    require('./node_modules/memdir/bin.cjs');
  `;
  const refused = await run(process.execPath, ['--eval', tool], { cwd: directory, env });
  assert.match(refused.stderr, /the program memdir needs the binary for this machine/);
});
