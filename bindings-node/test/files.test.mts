// Your own code's access to the files of a memory, and the definitions of the tool for other model hosts.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConfigError, Memory, StoreError, copy, isRefusedError, openStore } from 'memdir';
import type { Dialect, MemoryOptions, Store } from 'memdir';

import { MapStore } from './stores.mjs';
import { temporary } from './support.mjs';

const path = '/memories/tea.md';

test('a file is written and read as it is', async () => {
  for (const memory of [
    new Memory('memory:'),
    new Memory(temporary()),
    new Memory(new MapStore()),
  ]) {
    for (const text of ['', 'one\r\ntwo', '# Ä 🦀\n\n', 'x\0y']) {
      assert.equal(await memory.write('/memories/dir/a.md', text), undefined);
      assert.equal(await memory.read('/memories/dir/a.md'), text);
    }
    assert.equal(await memory.exists('/memories/dir'), true);
    assert.equal(await memory.exists('/memories/none'), false);
  }
});

test('a callback that is no function is told before anything is done', async () => {
  const memory = new Memory('memory:', { recordAccess: true });
  await memory.write(path, 'green\n');
  const wrong = {
    name: 'ConfigError',
    option: 'onProgress',
    message: /must be a function, or null, got 5/,
  };
  await assert.rejects(memory.expire(0, { onProgress: 5 as never }), wrong);
  assert.equal(await memory.exists(path), true);
  const destination = openStore('memory:');
  const source = openStore('memory:');
  await source.write(path, Buffer.from('green\n'), false);
  await assert.rejects(copy(source, destination, { onProgress: 5 as never }), wrong);
  assert.deepEqual(await destination.list('/memories'), []);
});

test('an error tells whether a call was refused, and why', async () => {
  const memory = new Memory('memory:');
  for (const call of [() => memory.read(path), () => memory.delete({ path })]) {
    const error: unknown = await call().then(assert.fail, (thrown: unknown) => thrown);
    assert.ok(isRefusedError(error) && error.kind === 'not_found', String(error));
  }
  const error: unknown = await memory.read(5 as never).catch((thrown: unknown) => thrown);
  for (const other of [error, new Error('x'), null, undefined, 'ToolError', { kind: 'x' }]) {
    assert.equal(isRefusedError(other), false);
  }
});

test('a method names the fields that it needs', async () => {
  const memory = new Memory('memory:');
  const cases: [Promise<unknown>, string][] = [
    [memory.create('/memories/b' as never), '`path` and `file_text`, got the string "/memories/b"'],
    [memory.view(undefined as never), '`path`, got null'],
    [memory.insert([] as never), '`path`, `insert_line` and `insert_text`, got the list []'],
    [memory.str_replace(5 as never), '`path` and `old_str`, got the number 5'],
  ];
  for (const [call, said] of cases) {
    await assert.rejects(call, { message: `Error: The input should be an object with ${said}` });
  }
});

test('what is refused rejects as the commands do', async () => {
  const memory = new Memory('memory:', { maxFileBytes: 5, readOnlyPaths: ['/memories/rules'] });
  const content = 'The path /memories/none does not exist. Please provide a valid path.';
  const refusal = { name: 'ToolError', message: content, content };
  await assert.rejects(memory.read('/memories/none'), refusal);
  await assert.rejects(memory.list('/memories/none'), refusal);
  await assert.rejects(memory.grep('x', { path: '/memories/none' }), refusal);
  const { ToolError } = await import('@anthropic-ai/sdk/lib/tools/ToolError');
  await assert.rejects(memory.read('/memories/none'), ToolError);
  await assert.rejects(memory.exists('/memories/../etc'), /would escape/);
  await assert.rejects(memory.write(path, '123456'), /a file may hold/);
  await assert.rejects(memory.write('/memories/rules/a', ''), /is read-only/);
  assert.deepEqual(await memory.list('/memories', { depth: null }), []);
});

test('sensitive text is found and not shown', async () => {
  const memory = new Memory('memory:', { sensitiveRules: { project: 'Bluebird-[0-9]+' } });
  await memory.write('/memories/a.md', 'Bluebird-7\nurl: postgres://app:t7Kq-9zLw2@db/app\n');
  await memory.write('/memories/Bluebird-8/b.md', 'nothing\n');
  const found = await memory.findSensitive();
  assert.deepEqual(found, [
    { path: '/memories/Bluebird-8', rule: 'project' },
    { path: '/memories/a.md', line: 1, rule: 'project' },
    { path: '/memories/a.md', line: 2, rule: 'url-password' },
  ]);
  assert.deepEqual(await memory.findSensitive('/memories/a.md', { limit: 1 }), [found[1]]);
  await assert.rejects(memory.findSensitive('/memories/none'), { name: 'ToolError' });
  const limit = -1;
  await assert.rejects(memory.findSensitive('/memories', { limit }), ConfigError);
});

