// The `context_management` of a request, compared with Python's.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, contextManagement, memoryTool } from 'memdir';

import { project } from './consumer.mjs';
import { PROJECT, run } from './support.mjs';

const tokens = (value: number) => ({ type: 'input_tokens', value });

test('context management clears old results, and none of the memory', () => {
  const clear = {
    type: 'clear_tool_uses_20250919',
    trigger: tokens(100_000),
    keep: { type: 'tool_uses', value: 3 },
    exclude_tools: ['memory'],
  };
  assert.deepEqual(contextManagement(), { edits: [clear] });
  const given = { clearAt: 50_000, keep: 0, clearAtLeast: 0, excludeTools: ['web'], compactAt: 1 };
  assert.deepEqual(contextManagement(given), {
    edits: [
      {
        ...clear,
        trigger: tokens(50_000),
        keep: { type: 'tool_uses', value: 0 },
        exclude_tools: ['memory', 'web'],
        clear_at_least: tokens(0),
      },
      { type: 'compact_20260112', trigger: tokens(1) },
    ],
  });
  assert.deepEqual(contextManagement({ clearAt: null, compactAt: null }), { edits: [] });
  const unset = {
    clearAt: undefined,
    keep: undefined,
    clearAtLeast: null,
    excludeTools: undefined,
  };
  assert.deepEqual(contextManagement(unset), { edits: [clear] });
  assert.throws(() => contextManagement({ keep: -1 }), {
    name: 'ConfigError',
    message: 'keep must be a whole number from 0 on, got -1',
  });
});

test('the SDK sends it as it is, with its betas', async () => {
  const sent: { body: Record<string, unknown>; beta: string | null }[] = [];
  const client = new Anthropic({
    apiKey: 'none',
    fetch: (_, init) => {
      const beta = new Headers(init?.headers as Record<string, string>).get('anthropic-beta');
      sent.push({ body: JSON.parse(String(init?.body)) as Record<string, unknown>, beta });
      const message = { role: 'assistant', content: [], stop_reason: 'end_turn', usage: {} };
      return Promise.resolve(Response.json({ type: 'message', ...message }));
    },
  });
  const management = contextManagement({ compactAt: 150_000 });
  await client.beta.messages.create({
    model: 'claude-sonnet-5-5',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'Hi.' }],
    tools: [memoryTool('memory:')],
    betas: [CONTEXT_MANAGEMENT_BETA, COMPACTION_BETA],
    context_management: management,
  });
  assert.deepEqual(sent[0]?.body['context_management'], management);
  assert.equal(sent[0]?.beta, 'context-management-2025-06-27,compact-2026-01-12');
});

test('the example of docs/guides/long-conversations.md runs', async (t) => {
  const page = readFileSync(new URL('docs/guides/long-conversations.md', PROJECT), 'utf8');
  // A block after a comment is quoted from a file, which has a test of its own.
  const example = /(?<!-->)\n```ts\n(.*?)```/s.exec(page)?.[1] ?? '';
  const directory = project('@anthropic-ai/sdk');
  writeFileSync(join(directory, 'example.mjs'), `${example}console.log('done');\n`);

  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => (body += String(data)));
    request.on('end', () => {
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      const applied = { type: 'clear_tool_uses_20250919', cleared_tool_uses: 1 };
      const answer = {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Done.' }],
        stop_reason: 'end_turn',
        usage: {},
        context_management: { applied_edits: [applied] },
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = {
    ...process.env,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'none',
  };
  const ran = await run(process.execPath, ['example.mjs'], { cwd: directory, env });
  assert.deepEqual(ran, { status: 0, stdout: 'done\n', stderr: '' });
  const expected = contextManagement({ clearAt: 50_000, compactAt: 150_000 });
  assert.deepEqual(
    bodies.map((body) => body['context_management']),
    [expected],
  );
});
