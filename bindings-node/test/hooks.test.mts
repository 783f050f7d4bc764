// Hooks: their decisions, the handling of their errors, and that no thread waits for them.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { getEventListeners, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { HookError, Memory, Deny, StoreError, memoryTool, openStore } from 'memdir';
import type { Before, CallContext, CallOptions, Event, HookCall, MemoryOptions } from 'memdir';

import { MapStore } from './stores.mjs';
import { PACKAGE, PROJECT, runScript } from './support.mjs';

const path = '/memories/a';
const create = { command: 'create', path, file_text: 'one\n' } as const;
const UNCHECKED =
  'Error: The command was not carried out, because the program that runs this memory could not ' +
  'check it. Nothing was changed; try again later.';

test('a denial is an answer everywhere', async () => {
  const before: Before = ({ command }) => {
    throw new Deny(`Not ${command}.`);
  };
  const memory = new Memory('memory:', { before });
  for (const input of [create, JSON.stringify(create)]) {
    const denied = { content: 'Not create.', isError: true, kind: 'denied' };
    assert.deepEqual(await memory.execute(input), denied);
  }
  for (const call of [
    () => memory.view({ path }),
    () => memory.create(create),
    () => memory.str_replace({ path, old_str: 'a', new_str: 'b' }),
    () => memory.insert({ path, insert_line: 0, insert_text: 'x' }),
    () => memory.delete({ path }),
    () => memory.rename({ old_path: path, new_path: '/memories/b' }),
    () => memoryTool('memory:', { before }).run(create),
  ]) {
    await assert.rejects(call(), { name: 'ToolError', message: /^Not \w+\.$/ });
  }
});

test('a hook learns who acts and what would change, and an approval holds for that', async () => {
  const seen: string[] = [];
  let meanwhile = async () => {};
  const events: (string | undefined)[] = [];
  const memory = new Memory('memory:', {
    before: async (_, call) => {
      seen.push(`${call.actor} ${call.toolUseId} ${await call.diff()}`);
      assert.ok(call.session !== '' && !call.signal.aborted);
      await meanwhile();
    },
    after: ({ actor, outcome }) => events.push(actor, outcome),
  });
  const ann = memory.actingAs('ann');
  const block = { type: 'tool_use', id: 'toolu_1', name: 'memory', input: create };
  assert.equal((await ann.execute(block)).isError, false);
  assert.deepEqual(seen, ['ann toolu_1 --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n']);
  meanwhile = () => memory.write(path, 'two\n');
  assert.equal((await ann.execute({ command: 'delete', path })).kind, 'changed');
  meanwhile = async () => {};
  const missing = await ann.execute({ command: 'delete', path: '/memories/none' });
  assert.deepEqual([missing.kind, missing.cause], ['not_found', undefined]);
  await assert.rejects(ann.delete({ path: '/memories/none' }), { kind: 'not_found' });
  assert.equal(await memory.read(path), 'two\n');
  assert.deepEqual(events, ['ann', 'ok', 'ann', 'refused', 'ann', 'refused', 'ann', 'refused']);
});

test('what before is given is the command, which cannot be changed in place', async () => {
  const seen: unknown[] = [];
  const memory = new Memory('memory:', {
    before: (command) => {
      seen.push(command);
      (command as { path: string }).path = '/memories/b';
    },
  });
  const { cause } = await memory.execute({ ...create, path: '/memories//a/' });
  assert.ok(cause instanceof HookError && cause.cause instanceof TypeError);
  await memory.execute({ command: 'view', path, view_range: ['2', -1] });
  assert.deepEqual(seen, [create, { command: 'view', path, view_range: [2, -1] }]);
});

test('what is returned changes the text and nothing else', async () => {
  let returned: unknown;
  const store = openStore('memory:');
  const memory = new Memory(store, {
    before: () => returned as object,
    onExisting: 'overwrite',
  });
  for (const right of [{ file_text: 'two' }, { ...create, file_text: 'two' }]) {
    returned = right;
    await memory.create(create);
    assert.equal(Buffer.from(await store.read(path)).toString(), 'two');
    await store.delete(path);
  }
  for (const wrong of [
    {},
    { file_text: null },
    { filetext: 'two' },
    { file_text: 'two', path: '/memories/b' },
    Object.create({ file_text: 'two' }),
    'two',
    1,
    true,
    () => {},
  ]) {
    returned = wrong;
    const { content, cause } = await memory.execute(create);
    assert.equal(content, UNCHECKED);
    assert.ok(cause instanceof HookError);
  }
  returned = { file_text: 'two' };
  assert.ok((await memory.execute({ command: 'delete', path })).cause instanceof HookError);
  assert.deepEqual(await store.list('/memories'), []);
});

