// Hostile input: the answer is an error message, and the process survives.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Memory, memoryTool } from 'memdir';

import { EFFORT } from './support.mjs';

const MIB = 1024 * 1024;

async function refused(memory: Memory, input: unknown): Promise<string> {
  const { content: said, isError, cause } = await memory.execute(input);
  const content = String(said);
  assert.ok(isError, content);
  assert.equal(cause, undefined);
  assert.ok(content.length > 0 && content.length < 50_000, `${content.length} characters`);
  return content;
}

test('anything may be sent', async () => {
  const memory = new Memory('memory:');
  const cyclic: unknown[] = [];
  cyclic.push(cyclic, cyclic);
  const expectations: [unknown, RegExp][] = [
    [undefined, /should be an object with a `command`, got null$/],
    [null, /got null$/],
    [true, /got the boolean true$/],
    [12, /got the number 12$/],
    [NaN, /got the number NaN$/],
    [12n, /got the number 12$/],
    [10n ** 30n, /got the number 1e30$/],
    [Symbol('command'), /got a symbol$/],
    [() => ({ command: 'view' }), /got a function$/],
    [[], /got the list \[\]$/],
    [cyclic, /got the list \[\[/],
    [new Array(4_000_000_000), /got the list \[null, /],
    [{}, /^Error: Missing `command` parameter/],
    [new Date(0), /^Error: Missing `command` parameter/],
    [new Map([['command', 'view']]), /^Error: Missing `command` parameter/],
    [new String('{"command":"view"}'), /^Error: Missing `command` parameter/],
    [new Proxy({}, {}), /^Error: Missing `command` parameter/],
    [{ command: { toString: () => 'view' } }, /Invalid `command` parameter: .* got an object$/],
    [{ command: Symbol('view') }, /got a symbol$/],
    [{ command: 'view', path: new String('/memories') }, /`path` parameter: .* got an object$/],
    [{ command: 'view', path: ['/memories'] }, /`path` parameter: .* got the list/],
    [{ command: 'view', path: undefined }, /`path` parameter: .* got null$/],
    [
      { command: 'insert', path: '/memories/a', insert_line: true, insert_text: '' },
      /boolean true$/,
    ],
    [{ command: 'insert', path: '/memories/a', insert_line: {}, insert_text: '' }, /an object$/],
    ['', /is not valid JSON/],
    ['[]', /got the list \[\]$/],
    ['"view"', /got the string "view"$/],
  ];
  for (const [input, sentence] of expectations) {
    assert.match(await refused(memory, input), sentence);
  }
  assert.equal((await memory.execute({ command: 'view', path: '/memories' })).isError, false);
});

test('names of prototypes are names like any other', async () => {
  const memory = new Memory('memory:');
  for (const command of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'execute', '']) {
    assert.match(await refused(memory, { command }), /^Error: Invalid `command` parameter/);
  }
  for (const json of [
    '{"__proto__": {"command": "view", "path": "/memories"}}',
    '{"constructor": {"prototype": {"command": "view"}}}',
  ]) {
    assert.match(await refused(memory, JSON.parse(json)), /^Error: Missing `command` parameter/);
    assert.match(await refused(memory, json), /^Error: Missing `command` parameter/);
  }
  // Inherited properties are not part of the input.
  const inherited = Object.create({ command: 'view', path: '/memories' });
  assert.match(await refused(memory, inherited), /^Error: Missing `command` parameter/);
  class Command {
    get command() {
      return 'view';
    }
  }
  assert.match(await refused(memory, new Command()), /^Error: Missing `command` parameter/);
  assert.equal(({} as { command?: string }).command, undefined);

  // An object without a prototype is accepted. Files may be named like members of `Object.prototype`.
  const bare = Object.assign(Object.create(null), { command: 'view', path: '/memories' });
  assert.equal((await memory.execute(bare)).isError, false);
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty']) {
    const path = `/memories/${name}`;
    assert.ok(!(await memory.execute({ command: 'create', path, file_text: name })).isError);
    assert.match(
      String((await memory.execute({ command: 'view', path })).content),
      new RegExp(`\t${name}$`),
    );
  }
});

test('half of a surrogate pair is no text', async () => {
  const memory = new Memory('memory:');
  for (const half of ['\ud800', 'a\udc00b', '/memories/\ud83d']) {
    for (const input of [
      { command: half },
      { command: 'view', path: half },
      { command: 'create', path: '/memories/a', file_text: half },
      { command: 'str_replace', path: '/memories/a', old_str: 'a', new_str: half },
      half,
      [half],
    ]) {
      assert.match(await refused(memory, input), /text that is not valid Unicode/);
    }
  }
  const whole = { command: 'create', path: '/memories/a', file_text: '\ud83e\udd80' };
  assert.equal((await memory.execute(whole)).isError, false);
  assert.match(
    String((await memory.execute({ command: 'view', path: '/memories/a' })).content),
    /\t🦀$/,
  );
});

test('every character comes back as it was sent', async () => {
  const memory = new Memory('memory:', { maxViewChars: null });
  let text = '';
  for (let point = 0; point <= 0x10ffff; point += point < 0x3000 ? 1 : 0x101) {
    if (point !== 0x0a && (point < 0xd800 || point > 0xdfff)) {
      text += String.fromCodePoint(point);
    }
  }
  await memory.create({ path: '/memories/all', file_text: text });
  const header = "Here's the content of /memories/all with line numbers:\n     1\t";
  assert.equal(await memory.view({ path: '/memories/all' }), header + text);
});

test('more text than a file may hold', async () => {
  const memory = new Memory('memory:');
  const unlimited = new Memory('memory:', { maxFileBytes: null, maxViewChars: null });
  const size = Math.min(17 * EFFORT, 50) * MIB;
  for (const text of ['a'.repeat(size), `é${'ü🦀'.repeat(size / 6)}\n`]) {
    assert.match(await refused(memory, { command: text }), /`command` parameter/);
    assert.match(await refused(memory, { command: 'view', path: text }), /Path must start with/);
    assert.match(
      await refused(memory, { command: 'view', path: `/memories/${text}` }),
      /is too long|would escape/,
    );
    assert.match(
      await refused(memory, { command: 'create', path: '/memories/a', file_text: text }),
      /may hold 16777216 bytes/,
    );
    assert.match(await refused(memory, text), /is not valid JSON/);

    await unlimited.create({ path: '/memories/big', file_text: text });
    const view = await unlimited.view({ path: '/memories/big' });
    assert.ok(String(view).endsWith(`\n     1\t${text.trimEnd()}`));
    await unlimited.delete({ path: '/memories/big' });
  }
});

test('what a getter or a proxy throws is rejected with, and nothing else happens', async () => {
  const memory = new Memory('memory:');
  const thrown = new RangeError('mine');
  const throwing = () => {
    throw thrown;
  };
  const inputs = [
    Object.defineProperty({}, 'command', { get: throwing, enumerable: true }),
    {
      command: 'view',
      get path() {
        return throwing();
      },
    },
    new Proxy({}, { getOwnPropertyDescriptor: throwing }),
    new Proxy({ command: 'view' }, { get: throwing }),
    {
      command: 'view',
      path: '/memories',
      view_range: Object.defineProperty([1, 2], '1', { get: throwing }),
    },
  ];
  for (const input of inputs) {
    await assert.rejects(memory.execute(input), (error) => error === thrown);
    await assert.rejects(memoryTool('memory:').run(input as never), (error) => error === thrown);
  }
  assert.equal((await memory.execute({ command: 'view', path: '/memories' })).isError, false);
});
