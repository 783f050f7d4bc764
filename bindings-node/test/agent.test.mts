// Tests of an agent, as docs/guides/testing.md explains them. The page quotes this file.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { Memory, memoryTool } from 'memdir';

const TEA = '/memories/tea.md';

// Blocks of a real conversation, as the API sent them.
const LOOK = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'memory',
  input: { command: 'view', path: TEA },
};
const EDIT = {
  type: 'tool_use',
  id: 'toolu_2',
  name: 'memory',
  input: { command: 'str_replace', path: TEA, old_str: 'green', new_str: 'black' },
};

/** A new memory with one file. */
async function filled(): Promise<Memory> {
  const memory = new Memory('memory:', { history: true });
  await memory.write(TEA, '- green\n');
  return memory;
}

test('a preference is corrected', async () => {
  const memory = await filled();
  for (const block of [LOOK, EDIT]) {
    const { content, isError } = await memory.execute(block);
    assert.ok(!isError, String(content));
  }

  assert.equal(await memory.read(TEA), '- black\n');
  const versions = await memory.history();
  assert.deepEqual(
    versions.map(({ operation, path }) => [operation, path]),
    [
      ['modified', TEA],
      ['created', TEA],
    ],
  );
});

test('an existing file is not replaced', async () => {
  const memory = await filled();
  const reply = await memory.execute({ command: 'create', path: TEA, file_text: '- none\n' });
  assert.equal(reply.kind, 'exists');
  assert.equal(await memory.read(TEA), '- green\n');
});

test('nothing is saved while the reviewer is away', async () => {
  const memory = new Memory('memory:', {
    before: () => {
      throw new Error('the reviewer does not answer');
    },
  });
  const reply = await memory.execute({ command: 'create', path: TEA, file_text: '- green\n' });
  assert.equal(reply.kind, 'hook_failed');
  assert.equal(await memory.exists(TEA), false);
});

/** A client of a stand-in for the API. It answers with these contents, one after the other. */
function standIn(contents: object[][]): Anthropic {
  const fetch = async () => {
    const message = { type: 'message', role: 'assistant', content: contents.shift() };
    const stop_reason = contents.length > 0 ? 'tool_use' : 'end_turn';
    return Response.json({ ...message, stop_reason, usage: {} });
  };
  return new Anthropic({ apiKey: 'none', fetch });
}

/** Stands for the agent of your program. */
function agent(client: Anthropic, memory: Memory, message: string) {
  const runner = client.beta.messages.toolRunner({
    model: 'claude-sonnet-5-5',
    max_tokens: 2048,
    messages: [{ role: 'user', content: message }],
    tools: [memoryTool(memory)],
  });
  return runner.runUntilDone();
}

test('a whole conversation', async () => {
  const memory = await filled();
  const client = standIn([[LOOK], [EDIT], [{ type: 'text', text: 'Noted.' }]]);
  await agent(client, memory, 'I like black tea better.');
  assert.equal(await memory.read(TEA), '- black\n');
});
