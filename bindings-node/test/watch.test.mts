// Changes by any process are reported, and waiting callers can stop.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { ConfigError, Memory, StoreError } from 'memdir';
import type { Change } from 'memdir';

import { MapStore } from './stores.mjs';
import { runScript, temporary } from './support.mjs';

const skip = process.env['MEMDIR_WASM'] === '1' && 'WebAssembly has the stores in the process';
// Generous: it is reached only if a call waits forever.
const SOON = 60_000;
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));
const told = (changes: Change[]) => changes.map(({ kind, path }) => `${kind} ${path}`);

test('what this process changes is told at once', async () => {
  const memory = new Memory('memory:');
  const watch = memory.watch({ path: '/memories/team', every: 3_600_000 });
  assert.deepEqual(await watch.changes(0), []);
  await memory.write('/memories/a.md', 'one\n');
  await memory.write('/memories/team/a.md', 'one\n');
  assert.deepEqual(await watch.changes(SOON), [{ kind: 'written', path: '/memories/team/a.md' }]);
  await memory.rename({ old_path: '/memories/team', new_path: '/memories/group' });
  assert.deepEqual(told(await watch.changes(SOON)), ['deleted /memories/team/a.md']);
  assert.deepEqual(await watch.changes(1), []);
});

test('what another process and what a plain write changes is told', { skip }, async () => {
  const place = temporary();
  const watch = new Memory(`dir:${place}`).watch({ every: 20 });
  assert.deepEqual(await watch.changes(0), []);
  const script = `
    import { Memory } from 'memdir';
    await new Memory(${JSON.stringify(`dir:${place}`)}).write('/memories/other.md', 'one');
  `;
  const { status, stderr } = await runScript(script);
  assert.equal(status, 0, stderr);
  assert.deepEqual(told(await watch.changes(SOON)), ['written /memories/other.md']);
  mkdirSync(join(place, 'more'));
  writeFileSync(join(place, 'more', 'plain.md'), 'two\n');
  for await (const change of watch) {
    assert.deepEqual(change, { kind: 'written', path: '/memories/more/plain.md' });
    rmSync(join(place, 'more'), { recursive: true });
    break;
  }
  assert.deepEqual(await watch.changes(SOON), [], 'leaving the loop closes the watch');
});

test('a loop that waits ends when the watch is closed or the signal is aborted', async () => {
  const memory = new Memory('memory:');
  const stop = new AbortController();
  const watches = [memory.watch(), memory.watch({ signal: stop.signal })];
  for (const watch of watches) {
    // This call waits until the watch has begun.
    assert.deepEqual(await watch.changes(0), []);
  }
  const all: Change[][] = [];
  const loops = watches.map(async (watch) => {
    const found: Change[] = [];
    all.push(found);
    for await (const change of watch) {
      found.push(change);
    }
    return told(found);
  });
  await memory.write('/memories/a.md', 'one\n');
  while (all.some((found) => found.length === 0)) {
    await pause(10);
  }
  watches[0]!.close();
  stop.abort();
  const expected = ['written /memories/a.md'];
  assert.deepEqual(await Promise.all(loops), [expected, expected]);
  assert.deepEqual(await watches[0]!.next(), { done: true, value: undefined });
  const aborted = memory.watch({ signal: AbortSignal.abort() });
  assert.deepEqual(await aborted.next(), { done: true, value: undefined });
});

test('what is wrong is said, also to who waits first', async () => {
  const memory = new Memory('memory:');
  await assert.rejects(memory.watch({ path: 'elsewhere' }).next(), { name: 'ToolError' });
  await assert.rejects(memory.watch({ path: 5 as never }).changes(0), ConfigError);
  await assert.rejects(memory.watch({ every: -1 }).changes(0), {
    name: 'ConfigError',
    message: 'every must be a number of milliseconds from 0 on, or null, got -1',
  });
});

test('a failure of the store rejects, and the watch goes on', async () => {
  const store = new MapStore();
  const memory = new Memory(store);
  const watch = memory.watch();
  assert.deepEqual(await watch.changes(0), []);
  await memory.write('/memories/a.md', 'one\n');
  const { list } = store;
  store.list = () => {
    throw new Error('out of reach');
  };
  await assert.rejects(watch.changes(SOON), StoreError);
  store.list = list;
  assert.deepEqual(told(await watch.changes(SOON)), ['written /memories/a.md']);
});

test('a watch that is left does not keep the process alive', async () => {
  const script = `
    import { Memory } from 'memdir';
    const memory = new Memory('memory:');
    const controller = new AbortController();
    const [left, aborted, unused] = [memory.watch(), memory.watch({ signal: controller.signal }), memory.watch()];
    for (const watch of [left, aborted, unused]) await watch.changes(0);
    const waiting = aborted.next();
    await memory.write('/memories/a.md', 'one');
    for await (const { path } of left) { console.log(path); break; }
    console.log((await waiting).value.path, await unused.changes(0));
    setTimeout(() => controller.abort(), 100);
    for await (const change of aborted) console.log(change);
    console.log('end');
  `;
  const { status, stdout, stderr } = await runScript(script);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /end\n$/);
});

test('many who wait hold no thread', async () => {
  const memory = new Memory('memory:');
  const watches = Array.from({ length: 200 }, () => memory.watch());
  await Promise.all(watches.map((watch) => watch.changes(0)));
  const waiting = watches.map((watch) => watch.next());
  await pause(200);
  assert.deepEqual(await memory.list(), []);
  await memory.write('/memories/a.md', 'one\n');
  for (const { value } of await Promise.all(waiting)) {
    assert.equal(value?.path, '/memories/a.md');
  }
});
