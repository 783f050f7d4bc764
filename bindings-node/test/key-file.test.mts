// A key that is kept in a file: concurrent first calls all get the same key, and the file never replaces an existing one.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { Memory, keyFromFile } from 'memdir';

import { PACKAGE, run, temporary } from './support.mjs';

const ROUNDS = 200;
const WORKER = new URL('test/key-file-worker.mjs', PACKAGE);

test('a key in a file opens its memory again', async () => {
  const place = temporary();
  const file = join(place, 'memory.key');
  const open = () => new Memory(join(place, 'memory'), { encryptionKey: keyFromFile(file) });
  await open().create({ path: '/memories/tea.md', file_text: 'green\n' });
  assert.equal(await open().read('/memories/tea.md'), 'green\n');
  assert.deepEqual(Buffer.from(keyFromFile(file)), readFileSync(file));
  if (process.platform !== 'win32') {
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }
});

test('a file that holds no key is an error, and stays as it is', () => {
  const file = join(temporary(), 'memory.key');
  for (const length of [0, 31, 33]) {
    writeFileSync(file, Buffer.alloc(length));
    assert.throws(() => keyFromFile(file), {
      name: 'ConfigError',
      option: 'path',
      message: /must have 32 bytes/,
    });
    assert.deepEqual(readFileSync(file), Buffer.alloc(length));
  }
  for (const wrong of [undefined, null, 5, '']) {
    assert.throws(() => keyFromFile(wrong as string), { name: 'ConfigError', option: 'path' });
  }
});

test('processes that make the first call at once get one key', async () => {
  const place = join(temporary(), 'keys');
  mkdirSync(place);
  const memdir = import.meta.resolve('memdir');
  const args = (me: string) => [WORKER.pathname, memdir, place, me, String(ROUNDS)];
  const ran = await Promise.all(['0', '1'].map((me) => run(process.execPath, args(me))));
  assert.deepEqual(
    ran.map(({ status, stderr }) => [status, stderr]),
    [
      [0, ''],
      [0, ''],
    ],
  );
  assert.equal(ran[0]!.stdout.trim().split('\n').length, ROUNDS);
  assert.equal(ran[0]!.stdout, ran[1]!.stdout);
  assert.equal(readdirSync(place).length, ROUNDS);
});

test('threads that make the first call at once get one key', async () => {
  const place = join(temporary(), 'keys');
  mkdirSync(place);
  const memdir = import.meta.resolve('memdir');
  const said = await Promise.all(
    ['0', '1'].map(async (me) => {
      const argv = [memdir, place, me, String(ROUNDS)];
      const worker = new Worker(WORKER, { argv, stdout: true });
      let stdout = '';
      worker.stdout.on('data', (data) => (stdout += data));
      await new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
      return stdout;
    }),
  );
  assert.equal(said[0]!.trim().split('\n').length, ROUNDS);
  assert.equal(said[0], said[1]);
  assert.equal(readdirSync(place).length, ROUNDS);
});
