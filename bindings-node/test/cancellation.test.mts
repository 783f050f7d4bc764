// Calls that are cancelled before they begin to write are not executed, and do not block other
// calls.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { Memory, memoryTool } from 'memdir';
import type { Edit } from 'memdir';

import { MapStore } from './stores.mjs';
import { runScript, temporary } from './support.mjs';

const CANCELLED = 'Error: The command was cancelled before it began. Nothing was changed.';
const VIEW = { command: 'view', path: '/memories/log' } as const;

function insert(text: string) {
  return { command: 'insert', path: '/memories/log', insert_line: 0, insert_text: text } as const;
}

/**
 * Locks a memory's directory, like another process that writes. Returns a function that releases
 * the lock.
 */
async function lock(base: string): Promise<() => Promise<void>> {
  const script = `import fcntl, os, sys
root = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(root, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()`;
  const other = spawn('python3', ['-c', script, join(base, 'memories')], { stdio: 'pipe' });
  await once(other.stdout, 'data');
  return async () => {
    other.stdin.end();
    await once(other, 'exit');
  };
}

test('edits that are given up behind a lock are not applied', async () => {
  const base = temporary();
  const memory = new Memory(base, { durability: 'relaxed', lockTimeout: null });
  const tool = memoryTool(base, { durability: 'relaxed', lockTimeout: null });
  await memory.create({ path: '/memories/log', file_text: '' });
  const release = await lock(base);
  const { signal } = { signal: AbortSignal.timeout(20) };
  const calls = Array.from({ length: 100 }, (_, n) =>
    n % 2
      ? memory.execute(insert(`given up ${n}`), { signal })
      : memory.execute(JSON.stringify(insert(`given up ${n}`)), { signal }),
  );
  const run = assert.rejects(tool.run(insert('given up'), { signal }), { content: CANCELLED });
  const typed = assert.rejects(memory.insert(insert('given up'), { signal }), {
    content: CANCELLED,
  });
  const kept = memory.execute(insert('kept'), { signal: new AbortController().signal });
  if (!signal.aborted) {
    await once(signal, 'abort');
  }
  await setTimeout(20);
  await release();
  for (const { content, isError, cause } of await Promise.all(calls)) {
    assert.deepEqual([content, isError], [CANCELLED, true]);
    assert.match(String(cause), /cancelled/);
  }
  await Promise.all([run, typed]);
  assert.equal((await kept).isError, false);
  assert.equal(readFileSync(join(base, 'memories/log'), 'utf8'), 'kept\n');
});

test('a signal that is aborted already', async () => {
  const memory = new Memory('memory:');
  const given = { command: 'create', path: '/memories/a', file_text: 'x' };
  const { content, isError } = await memory.execute(given, { signal: AbortSignal.abort() });
  assert.deepEqual([content, isError], [CANCELLED, true]);
  assert.ok((await memory.execute({ command: 'view', path: '/memories/a' })).isError);
});

test('a signal that is aborted while a hook is asked', async () => {
  const controller = new AbortController();
  const memory = new Memory('memory:', { before: () => controller.abort() });
  const given = { command: 'create', path: '/memories/a', file_text: 'x' };
  const { content } = await memory.execute(given, { signal: controller.signal });
  assert.equal(content, CANCELLED);
});

test('a store in JavaScript that waits for its turn', async () => {
  let asked = () => {};
  const waiting = new Promise<void>((resolve) => (asked = resolve));
  let goOn = () => {};
  const turn = new Promise<void>((resolve) => (goOn = resolve));
  class Held extends MapStore {
    override async update(path: string, edit: Edit): Promise<void> {
      asked();
      await turn;
      super.update(path, edit);
    }
  }
  const memory = new Memory(new Held());
  await memory.create({ path: '/memories/log', file_text: '' });
  const controller = new AbortController();
  const call = memory.execute(insert('given up'), { signal: controller.signal });
  await waiting;
  controller.abort();
  goOn();
  assert.equal((await call).content, CANCELLED);
  await memory.insert(insert('kept'));
  assert.match(String(await memory.view(VIEW)), /\tkept$/);
});

test('a signal keeps no listeners, and the process does not wait for it', async () => {
  const ran = await runScript(`
    import { getEventListeners } from 'node:events';
    import { Memory } from 'memdir';
    const memory = new Memory('memory:');
    const { signal } = new AbortController();
    for (let n = 0; n < 50; n += 1) {
      await memory.execute({ command: 'view', path: '/memories' }, { signal });
    }
    console.log(getEventListeners(signal, 'abort').length);
  `);
  assert.deepEqual(ran, { status: 0, stdout: '0\n', stderr: '' });
});

test('views are shown while any number of writers wait', async () => {
  const base = temporary();
  const memory = new Memory(base, { durability: 'relaxed', lockTimeout: null });
  await memory.create({ path: '/memories/log', file_text: '' });
  const release = await lock(base);
  const writers = Array.from({ length: 200 }, (_, n) => memory.execute(insert(`${n}`)));
  try {
    for (let n = 0; n < 50; n += 1) {
      assert.ok(!(await memory.execute(VIEW)).isError);
      assert.ok(!(await memory.execute(JSON.stringify(VIEW))).isError);
    }
  } finally {
    await release();
  }
  assert.ok((await Promise.all(writers)).every(({ isError }) => !isError));
  assert.equal(readFileSync(join(base, 'memories/log'), 'utf8').split('\n').length, 201);
});

test('where no thread can be had the store is out of reach', async () => {
  // The limit does not apply to root, so the program continues as the user `nobody`, who may then
  // start no process.
  const ran = await runScript(`
    import { execFileSync } from 'node:child_process';
    import { Memory, memoryTool, openStore } from 'memdir';
    const events = [];
    const memory = new Memory('memory:');
    const hooked = new Memory('memory:', { after: ({ outcome }) => events.push(outcome) });
    const store = openStore('memory:');
    const tool = memoryTool('memory:');
    await import('@anthropic-ai/sdk/lib/tools/ToolError').catch(() => {});
    execFileSync('prlimit', ['--nproc=0:0', '--pid', String(process.pid)]);
    if (process.getuid() === 0) process.setuid(65534);
    const create = { command: 'create', path: '/memories/a', file_text: 'x' };
    for (const each of [memory, hooked]) {
      const { content, isError, cause } = await each.execute(create);
      console.log(content, isError, /^starting a thread: /.test(cause.message));
    }
    console.log(events.join());
    console.log(await tool.run(create).catch((error) => error.content));
    console.log(await store.write('/memories/a', Buffer.from('x'), false).catch(({ code }) => code));
    console.log((await memory.execute({ command: 'view' })).content);
  `);
  const sentence =
    'Error: The memory directory cannot be reached at the moment. Nothing was changed; try again later.';
  assert.deepEqual(ran.stdout.trim().split('\n'), [
    `${sentence} true true`,
    `${sentence} true true`,
    'failed',
    sentence,
    'EIO',
    'Error: Missing `path` parameter for the `view` command: expected a string',
  ]);
  assert.equal(ran.status, 0);
});
