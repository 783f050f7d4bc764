// The hostile tables (`tests/hostile`): always a reply, or an error of the constructor that names the option.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { ConfigError, Memory } from 'memdir';
import type { MemoryOptions } from 'memdir';

import { PROJECT } from './support.mjs';

function table<Row>(name: string): Row[] {
  return JSON.parse(readFileSync(new URL(`tests/hostile/${name}.json`, PROJECT), 'utf8')) as Row[];
}

const PUT: Record<string, string> = {
  '@half@': '\ud800',
  '@long@': 'x'.repeat(1_000_000),
  '@deep@': '['.repeat(100_000),
  '@digits@': '9'.repeat(5_000),
};
const NUMBERS: Record<string, number> = { '@nan@': NaN, '@inf@': Infinity, '@-inf@': -Infinity };

function put(value: unknown): unknown {
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
  for (const { name, json } of table<{ name: string; json: string }>('inputs')) {
    const text = put(json) as string;
    const inputs: unknown[] = [text];
    try {
      inputs.push(JSON.parse(text));
    } catch {
      // Not JSON to JavaScript either.
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

test('a wrong option is an error that names it', async () => {
  type Row = { option: string; value: unknown; fits?: true };
  for (const { option, value, fits } of table<Row>('options')) {
    const name = option.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const options = { [name]: put(value) } as MemoryOptions;
    const row = `${option}: ${JSON.stringify(value)}`;
    if (fits) {
      const view = { command: 'view', path: '/memories' };
      assert.equal((await new Memory('memory:', options).execute(view)).isError, false, row);
    } else {
      assert.throws(
        () => new Memory('memory:', options),
        (error) => error instanceof ConfigError && error.option === name,
        row,
      );
    }
  }
});

test('a wrong argument is an error that names it', async () => {
  type Row = { call: string; argument: string; value: unknown; fits?: true };
  type Calls = Record<string, (memory: Memory, value: never) => Promise<unknown>>;
  const calls: Calls = {
    list: (memory, depth) => memory.list('/memories', { depth }),
    grep: (memory, limit) => memory.grep('tea', { limit }),
    find_sensitive: (memory, limit) => memory.findSensitive(undefined, { limit }),
    index: (memory, maxChars) => memory.index(maxChars),
    history: (memory, limit) => memory.history(undefined, { limit }),
    grep_history: (memory, limit) => memory.grepHistory('tea', { limit }),
    watch: async (memory, every) => {
      const watch = memory.watch({ every });
      await watch.changes(0);
      watch.close();
    },
    changes: async (memory, wait) => {
      const watch = memory.watch();
      try {
        return await watch.changes(wait);
      } finally {
        watch.close();
      }
    },
    expire: (memory, olderThan) => memory.expire(olderThan),
  };
  const memory = new Memory('memory:', { history: true, recordAccess: true });
  for (const { call, argument, value, fits } of table<Row>('arguments')) {
    const name = argument.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const row = `${call}.${argument}: ${JSON.stringify(value)}`;
    const called = calls[call];
    assert.ok(called, row);
    const made = called(memory, put(value) as never);
    if (fits) {
      await made;
      continue;
    }
    await assert.rejects(
      made,
      (error) =>
        error instanceof ConfigError &&
        error.option === name &&
        error.message.startsWith(`${name} must be `),
      row,
    );
  }
});