test('how much a memory holds is counted', async () => {
  const memory = new Memory('memory:', { history: true });
  const empty = { files: 0, directories: 0, bytes: 0, history: { versions: 0, bytes: 0 } };
  assert.deepEqual(await memory.stats(), empty);
  const begun = new Date();
  await memory.write('/memories/a/b.md', 'one\n');
  await new Promise((resolve) => setTimeout(resolve, 5));
  await memory.write('/memories/c.md', 'longer\n');
  const { largest, oldest, newest, leastRecentlyUsed, history, ...rest } = await memory.stats();
  assert.deepEqual(rest, { files: 2, directories: 1, bytes: 11 });
  assert.deepEqual(largest, { path: '/memories/c.md', bytes: 7 });
  assert.equal(oldest?.path, '/memories/a/b.md');
  assert.deepEqual(leastRecentlyUsed, oldest);
  assert.equal(newest?.path, '/memories/c.md');
  assert(begun <= oldest.time && oldest.time <= newest.time);
  assert.equal(history?.versions, 2);
  assert(history.bytes > 0);
});

test('a file that was changed meanwhile stays', async () => {
  const memory = new Memory('memory:');
  await memory.write(path, 'green\n');
  const ifUnchanged = await memory.read(path);
  await memory.write(path, 'green\nblack\n', { ifUnchanged });
  await assert.rejects(memory.write(path, '', { ifUnchanged }), {
    name: 'ToolError',
    message: /does not hold what it was expected to hold/,
  });
  assert.equal(await memory.read(path), 'green\nblack\n');
  await memory.write(path, '', { ifUnchanged: null });

  const counted = '/memories/count';
  await memory.write(counted, '0');
  const increment = async () => {
    for (;;) {
      const old = await memory.read(counted);
      try {
        return await memory.write(counted, String(Number(old) + 1), { ifUnchanged: old });
      } catch (error) {
        assert.equal((error as Error).name, 'ToolError');
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, increment));
  assert.equal(await memory.read(counted), '16');
});

test('a listing has the depth that is asked for', async () => {
  const memory = new Memory(temporary());
  for (const file of ['/memories/b', '/memories/a/b/c', '/memories/.hidden']) {
    await memory.write(file, '12345');
  }
  const paths = async (...given: Parameters<typeof memory.list>) =>
    (await memory.list(...given)).map((entry) => entry.path);
  assert.deepEqual(await paths(), ['/memories/a', '/memories/b']);
  assert.deepEqual(await paths('/memories/a', { depth: 1 }), ['/memories/a/b']);
  assert.deepEqual(await paths('/memories', { depth: null }), [
    '/memories/a',
    '/memories/a/b',
    '/memories/a/b/c',
    '/memories/b',
  ]);
  const [directory, file] = await memory.list();
  assert.deepEqual(directory, { path: '/memories/a' });
  assert.equal(file?.size, 5);
  assert.ok(Math.abs(Number(file?.modified) - Date.now()) < 60_000);
});

test('names and lines are found', async () => {
  const memory = new Memory('memory:');
  await memory.write(path, '# Tea\ngreen tea\n');
  await memory.write('/memories/teas/x', 'Ä');
  const all = [
    { path, text: 'tea.md' },
    { path, line: 2, text: 'green tea' },
    { path: '/memories/teas', text: 'teas' },
  ];
  assert.deepEqual(await memory.grep('tea'), all);
  assert.deepEqual(await memory.grep('tea', { limit: 2 }), all.slice(0, 2));
  assert.deepEqual(await memory.grep('tea', { limit: 0 }), []);
  assert.deepEqual(await memory.grep('tea', { path: '/memories/teas' }), []);
  assert.equal((await memory.grep('TEA', { ignoreCase: true })).length, 4);
  assert.equal((await memory.grep('ä', { ignoreCase: true })).length, 1);
  assert.deepEqual(await memory.grep('^\\w+ tea$', { regex: true }), [all[1]]);
});

test('a question is answered with passages', async () => {
  const memory = new Memory('memory:', { searchLanguage: 'german' });
  await memory.write(path, '# 𝕏\n\n- 𝕏 trinkt grünen Tee\n');
  await memory.write('/memories/b/x.md', 'Milch');
  const { hits, filesLeftOut } = await memory.search('wer trinkt Tees?');
  assert.equal(filesLeftOut, 0);
  assert.deepEqual(
    hits.map((hit) => hit.path),
    [path],
  );
  const [passage] = hits[0]!.passages;
  assert.deepEqual([passage!.firstLine, passage!.lastLine], [1, 3]);
  const words = passage!.matches.map(({ start, end }) => passage!.text.slice(start, end));
  assert.deepEqual(words, ['trinkt', 'Tee']);
  assert.ok(hits[0]!.score > 0 && hits[0]!.modified instanceof Date);
  assert.deepEqual((await memory.search('Tee', { path: '/memories/b' })).hits, []);
  assert.deepEqual((await memory.search('Tee', { limit: 0 })).hits, []);
  await assert.rejects(memory.search('x', { path: '/memories/none' }), { name: 'ToolError' });
});

test('an index names the files and their first lines', async () => {
  const memory = new Memory('memory:');
  await memory.write(path, '\n# Tea\nmore');
  assert.equal(await memory.index(), '/memories/tea.md\t11B\t# Tea\n');
  await memory.write('/memories/ä.md', 'Ä');
  assert.equal(await memory.index(40), '[2 more files are not listed here.]\n');
  assert.equal(await memory.index(0), '');
});

test('a project is laid out once, and nothing is overwritten', async () => {
  const memory = new Memory('memory:');
  const project = { about: 'Tea.', features: ['a\nlist', 'a basket'], init: 'make' };
  await memory.write('/memories/init.md', 'mine');
  const made = ['/memories/progress.md', '/memories/features.md'];
  assert.deepEqual(await memory.bootstrap(project), made);
  assert.match(await memory.read('/memories/features.md'), /- \[ \] a list\n- \[ \] a basket\n$/);
  assert.equal(await memory.read('/memories/init.md'), 'mine');
  assert.deepEqual(await memory.bootstrap({ about: '', features: [] }), []);
  const readOnly = new Memory('memory:', { writablePaths: [] });
  await assert.rejects(readOnly.bootstrap(project), { name: 'ToolError' });
  const wrong = { about: '', features: ['', 1] } as never;
  await assert.rejects(memory.bootstrap(wrong), { name: 'ConfigError', message: /features\[1\]/ });
});

test('views that are forgotten guard on', async () => {
  const memory = new Memory('memory:', { staleGuard: 'strict' });
  const insertion = { path, insert_line: 1, insert_text: 'x' };
  await memory.create({ path, file_text: 'one\n' });
  await memory.insert(insertion);
  memory.forgetViews();
  await assert.rejects(memory.insert(insertion), /may no longer be in this conversation/);
  await memory.view({ path });
  await memory.insert(insertion);
});

test('a wrong argument is a ConfigError that names it', async () => {
  const memory = new Memory('memory:');
  const wrong: [option: string, message: RegExp, call: (given: any) => Promise<unknown>][] = [
    ['path', /^path must be a string, got 5$/, (one) => one.read(5)],
    [
      'path',
      /^path must be a string, got text that is not valid Unicode$/,
      (one) => one.read('\ud800'),
    ],
    ['text', /^text must be a string, got undefined$/, (one) => one.write(path)],
    ['text', /^text must be a string, got null$/, (one) => one.write(path, null)],
    ['limit', /^limit must be .* got Infinity$/, (one) => one.grep('', { limit: Infinity })],
    ['limit', /^limit must be .* got -Infinity$/, (one) => one.grep('', { limit: -Infinity })],
    [
      'signal',
      /^signal must be an AbortSignal, or null, got 5$/,
      (one) => one.read(path, { signal: 5 }),
    ],
    ['signal', /^signal must be an AbortSignal/, (one) => one.execute({}, { signal: 'x' })],
    ['signal', /^signal must be an AbortSignal/, (one) => one.clear({ signal: true })],
    ['signal', /^signal must be an AbortSignal/, (one) => one.view({ path }, { signal: {} })],
    ['text', /not valid Unicode$/, (one) => one.write(path, 'a\udc00')],
    [
      'ifUnchanged',
      /^ifUnchanged must be a string, or null, got/,
      (one) => one.write(path, '', { ifUnchanged: {} }),
    ],
    [
      'depth',
      /^depth must be a whole number from 0 on, or null, got -1$/,
      (one) => one.list(path, { depth: -1 }),
    ],
    ['query', /^query must be a string, got/, (one) => one.grep(/tea/)],
    ['limit', /^limit must be .* got 1\.5$/, (one) => one.grep('', { limit: 1.5 })],
    ['regex', /^regex must be true or false/, (one) => one.grep('', { regex: 'a' })],
    ['regex', /^regex: /, (one) => one.grep('(', { regex: true })],
    ['maxChars', /^maxChars must be .* got NaN$/, (one) => one.index(NaN)],
  ];
  for (const [option, message, call] of wrong) {
    await assert.rejects(call(memory), (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.equal(error.option, option);
      assert.equal(error.kind, 'config');
      assert.match(error.message, message);
      return true;
    });
  }
  assert.throws(() => memory.toolDefinition('mcp' as Dialect), {
    name: 'ConfigError',
    option: 'dialect',
    message: /^dialect must be "json-schema", "openai", .* got "mcp"$/,
  });
  assert.throws(() => memory.toolDefinitions('openai', 'no spaces'), { option: 'prefix' });
});

test('a broken store is a StoreError', async () => {
  const broken: Store = new MapStore();
  broken.read = broken.list = () => {
    throw new Error('out of reach');
  };
  const memory = new Memory(broken);
  await assert.rejects(memory.read(path), (error) => {
    assert.ok(error instanceof StoreError);
    return error.code === 'EIO' && error.message.includes('out of reach');
  });
  await assert.rejects(memory.grep('x'), { name: 'StoreError', code: 'EIO' });
});

test('a signal cancels a call that has not begun to write', async () => {
  const memory = new Memory('memory:');
  const signal = AbortSignal.abort();
  const cancelled = { name: 'StoreError', code: 'ECANCELED' };
  await assert.rejects(memory.write(path, 'x', { signal }), cancelled);
  await assert.rejects(memory.grep('x', { signal }), cancelled);
  assert.equal(await memory.exists(path), false);
  await memory.write(path, 'x', { signal: new AbortController().signal });
  await assert.rejects(memory.grep('x', { signal }), cancelled);
});

test('hooks are not called for your own code, and the model has to look again', async () => {
  const called: string[] = [];
  const memory = new Memory('memory:', {
    staleGuard: 'on',
    before: ({ command }) => void called.push(command),
  });
  await memory.create({ path, file_text: 'one\n' });
  await memory.write(path, 'two\n');
  assert.equal(await memory.read(path), 'two\n');
  assert.deepEqual(called, ['create']);
  await assert.rejects(
    memory.insert({ path, insert_line: 1, insert_text: 'x' }),
    /has changed since/,
  );
});

test('the tool is defined for other model hosts', async () => {
  const memory = new Memory('memory:');
  const commands = ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'];
  const tool = memory.toolDefinition();
  assert.equal(tool.name, 'memory');
  assert.deepEqual(tool.parameters.required, ['command']);
  assert.deepEqual(tool.parameters.properties['command']?.['enum'], commands);

  const strict = memory.toolDefinition('openai');
  assert.deepEqual([strict.type, strict.name, strict.strict], ['function', 'memory', true]);
  assert.deepEqual(
    strict.parameters.required.toSorted(),
    Object.keys(strict.parameters.properties).toSorted(),
  );
  assert.equal(memory.toolDefinition('openai-chat').function.name, 'memory');
  assert.equal(memory.toolDefinition('anthropic-custom').input_schema.additionalProperties, false);
  assert.ok(!('additionalProperties' in memory.toolDefinition('gemini').parameters));

  const tools = memory.toolDefinitions('json-schema', 'memory_');
  assert.deepEqual(
    tools.map((one) => one.name),
    commands.map((command) => `memory_${command}`),
  );
  assert.deepEqual(tools[1]?.parameters.required, ['path', 'file_text']);
  assert.deepEqual(memory.toolDefinitions()[0]?.name, 'view');

  const readOnly = new Memory('memory:', { readOnly: true });
  assert.equal(readOnly.toolDefinitions('gemini').length, 1);
});

test('a whole tool_use block is understood', async () => {
  const options: MemoryOptions[] = [{}, { before: () => {} }];
  for (const memory of options.map((given) => new Memory('memory:', given))) {
    const input = { command: 'create', path, file_text: 'x' };
    const block = { type: 'tool_use', id: 'toolu_1', name: 'memory', input };
    const created = { content: `File created successfully at: ${path}`, isError: false };
    assert.deepEqual(await memory.execute(block), created);
    await memory.clear();
    assert.deepEqual(await memory.execute(JSON.stringify(block)), created);
    await memory.clear();
    for (const other of [
      { ...block, type: 'text' },
      { type: 'tool_use', input: [input] },
      { type: 'tool_use', input: JSON.stringify(input) },
      { input },
      Object.create(block) as object,
      { type: 'tool_use', __proto__: { input } },
    ]) {
      const { isError, content } = await memory.execute(other);
      assert.ok(isError && String(content).includes('`command`'), String(content));
    }
    // A command's input is never treated as a `tool_use` block.
    const view = { command: 'view', path: '/memories', type: 'tool_use', input };
    assert.match(String((await memory.execute(view)).content), /^Here're the files/);
    let reads = 0;
    const changing = {
      type: 'tool_use',
      get input() {
        reads += 1;
        return reads === 1 ? input : 5;
      },
    };
    assert.ok((await memory.execute(changing)).isError);
    const throwing = {
      type: 'tool_use',
      get input(): object {
        throw new RangeError('mine');
      },
    };
    const thrown = await memory.execute(throwing).catch((error: unknown) => error);
    assert.ok(thrown instanceof RangeError || (thrown as { isError: boolean }).isError);
    assert.deepEqual(await memory.list(), []);
  }
});