test('what before throws is the cause, and the model reads nothing of it', async () => {
  for (const before of [
    () => {
      throw new RangeError('rules.internal');
    },
    () => Promise.reject(new RangeError('rules.internal')),
  ]) {
    const memory = new Memory('memory:', { before });
    const { content, isError, cause } = await memory.execute(create);
    assert.deepEqual([content, isError], [UNCHECKED, true]);
    assert.ok(cause instanceof HookError && cause.cause instanceof RangeError);
    assert.match(cause.message, /rules\.internal/);
    await assert.rejects(memory.create(create), (error: Error) => {
      return error.message === UNCHECKED && error.cause instanceof HookError;
    });
  }
});

test('a diff is asked for before before returns', async () => {
  let kept: HookCall | undefined;
  const memory = new Memory('memory:', { before: (_, call) => void (kept = call) });
  await memory.execute(create);
  await memory.execute({ command: 'delete', path });
  const late = { name: 'HookError', message: /^ask for the diff before the hook before returns$/ };
  await assert.rejects(async () => kept?.diff(), late);
  // The same after a call that was cancelled while the hook waited.
  const controller = new AbortController();
  const waiting = new Memory('memory:', {
    before: (_, call) => {
      kept = call;
      controller.abort();
      return new Promise<void>(() => {});
    },
  });
  const { kind } = await waiting.execute(create, { signal: controller.signal });
  assert.equal(kind, 'cancelled');
  await assert.rejects(async () => kept?.diff(), late);
});

test('a getter of what before returns may throw: the hook has failed', async () => {
  const thrown = new RangeError('mine');
  const outcomes: string[] = [];
  const throwing = () => {
    throw thrown;
  };
  for (const returned of [
    Object.defineProperty({}, 'file_text', { get: throwing, enumerable: true }),
    new Proxy({}, { ownKeys: throwing }),
  ]) {
    const memory = new Memory('memory:', {
      before: () => returned,
      after: ({ outcome }) => void outcomes.push(outcome),
    });
    const reply = await memory.execute(create);
    assert.equal(reply.kind, 'hook_failed');
    assert.equal(reply.cause?.cause, thrown);
    assert.equal(await memory.exists(path), false);
  }
  assert.deepEqual(outcomes, ['failed', 'failed']);
});

test('a HookError has its kind', async () => {
  const memory = new Memory('memory:', {
    before: () => {
      throw new Error('mine');
    },
  });
  assert.equal((await memory.execute(create)).cause?.kind, 'hook_failed');
});

test('what after throws is a warning, and what is done is done', async () => {
  for (const after of [
    () => {
      throw new RangeError('of the log');
    },
    async () => Promise.reject(new RangeError('of the log')),
  ]) {
    const warned = once(process, 'warning');
    const memory = new Memory('memory:', { after });
    assert.match(await memory.create(create), /^File created/);
    const [warning] = (await warned) as [Error];
    assert.equal(warning.name, 'MemdirWarning');
    assert.match(warning.message, /RangeError: of the log/);
    assert.match(String(await new Memory('memory:').view({ path: '/memories' })), /4\.0K/);
  }
});

test('a hook may use its own memory', async () => {
  const outcomes: string[] = [];
  const memory: Memory = new Memory(new MapStore(), {
    before: async ({ command }) => {
      await sleep(1);
      await memory.view({ path: '/memories' });
      if (command === 'delete') {
        await memory.rename({ old_path: path, new_path: '/memories/archived' });
        throw new Deny('It was archived.');
      }
    },
    after: async ({ outcome }) => {
      await memory.execute({ ...create, path: `/memories/log-${outcomes.length}` });
      outcomes.push(outcome);
    },
  });
  await memory.create(create);
  assert.ok((await memory.execute({ command: 'delete', path })).isError);
  assert.deepEqual(outcomes, ['ok', 'denied']);
  assert.match(String(await memory.view({ path: '/memories' })), /archived\n.*log-0\n.*log-1/);
  // This command was not issued by a hook.
  assert.equal(outcomes.length, 3);
});

const CANCELLED = 'Error: The command was cancelled before it began. Nothing was changed.';

