// Unknown options of a call and missing addresses are rejected and not ignored.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Memory, check, contextManagement, copy, memoryTool, openStore, readOnly } from 'memdir';

const path = '/memories/tea.md';

async function withChange(): Promise<Memory> {
  const memory = new Memory('memory:', { history: true, recordAccess: true });
  await memory.create({ path, file_text: 'green\n' });
  return memory;
}

test('an option that a method does not have is refused, and nothing is done', async () => {
  const memory = await withChange();
  const since = new Date(0);
  const id = (await memory.history())[0]!.id;
  type Call = (options: never) => unknown;
  const calls: [string, string, Call][] = [
    ['there are ifUnchanged and signal', 'if_unchanged', (o) => memory.write(path, 'black', o)],
    [
      'there are dryRun, skipConflicts, merge and signal',
      'dry_run',
      (o) => memory.undo({ since }, o),
    ],
    ['there are change, since and actor', 'Actor', (o) => memory.undo(o)],
    ['there are dryRun and signal', 'dryrun', (o) => memory.restoreAll(since, o)],
    ['there are overwrite and signal', 'over_write', (o) => memory.restore(id, o)],
    ['there are dryRun, onProgress and signal', 'dry_run', (o) => memory.expire(0, o)],
    ['did you mean oneWay?', 'one_way', (o) => memory.sync('memory:', o)],
    ['there are depth and signal', 'deep', (o) => memory.list('/memories', o)],
    [
      'there are regex, ignoreCase, path, limit and signal',
      'ignore_case',
      (o) => memory.grep('x', o),
    ],
    [
      'there are regex, ignoreCase, path, limit and signal',
      'max',
      (o) => memory.grepHistory('x', o),
    ],
    ['there are limit and signal', 'max', (o) => memory.findSensitive('/memories', o)],
    [
      'there are limit, before, actor, change, since and signal',
      'last',
      (o) => memory.history(path, o),
    ],
    ['there are path, every and signal', 'interval', (o) => memory.watch(o)],
    ['there are about, features and init', 'setup', (o) => memory.bootstrap(o)],
    [
      'there is only signal',
      'abortSignal',
      (o) => memory.bootstrap({ about: 'tea', features: [] }, o),
    ],
    ['there is only signal', 'abortSignal', (o) => memory.read(path, o)],
    ['there is only signal', 'abortSignal', (o) => memory.readShown(path, o)],
    ['there is only signal', 'abortSignal', (o) => memory.resolveId(id, o)],
    ['there is only signal', 'abortSignal', (o) => memory.exportHistory(o)],
    ['there is only signal', 'abortSignal', (o) => memory.exists(path, o)],
    ['there is only signal', 'abortSignal', (o) => memory.stats(o)],
    ['there is only signal', 'abortSignal', (o) => memory.index(100, o)],
    ['there is only signal', 'abortSignal', (o) => memory.filesAt(since, o)],
    ['there is only signal', 'abortSignal', (o) => memory.readAt(path, since, o)],
    ['there is only signal', 'abortSignal', (o) => memory.readVersion(id, o)],
    ['there is only signal', 'abortSignal', (o) => memory.diff(id, null, o)],
    ['there is only signal', 'abortSignal', (o) => memory.redact(id, 'why', o)],
    ['there is only signal', 'abortSignal', (o) => memory.trimHistory(o)],
    [
      'there are overwrite, withoutHistory, durability and onProgress',
      'replace',
      (o) => copy('memory:', 'memory:', o),
    ],
    [
      'there are clearAt, keep, clearAtLeast, excludeTools and compactAt',
      'clear_at',
      (o) => contextManagement(o),
    ],
  ];
  for (const [known, name, call] of calls) {
    const expected = {
      name: 'ConfigError',
      message: `there is no option ${name}; ${known}`,
      option: name,
    };
    await assert.rejects(async () => call({ [name]: true } as never), expected);
    await assert.rejects(async () => call([name] as never), /must be an object, got \[/, known);
    await assert.rejects(async () => call(5 as never), /must be an object, got 5$/, known);
    const signal = new AbortController().signal;
    await assert.rejects(async () => call(signal as never), /must be an object, got AbortSignal/);
  }
  assert.equal(await memory.read(path), 'green\n');
  assert.equal((await memory.history()).length, 1);
});

test('options that are left out are none', async () => {
  const memory = await withChange();
  await memory.write(path, 'black\n', { ifUnchanged: undefined, signal: null });
  await memory.write(path, 'white\n', Object.create({ nonsense: 1 }));
  await memory.read(path, undefined);
  await memory.list('/memories', null as never);
  // As for the options of a memory, undefined counts as absent.
  await memory.list('/memories', { nonsense: undefined } as never);
  new Memory('memory:', { nonsense: undefined } as never);
});

test('what a runner passes along to a command is ignored', async () => {
  const context = { signal: new AbortController().signal, toolCallId: 'x', messages: [] };
  const memory = new Memory('memory:');
  await memory.create({ path, file_text: 'green\n' }, context);
  assert.equal((await memory.execute({ command: 'view', path }, context)).isError, false);
  assert.match(
    String(await memoryTool('memory:').run({ command: 'view', path: '/memories' }, context)),
    /4\.0K/,
  );
});

test('an address that is missing is not the default one', async () => {
  const wrong = (got: string, argument: string = 'store') => ({
    name: 'ConfigError',
    message: `${argument} must be an address such as "./memory", or a Store, got ${got}`,
  });
  const given: [unknown, string][] = [
    [undefined, 'undefined'],
    [null, 'null'],
    [5, '5'],
    [true, 'true'],
  ];
  for (const [store, got] of given) {
    const address = store as string;
    assert.throws(() => new Memory(address), wrong(got));
    assert.throws(() => new Memory(address, { maxFiles: 5 }), wrong(got));
    assert.throws(() => new Memory({ '/memories': address }), wrong(got));
    assert.throws(() => memoryTool(address), wrong(got));
    assert.throws(() => openStore(address), wrong(got));
    assert.throws(() => readOnly(address), wrong(got));
    await assert.rejects(check(address), wrong(got));
    await assert.rejects(new Memory('memory:').sync(address), wrong(got, 'other'));
    await assert.rejects(copy('memory:', address), wrong(got, 'destination'));
    await assert.rejects(copy(address, 'memory:'), wrong(got, 'source'));
  }
  for (const options of [[], ['x'], 5, 'text']) {
    assert.throws(
      () => new Memory('memory:', options as never),
      /^ConfigError: options must be an object, got /,
    );
    assert.throws(
      () => openStore('memory:', options as never),
      /^ConfigError: options must be an object, got /,
    );
  }
  assert.throws(() => new Memory('memory:', { encryptNames: true }), {
    name: 'ConfigError',
    message: 'encryptNames needs encryptionKey',
    option: 'encryptNames',
  });
});
