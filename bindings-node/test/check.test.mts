// `check` and `clear`: operations on a whole store, for developers.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { check, Memory, openStore, StoreError } from 'memdir';

import { temporary } from './support.mjs';

test('a check reads every file and names what is wrong', async () => {
  const place = temporary();
  const memory = new Memory(place);
  await memory.create({ path: '/memories/a/b.md', file_text: 'tea' });
  assert.deepEqual(await check(place), { directories: 2, files: 1, bytes: 3, problems: [] });
  symlinkSync('/etc', join(place, 'memories', 'link'));
  const { problems } = await check(openStore(place));
  assert.deepEqual(problems, [
    {
      kind: 'link',
      path: '/memories/link',
      description: '/memories/link is a symbolic link, which is never followed',
      isBeside: true,
    },
  ]);
});

test('a store of your own is checked, too, and one that is not there is an error', async () => {
  const broken = {
    ...Object.fromEntries(
      ['list', 'write', 'update', 'delete', 'rename'].map((name) => [name, () => []]),
    ),
    read: () => new Uint8Array(),
  };
  assert.equal((await check(broken as never)).directories, 1);
  await assert.rejects(check(join(temporary(), 'none')), StoreError);
});

test('clear deletes everything below the root', async () => {
  const memory = new Memory('memory:');
  await memory.create({ path: '/memories/a/b.md', file_text: 'tea' });
  assert.equal(await memory.clear(), 'All memory cleared');
  assert.match(String(await memory.view({ path: '/memories' })), /\n4\.0K\t\/memories$/);
  await assert.rejects(new Memory('memory:', { readOnly: true }).clear(), {
    name: 'ToolError',
    message: 'Error: /memories is read-only: it can be viewed but not changed',
  });
});
