// What was there before: the history is searched, and shows the files of a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConfigError, HistoryError, Memory } from 'memdir';

const path = '/memories/tea.md';
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

test('the history is searched for what is there no more', async () => {
  const memory = new Memory('memory:', { history: true });
  await memory.write(path, 'green tea\nblack tea\nwater\n');
  await memory.str_replace({ path, old_str: 'green tea\n', new_str: '' });
  await memory.write('/memories/gone/pot.md', 'a Teapot\n');
  await memory.delete({ path: '/memories/gone' });

  const found = await memory.grepHistory('tea', { ignoreCase: true });
  assert.deepEqual(
    found.map(({ version, line, text }) => [version.path, version.operation, line, text]),
    [
      ['/memories/gone/pot.md', 'created', 1, 'a Teapot'],
      [path, 'created', 1, 'green tea'],
    ],
  );
  const [, first] = await memory.history(path);
  assert.deepEqual(found[1]!.version, first);
  assert.deepEqual(await memory.grepHistory('tea', { ignoreCase: true, limit: 1 }), [found[0]]);
  assert.deepEqual(await memory.grepHistory('^g', { regex: true }), [found[1]]);
  assert.deepEqual(await memory.grepHistory('tea', { path }), [found[1]]);
  const [named] = await memory.grepHistory('pot.md');
  assert.equal(named!.text, 'pot.md');
  assert.equal('line' in named!, false);
  await assert.rejects(memory.grepHistory('(', { regex: true }), ConfigError);
  const is = (kind: string) => (error: unknown) =>
    error instanceof HistoryError && error.kind === kind;
  await assert.rejects(memory.grepHistory('tea', { path: 'elsewhere' }), is('path'));
  await assert.rejects(new Memory('memory:').grepHistory('tea'), is('off'));
  const signal = AbortSignal.abort();
  await assert.rejects(memory.grepHistory('tea', { signal }), { code: 'ECANCELED' });
});

test('the files of a time are shown, and what one held', async () => {
  const memory = new Memory('memory:', { history: true });
  await memory.write(path, 'green\n');
  await pause();
  const before = new Date();
  await pause();
  await memory.write(path, 'black tea\n');
  await memory.delete({ path });

  const [file, ...more] = await memory.filesAt(before);
  const first = (await memory.history()).at(-1)!;
  const { modified, ...rest } = file!;
  assert.deepEqual(rest, { path, size: 6, version: first.id });
  assert(modified! <= before);
  assert.deepEqual(more, []);
  // A date has whole milliseconds; the time of a version is one with this version.
  assert.equal((await memory.filesAt(first.time)).length, 1);
  assert.deepEqual(await memory.filesAt(new Date()), []);
  const content = await memory.readAt(path, before);
  assert.equal(new TextDecoder().decode(content!), 'green\n');
  assert.equal(await memory.readAt(path, new Date()), null);
  assert.equal(await memory.readAt('/memories/other.md', before), null);
  await assert.rejects(memory.readAt('elsewhere', before), HistoryError);
  await assert.rejects(memory.filesAt(new Date(NaN)), /at must be a valid Date/);
  await assert.rejects(memory.filesAt('now' as never), ConfigError);
  await assert.rejects(new Memory('memory:').filesAt(before), HistoryError);
});
