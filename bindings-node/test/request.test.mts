// What a request carries beside the memory, as Python's package makes it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, contextManagement, memoryTool } from 'memdir';

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
