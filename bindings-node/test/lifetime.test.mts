// The process's lifetime: it ends by itself, its memory does not grow, and it survives its worker
// threads.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { Memory } from 'memdir';

import { EFFORT, runScript, temporary } from './support.mjs';

const STORES = `
  import { Memory, memoryTool, openStore } from 'memdir';
  import { FileStore, MapStore } from './test/dist/stores.mjs';
  const view = { command: 'view', path: '/memories' };
`;

test('a process ends by itself, with memories still in reach', async () => {
  const ran = await runScript(`${STORES}
    globalThis.kept = [
      new Memory(${JSON.stringify(temporary())}),
      new Memory('memory:'),
      new Memory(openStore('memory:')),
      new Memory(new MapStore()),
      new Memory(await FileStore.at(${JSON.stringify(temporary())})),
    ];
    for (const memory of kept) console.log((await memory.execute(view)).isError);
  `);
  assert.deepEqual(ran, { status: 0, stdout: 'false\n'.repeat(5), stderr: '' });
});

test('a command that is under way is finished first', async () => {
  const ran = await runScript(`${STORES}
    let goOn;
    const isOther = new Promise((resolve) => (goOn = resolve));
    class Slow extends MapStore {
      async read(path) {
        await isOther;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return super.read(path);
      }
    }
    new Memory(new Slow()).execute(view).then(() => console.log('slow'));
    new Memory(${JSON.stringify(temporary())}).execute(view).then(() => { console.log('local'); goOn(); });
  `);
  assert.deepEqual(ran, { status: 0, stdout: 'local\nslow\n', stderr: '' });
});

test('process.exit may come at any time', async () => {
  const ran = await runScript(`${STORES}
    const memories = [new Memory(${JSON.stringify(temporary())}, { durability: 'relaxed' }), new Memory(new MapStore())];
    for (let n = 0; n < 200; n += 1) {
      for (const memory of memories) {
        memory.execute({ command: 'create', path: '/memories/' + n, file_text: 'x' });
      }
    }
    setTimeout(() => process.exit(7), 5);
  `);
  assert.deepEqual(ran, { status: 7, stdout: '', stderr: '' });
});

test('a store that throws where nobody listens does not end the process', async () => {
  const ran = await runScript(`${STORES}
    const memory = new Memory(Object.assign(new MapStore(), { read() { throw new Error('broken'); } }));
    console.log((await memory.execute(view)).isError);
    await memory.view({ path: '/memories/a' }).catch((error) => console.log(error.name));
  `);
  assert.deepEqual(ran, { status: 0, stdout: 'true\nToolError\n', stderr: '' });
});

test('worker threads have memories of their own, and may be ended in mid-command', async () => {
  const ran = await runScript(`
    import { Worker } from 'node:worker_threads';
    import { once } from 'node:events';
    const source = ${JSON.stringify(`
      import { parentPort } from 'node:worker_threads';
      ${STORES}
      const local = new Memory(${JSON.stringify(temporary())}, { durability: 'relaxed' });
      class Silent extends MapStore { read() { return new Promise(() => {}); } }
      const silent = new Memory(new Silent());
      silent.execute(view);
      await local.execute(view);
      for (let n = 0; n < 100; n += 1) local.execute(view);
      parentPort.postMessage('busy');
      setInterval(() => {}, 1000);
    `)};
    for (let round = 0; round < 5; round += 1) {
      const worker = new Worker(
        new URL('data:text/javascript,' + encodeURIComponent(source.replaceAll("'memdir'", JSON.stringify(import.meta.resolve('memdir'))).replaceAll("'./test/dist/stores.mjs'", JSON.stringify(new URL('test/dist/stores.mjs', 'file://' + process.cwd() + '/').href)))),
      );
      const [message] = await once(worker, 'message');
      await worker.terminate();
      console.log(message);
    }
    const { Memory } = await import('memdir');
    console.log((await new Memory('memory:').execute({ command: 'view', path: '/memories' })).isError);
  `);
  assert.deepEqual(ran, { status: 0, stdout: `${'busy\n'.repeat(5)}false\n`, stderr: '' });
});

test('thousands of calls leave nothing behind', async () => {
  // The contents are large, so even a few leaked ones show in the process's memory.
  const count = 2_000 * EFFORT;
  const ran = await runScript(
    `${STORES}
    import { readdirSync } from 'node:fs';
    const base = ${JSON.stringify(temporary())};
    const memories = [new Memory(base, { durability: 'relaxed' }), new Memory(new MapStore())];
    const path = '/memories/a.md';
    async function calls(memory, count) {
      for (let n = 0; n < count; n += 5) {
        await Promise.all([
          memory.execute({ command: 'create', path, file_text: 'line é\\n'.repeat(8_000) }),
          memory.execute(view),
          memory.execute({ command: 'view', path }),
          memory.execute({ command: 'str_replace', path, old_str: 'x', new_str: 'y' }),
          memory.execute({ command: '__proto__' }),
        ]);
        await memory.execute({ command: 'delete', path });
      }
    }
    async function measure() {
      for (let n = 0; n < 5; n += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 20)); }
      return {
        rss: process.memoryUsage().rss,
        heap: process.memoryUsage().heapUsed,
        handles: process.getActiveResourcesInfo().length,
        files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
      };
    }
    for (const memory of memories) await calls(memory, 1_000);
    const before = await measure();
    for (const memory of memories) await calls(memory, ${count});
    const after = await measure();
    console.log(JSON.stringify({ before, after }));
    `,
    '--expose-gc',
  );
  assert.equal(ran.status, 0, ran.stderr);
  const { before, after } = JSON.parse(ran.stdout);
  const growth = `${ran.stdout}`;
  assert.ok(after.rss - before.rss < 12 * 1024 * 1024, growth);
  assert.ok(after.heap - before.heap < 1024 * 1024, growth);
  assert.equal(after.handles, before.handles, growth);
  assert.equal(after.files, before.files, growth);
  console.log(`${count} calls on each of two stores: ${growth}`);
});

test('a writer that waits for another process keeps nobody from working', async () => {
  const base = temporary();
  const memory = new Memory(base, { durability: 'relaxed', lockTimeout: null });
  await memory.create({ path: '/memories/a', file_text: 'a\n' });
  const holder = spawn('python3', [
    '-c',
    'import fcntl, os, sys\n' +
      'fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n' +
      'print("held", flush=True)\n' +
      'sys.stdin.read()',
    join(base, 'memories'),
  ]);
  await once(holder.stdout, 'data');

  let written = 0;
  const writers = Array.from({ length: 10 }, async (_, n) => {
    await memory.insert({ path: '/memories/a', insert_line: 0, insert_text: `${n}` });
    written += 1;
  });
  for (let tick = 0; tick < 5; tick += 1) {
    await setTimeout(10);
    assert.match(String(await memory.view({ path: '/memories/a' })), /\ta$/);
  }
  assert.equal(written, 0);

  holder.stdin.end();
  await Promise.all(writers);
  assert.equal(String(await memory.view({ path: '/memories/a' })).split('\n').length, 12);
});