test('a call that is cancelled while before waits ends at once, and its answer is ignored', async () => {
  const store = new MapStore();
  for (const answer of [
    () => undefined,
    () => ({ file_text: 'two' }),
    () => {
      throw new Deny('Too late.');
    },
    () => {
      throw new RangeError('too late');
    },
  ]) {
    const outcomes: string[] = [];
    let asked: (call: CallContext) => void = () => {};
    let goOn: () => void = () => {};
    const options: MemoryOptions = {
      before: async (_, call) => {
        asked(call);
        await new Promise<void>((resolve) => (goOn = resolve));
        return answer();
      },
      after: ({ outcome }, { signal }) => outcomes.push(`${outcome} ${signal?.aborted}`),
    };
    const memory = new Memory(store, options);
    const tool = memoryTool(store, options);
    for (const call of [
      (given: CallOptions) => memory.execute(create, given).then(({ content }) => content),
      (given: CallOptions) =>
        memory.execute(JSON.stringify(create), given).then(({ content }) => content),
      (given: CallOptions) => memory.create(create, given).catch(({ content }) => content),
      (given: CallOptions) => tool.run(create, given).catch(({ content }) => content),
    ]) {
      const isAsked = new Promise<CallContext>((resolve) => (asked = resolve));
      const { signal, abort } = aborting();
      const called = call({ signal });
      assert.equal((await isAsked).signal, signal);
      abort();
      assert.equal(await called, CANCELLED);
      goOn();
      // An unhandled rejection would end the test here.
      await sleep(1);
    }
    assert.deepEqual(outcomes, Array(4).fill('cancelled true'));
    assert.deepEqual(store.list('/memories'), []);
  }
});

test('a hook that stops because of the signal has not failed', async () => {
  const controller = new AbortController();
  const memory = new Memory('memory:', {
    before: async (_, { signal }) => {
      controller.abort();
      await sleep(60_000, undefined, { signal });
    },
  });
  const { content, cause } = await memory.execute(create, { signal: controller.signal });
  assert.equal(content, CANCELLED);
  assert.ok(cause instanceof StoreError && cause.code === 'ECANCELED');
});

test('no hook asks for a call that is cancelled already, and a wrong one stays wrong', async () => {
  const outcomes: string[] = [];
  const memory = new Memory('memory:', {
    before: () => assert.fail('it is asked'),
    after: ({ outcome }) => outcomes.push(outcome),
  });
  const aborted = { signal: AbortSignal.abort() };
  assert.equal((await memory.execute(create, aborted)).content, CANCELLED);
  assert.match(
    String((await memory.execute({ command: 'view' }, aborted)).content),
    /Missing `path`/,
  );
  assert.deepEqual(outcomes, ['cancelled', 'refused']);
});

test('a call whose after waits ends when it is cancelled, with the reply that it has', async () => {
  const store = new MapStore();
  let told: () => void = () => {};
  let fail: () => void = () => {};
  const memory = new Memory(store, {
    after: (_, { signal }) => {
      assert.ok(signal);
      told();
      return new Promise((_resolve, reject) => (fail = () => reject(new RangeError('of the log'))));
    },
  });
  const isTold = new Promise<void>((resolve) => (told = resolve));
  const { signal, abort } = aborting();
  const called = memory.execute(create, { signal });
  await isTold;
  abort();
  assert.match(String((await called).content), /^File created/);
  assert.equal(Buffer.from(store.read(path)).toString(), 'one\n');
  const warned = once(process, 'warning');
  fail();
  assert.match(((await warned)[0] as Error).message, /of the log/);
});

test('a signal is free of a call that has ended', async () => {
  const memory = new Memory(new MapStore(), {
    before: () => sleep(1),
    after: () => sleep(1),
  });
  const { signal } = aborting();
  await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      memory.execute({ ...create, path: `${path}${n}` }, { signal }),
    ),
  );
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a process ends by itself when a hook never answers', async () => {
  const script = `
    import { Memory } from 'memdir';
    globalThis.kept = [];
    const controller = new AbortController();
    const never = () =>
      new Promise((...settle) => {
        if (kept.push(settle) === 1) setImmediate(() => controller.abort());
      });
    const memory = new Memory('memory:', { before: never, after: never });
    const { content } = await memory.execute({ command: 'view', path: '/memories' }, { signal: controller.signal });
    console.log(content, kept.length);`;
  assert.deepEqual(await runScript(script), { status: 0, stdout: `${CANCELLED} 2\n`, stderr: '' });
});

test('two memories may ask each other', async () => {
  const calls = { one: 0, two: 0 };
  const hooks = (name: 'one' | 'two', other: () => Memory): MemoryOptions => ({
    before: async () => {
      calls[name] += 1;
      await other().view({ path: '/memories' });
    },
  });
  const one: Memory = new Memory(
    'memory:',
    hooks('one', () => two),
  );
  const two: Memory = new Memory(
    'memory:',
    hooks('two', () => one),
  );
  await one.view({ path: '/memories' });
  assert.deepEqual(calls, { one: 1, two: 1 });
});

test('more hooks wait than there are threads', async () => {
  const inner = new Memory('memory:');
  let waiting = 0;
  let all: () => void = () => {};
  const everybody = new Promise<void>((resolve) => (all = resolve));
  const events: Event[] = [];
  const memory = new Memory('memory:', {
    before: async ({ command }) => {
      if (command === 'insert') {
        waiting += 1;
        if (waiting === 300) {
          all();
        }
        await everybody;
        await inner.view({ path: '/memories' });
      }
    },
    after: (event) => events.push(event),
  });
  await memory.create({ path, file_text: '' });
  const insert = { path, insert_line: 0, insert_text: 'x' };
  await Promise.all(Array.from({ length: 300 }, () => memory.insert(insert)));
  assert.equal(String(await memory.view({ path })).match(/\tx/g)?.length, 300);
  assert.equal(events.length, 302);
});

