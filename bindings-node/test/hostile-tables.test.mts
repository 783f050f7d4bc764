// The hostile tables (`tests/hostile`): each row ends in a reply, or in an error of the constructor that
// names the option.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { ConfigError, Memory } from 'memdir';
import type { MemoryOptions } from 'memdir';

import { PROJECT } from './support.mjs';

function table<Table>(name: string): Table {
  return JSON.parse(readFileSync(new URL(`tests/${name}.json`, PROJECT), 'utf8')) as Table;
}

const PUT: Record<string, string> = {
  '@half@': '\ud800',
  '@long@': 'x'.repeat(1_000_000),
  '@deep@': '['.repeat(100_000),
  '@digits@': '9'.repeat(5_000),
};
const NUMBERS: Record<string, number> = { '@nan@': NaN, '@inf@': Infinity, '@-inf@': -Infinity };

function put(value: unknown): unknown {
  if (value === '@time@') {
    return new Date('2026-03-14');
  }
  if (typeof value === 'string') {
    const texts = Object.entries(PUT);
    return NUMBERS[value] ?? texts.reduce((text, [sign, put]) => text.replaceAll(sign, put), value);
  }
  if (Array.isArray(value)) {
    return value.map(put);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [put(name), put(item)]));
  }
  return value;
}

test('input that nobody should send is answered', async () => {
  const memory = new Memory('memory:');
  for (const { name, json } of table<{ name: string; json: string }[]>('hostile/inputs')) {
    const text = put(json) as string;
    const inputs: unknown[] = [text];
    try {
      inputs.push(JSON.parse(text));
    } catch {
      // JavaScript does not accept it as JSON either.
    }
    for (const input of inputs) {
      const { content, isError, cause } = await memory.execute(input);
      assert.ok(isError, name);
      assert.ok(content.length > 0 && content.length < 50_000, name);
      assert.equal(cause, undefined, name);
    }
  }
  assert.match(String(await memory.view({ path: '/memories' })), /4\.0K\t\/memories$/);
});

interface Row {
  value: unknown;
  says?: string;
  fits?: true;
}
interface Option {
  name: string;
  type: string;
  none: boolean;
  words?: Record<string, string>;
}

const values = table<{
  words: Record<string, Record<string, string>>;
  types: Record<string, Row[]>;
}>('hostile/values');
const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** True if the error is the one of the table, in which `…` matches any text. */
function says(row: Row, name: string, option: Partial<Option>, error: unknown): boolean {
  const quoted = Object.keys(option.words ?? {}).map((word) => `"${word}"`);
  const words: Record<string, string> = {
    ...values.words.typescript,
    name,
    or_none: option.none ? `, or ${values.words.typescript?.none}` : '',
    words: `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`,
  };
  // JavaScript's name for it.
  const said = (row.says ?? '').replace(/(got -?)inf$/, '$1Infinity');
  const sentence = said.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '?');
  const escaped = sentence.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^]*');
  assert.ok(error instanceof ConfigError, String(error));
  assert.match(error.message, new RegExp(`^${escaped}$`));
  return error.option === name;
}

test('a wrong option is an error that names it', async () => {
  const { sections } = table<{ sections: { options: Option[] }[] }>('../core/options');
  const options = sections.flatMap((section) => section.options);
  for (const option of options.filter(({ type }) => type !== 'hook')) {
    const name = camel(option.name);
    for (const row of values.types[option.type] ?? assert.fail(option.type)) {
      const given = { [name]: put(row.value) } as MemoryOptions;
      const shown = `${name}: ${JSON.stringify(row.value)}`;
      if (row.fits) {
        const view = { command: 'view', path: '/memories' };
        assert.equal((await new Memory('memory:', given).execute(view)).isError, false, shown);
      } else {
        const refused = (error: unknown) => says(row, name, option, error);
        assert.throws(() => new Memory('memory:', given), refused, shown);
      }
    }
  }
});

