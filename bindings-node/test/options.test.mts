// Node's options match the table `core/options.json`, in every place that lists them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Memory, openStore } from 'memdir';

import { PACKAGE, PROJECT } from './support.mjs';

interface Option {
  name: string;
  type: string;
  default: unknown;
  none: boolean;
  defaults?: { typescript?: unknown };
  languages: string[];
}

const table = JSON.parse(readFileSync(new URL('core/options.json', PROJECT), 'utf8')) as {
  sections: { options: Option[] }[];
};
const options = table.sections
  .flatMap((section) => section.options)
  .filter((option) => option.languages.includes('typescript'));
const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const names = options.map((option) => camel(option.name));

test('the type MemoryOptions has exactly the members of the table', () => {
  const source = readFileSync(new URL('ts/options.ts', PACKAGE), 'utf8');
  const body = /export interface MemoryOptions \{\n(.*?)\n\}/s.exec(source)?.[1] ?? '';
  assert.deepEqual(
    [...body.matchAll(/^ {2}(\w+)\?:/gm)].map((member) => member[1]),
    names,
  );
});

test('each option of the table is taken, with its default', () => {
  for (const option of options) {
    const value = option.defaults?.typescript ?? option.default ?? undefined;
    const given = {
      [camel(option.name)]: option.type === 'duration' ? Number(value ?? 1) * 1000 : value,
    };
    assert.ok(new Memory('memory:', given), option.name);
    if (option.none) {
      assert.ok(new Memory('memory:', { [camel(option.name)]: null }), option.name);
    }
  }
});

test('a wrong value is told with what is taken and what came', () => {
  for (const [name, value, sentence] of [
    ['readOnly', ['/memories/x'], 'readOnly must be true or false, got ["/memories/x"]'],
    ['maxFiles', -1, 'maxFiles must be a whole number from 0 on, or null, got -1'],
    [
      'lockTimeout',
      'x',
      'lockTimeout must be a number of milliseconds from 0 on, or null, got "x"',
    ],
    ['staleGuard', 'x', 'staleGuard must be "off", "on" or "strict", got "x"'],
    ['readOnlyPaths', ['x'], 'readOnlyPaths: the pattern "x" does not start with /memories'],
    ['encryptionKey', 'hex:0', 'encryptionKey must have 64 hexadecimal digits after "hex:"'],
  ] as const) {
    const expected = { name: 'ConfigError', message: sentence, option: name };
    assert.throws(() => new Memory('memory:', { [name]: value }), expected);
  }
});

test('no other option is taken', () => {
  for (const name of ['maxViewChar', 'max_view_chars', 'stale']) {
    assert.throws(() => new Memory('memory:', { [name]: 1 }), new RegExp(`\\b${name}\\b`));
    assert.throws(() => openStore('memory:', { [name]: 1 }), new RegExp(`\\b${name}\\b`));
  }
});