test('what is no function is told at once', () => {
  for (const name of ['before', 'after']) {
    const options = { [name]: 3 } as MemoryOptions;
    assert.throws(() => new Memory('memory:', options), {
      name: 'ConfigError',
      option: name,
      message: `${name} must be a function, or null, got 3`,
    });
  }
  assert.doesNotThrow(() => new Memory('memory:', { before: undefined, after: undefined }));
});

test('a hook keeps Node alive for as long as it takes, and no longer', async () => {
  const script = `
    import { Memory } from 'memdir';
    const memory = new Memory('memory:', { before: async () => {}, after: () => {} });
    const { isError } = await memory.execute({ command: 'view', path: '/memories' });
    console.log(isError);`;
  assert.deepEqual(await runScript(script), { status: 0, stdout: 'false\n', stderr: '' });
});

test("the SDK's tool runner sends a denial back with is_error", async () => {
  const memory = new Memory('memory:', {
    before: ({ command }) => {
      if (command === 'delete') {
        throw new Deny('Nothing is deleted here.');
      }
    },
  });
  const tools = { handlers: betaMemoryTool(memory), tool: memoryTool('memory:', { before: deny }) };
  for (const tool of Object.values(tools)) {
    const results: unknown[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) {
        body += piece;
      }
      const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
      const last = messages.at(-1)?.content;
      const use = {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'memory',
        input: { command: 'delete', path },
      };
      const first = last === 'Go.';
      if (!first) {
        results.push(last);
      }
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-stand-in',
          content: [first ? use : { type: 'text', text: 'Done.' }],
          stop_reason: first ? 'tool_use' : 'end_turn',
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const client = new Anthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}` });
      await client.beta.messages.toolRunner({
        model: 'claude-stand-in',
        max_tokens: 1024,
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [tool],
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
    assert.equal(results.length, 1);
    const [result] = (results[0] as Record<string, unknown>[]).filter(
      ({ type }) => type === 'tool_result',
    );
    assert.equal(result?.['is_error'], true);
    assert.match(JSON.stringify(result?.['content']), /Nothing is deleted here\./);
  }
});

test('the page has the code that runs here', async () => {
  const log: unknown[] = [];
  // example
  const memory = new Memory('memory:', {
    before: async (command) => {
      if (command.command === 'delete') {
        throw new Deny('Nothing is deleted here: rename it to /memories/archive instead.');
      }
      if (command.command === 'create') {
        return { file_text: command.file_text.replaceAll('Anna Kareva', 'A. K.') };
      }
      return undefined;
    },
    after: ({ command, path, outcome, bytes }) => log.push({ command, path, outcome, bytes }),
  });
  // end
  await memory.create({ path, file_text: 'Anna Kareva likes tea.\n' });
  await assert.rejects(memory.delete({ path }), /Nothing is deleted here/);
  assert.deepEqual(log, [
    { command: 'create', path, outcome: 'ok', bytes: 17 },
    { command: 'delete', path, outcome: 'denied', bytes: 0 },
  ]);

  const source = readFileSync(new URL('test/hooks.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ example\n(.*?)\n *\/\/ end/s.exec(source)?.[1]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/reference/policies/hooks.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript-hooks -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('the page shows how a hook passes the signal on', async () => {
  let answers = true;
  const server = createServer((_, response) => {
    if (answers) {
      response.writeHead(403).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const rules = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const input = create;
  // signal
  const memory = new Memory('memory:', {
    before: async (command, { signal }) => {
      const answer = await fetch(rules, { method: 'POST', body: JSON.stringify(command), signal });
      if (!answer.ok) {
        throw new Deny('Error: The rules do not allow this. Nothing was changed.');
      }
    },
  });
  const { content } = await memory.execute(input, { signal: AbortSignal.timeout(30_000) });
  // end of signal
  assert.equal(content, 'Error: The rules do not allow this. Nothing was changed.');
  answers = false;
  const asked = once(server, 'request');
  const { signal, abort } = aborting();
  const called = memory.execute(input, { signal });
  await asked;
  abort();
  assert.equal((await called).content, CANCELLED);
  server.close();
  server.closeAllConnections();

  const source = readFileSync(new URL('test/hooks.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ signal\n(.*?)\n *\/\/ end of signal/s
    .exec(source)?.[1]
    ?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/reference/policies/hooks.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript-signal -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

function deny(): void {
  throw new Deny('Nothing is deleted here.');
}

function aborting(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
