// Past states of a memory: the history is searched, and shows the files at a time.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { ConfigError, HistoryError, imageType, Memory } from 'memdir';

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
  // A date has whole milliseconds, and the state at a version's time includes the version.
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

test('each line has the version that brought it', async () => {
  const memory = new Memory('memory:', { history: true });
  await memory.actingAs('Ann').write(path, 'green\nblack\r\n');
  await memory.actingAs('Ben').str_replace({ path, old_str: 'green', new_str: 'white' });
  const versions = await memory.history();
  const texts = ['white', 'black\r'];
  const expected = versions.map(({ id, change, operation, actor, time }, at) => ({
    line: at + 1,
    text: texts[at],
    version: id,
    change,
    operation,
    actor,
    time,
    mayBeOlder: false,
  }));
  assert.deepEqual(await memory.blame(path), expected);
  await assert.rejects(memory.blame('/memories/none'), { name: 'HistoryError', kind: 'no_file' });
  await assert.rejects(new Memory('memory:').blame(path), { kind: 'off' });
  await assert.rejects(memory.blame(path, { signal: AbortSignal.abort() }), { code: 'ECANCELED' });
});

const skip = process.env['MEMDIR_WASM'] === '1' && 'WebAssembly has the stores in the process';

test('a line that was not recorded has no version', { skip }, async () => {
  const place = mkdtempSync(join(tmpdir(), 'memdir-'));
  try {
    const memory = new Memory(place, { history: true });
    mkdirSync(join(place, 'memories'), { recursive: true });
    writeFileSync(join(place, 'memories', 'tea.md'), 'green\n');
    assert.deepEqual(await memory.blame(path), [{ line: 1, text: 'green', mayBeOlder: true }]);
    writeFileSync(join(place, 'memories', 'tea.md'), Buffer.from([0xff]));
    await assert.rejects(memory.blame(path), { kind: 'not_text', paths: [path] });
  } finally {
    rmSync(place, { recursive: true });
  }
});

test('a part of an id is resolved', async () => {
  const memory = new Memory('memory:', { history: true });
  await memory.write(path, 'green\n');
  await memory.write(path, 'black\n');
  const { id } = (await memory.history())[0]!;
  assert.equal(await memory.resolveId(id), id);
  assert.equal(await memory.resolveId(id.slice(-12).toUpperCase()), id);
  const is = (kind: string) => (error: unknown) =>
    error instanceof HistoryError && error.kind === kind;
  await assert.rejects(memory.resolveId(id.slice(0, 6)), is('ambiguous'));
  await assert.rejects(memory.resolveId('01990a3c-7c00-7123-8456-789abc000000'), is('unknown'));
  await assert.rejects(memory.resolveId('tea'), is('no_id'));
  await assert.rejects(memory.resolveId(5 as never), ConfigError);
  await assert.rejects(new Memory('memory:').resolveId(id), is('off'));
});

test('the history is exported for git', async () => {
  const memory = new Memory('memory:', { history: true, actor: 'ann' });
  await memory.write(path, 'green\n');
  const stream = new TextDecoder().decode(await memory.exportHistory());
  assert(stream.startsWith('feature done\n') && stream.endsWith('done\n'));
  assert.match(stream, /committer ann <>/);
  await assert.rejects(new Memory('memory:').exportHistory(), HistoryError);
});

test('a file is read as a model may see it', async () => {
  const memory = new Memory('memory:', { sensitiveOnView: true });
  await memory.write(path, 'url: postgres://app:t7Kq-9zLw2@db/app\n');
  assert.match(await memory.read(path), /t7Kq-9zLw2/);
  const shown = 'url: postgres://app:[REDACTED:url-password]@db/app\n';
  assert.equal(await memory.readShown(path), shown);
  await assert.rejects(memory.readShown('/memories/none'), /does not exist/);
  await assert.rejects(memory.readShown(5 as never), ConfigError);
});

test('whole images are recognised', () => {
  const png = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1,
  ];
  const header = Uint8Array.from([...png, 8, 2, 0, 0, 0, 1, 2, 3, 4]);
  const whole = Uint8Array.from([...header, 0, 0, 0, 0, 73, 69, 78, 68, 1, 2, 3, 4]);
  assert.equal(imageType(whole), 'image/png');
  // A truncated image is not an image, even if its beginning is valid.
  assert.equal(imageType(header), null);
  assert.equal(imageType(new TextEncoder().encode('# notes\n')), null);
  assert.equal(imageType(new Uint8Array()), null);
  assert.throws(() => imageType('text' as never), TypeError);
});