test('a wrong argument is an error that names it', async () => {
  type Given = Record<string, never>;
  type Calls = Record<string, (memory: Memory, given: Given) => Promise<unknown>>;
  const calls: Calls = {
    read: (memory, { path }) => memory.read(path!),
    read_shown: (memory, { path }) => memory.readShown(path!),
    write: (memory, { path, text, ...options }) => memory.write(path!, text!, options),
    list: (memory, { path, ...options }) => memory.list(path!, options),
    exists: (memory, { path }) => memory.exists(path!),
    grep: (memory, { query, ...options }) => memory.grep(query!, options),
    search: (memory, { query, ...options }) => memory.search(query!, options),
    find_sensitive: (memory, { path, ...options }) => memory.findSensitive(path!, options),
    index: (memory, { maxChars }) => memory.index(maxChars!),
    bootstrap: (memory, given) => memory.bootstrap(given as never),
    tool_definition: async (memory, { dialect }) => memory.toolDefinition(dialect!),
    tool_definitions: async (memory, { dialect, prefix }) =>
      memory.toolDefinitions(dialect!, prefix!),
    acting_as: async (memory, { actor }) => memory.actingAs(actor!),
    history: (memory, { path, ...options }) => memory.history(path!, options),
    grep_history: (memory, { query, path, ...options }) =>
      memory.grepHistory(query!, { path, ...options } as never),
    resolve_id: (memory, { part }) => memory.resolveId(part!),
    files_at: (memory, { at }) => memory.filesAt(at!),
    read_at: (memory, { path, at }) => memory.readAt(path!, at!),
    blame: (memory, { path }) => memory.blame(path!),
    read_version: (memory, { id }) => memory.readVersion(id!),
    diff: (memory, { id, other }) => memory.diff(id!, other!),
    restore: (memory, { id, ...options }) => memory.restore(id!, options),
    undo: (memory, { change, since, actor, ...options }) =>
      memory.undo({ change, since, actor } as never, options),
    restore_all: (memory, { at, ...options }) => memory.restoreAll(at!, options),
    redact: (memory, { id, reason }) => memory.redact(id!, reason!),
    redact_text: (memory, { query, reason, ...options }) =>
      memory.redactText(query!, reason!, options),
    erase: (memory, options) => memory.erase(options),
    watch: async (memory, { path, ...options }) => {
      const watch = memory.watch({ path, ...options } as never);
      try {
        await watch.changes(0);
      } finally {
        watch.close();
      }
    },
    changes: async (memory, { wait }) => {
      const watch = memory.watch();
      try {
        return await watch.changes(wait!);
      } finally {
        watch.close();
      }
    },
    expire: (memory, { olderThan, ...options }) => memory.expire(olderThan!, options),
  };
  interface Call {
    call: string;
    arguments: Record<string, string>;
    needs?: Record<string, unknown>;
    /** A call that waits for as long as it is told to. */
    waits?: true;
  }
  const memory = new Memory('memory:', { history: true, recordAccess: true });
  for (const { call, arguments: kinds, needs, waits } of table<Call[]>('hostile/arguments')) {
    const called = calls[call] ?? assert.fail(call);
    for (const [argument, kind] of Object.entries(kinds)) {
      const [type = '', none] = kind.split(' or ');
      const name = camel(argument);
      for (const row of values.types[type] ?? assert.fail(type)) {
        // Waiting as told is not a mistake, and a flag may be null if it may be left out.
        if ((row.fits && waits) || (type === 'flag' && row.value === null)) {
          continue;
        }
        const given = Object.fromEntries(
          Object.entries({ ...needs, [argument]: row.value }).map(([key, value]) => [
            camel(key),
            put(value),
          ]),
        ) as Given;
        const shown = `${call}.${argument}: ${JSON.stringify(row.value)}`;
        const made = (async () => called(memory, given))();
        if (row.fits) {
          await made.catch((error: unknown) =>
            assert.notEqual((error as ConfigError).option, name, shown),
          );
        } else {
          const refused = (error: unknown) => says(row, name, { none: none !== undefined }, error);
          await assert.rejects(made, refused, shown);
        }
      }
    }
  }
});
