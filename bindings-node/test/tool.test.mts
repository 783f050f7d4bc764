// The tool object, and the error class that the SDK's runner checks, as ESM. `tool.test.cts` does
// the same for CommonJS.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { Memory, memoryTool } from 'memdir';

import { require } from './support.mjs';

test('a tool is a plain object with keys of its own, of which the API gets two', () => {
  const tool = memoryTool('memory:');
  assert.equal(Object.getPrototypeOf(tool), Object.prototype);
  assert.deepEqual(Object.keys(tool), ['type', 'name', 'run', 'parse']);
  assert.equal(JSON.stringify(tool), '{"type":"memory_20250818","name":"memory"}');
  assert.deepEqual(JSON.parse(JSON.stringify({ ...tool, cache_control: { type: 'ephemeral' } })), {
    type: 'memory_20250818',
    name: 'memory',
    cache_control: { type: 'ephemeral' },
  });
});

test('run answers, and throws the ToolError of the ESM SDK', async () => {
  const tool = memoryTool('memory:');
  const create = tool.parse({ command: 'create', path: '/memories/a', file_text: 'a' });
  assert.equal(await tool.run(create), 'File created successfully at: /memories/a');
  await assert.rejects(tool.run(create), (error) => {
    assert.ok(error instanceof ToolError);
    assert.ok(!(error instanceof require('@anthropic-ai/sdk/lib/tools/ToolError').ToolError));
    assert.equal(error.content, 'Error: File /memories/a already exists');
    assert.equal(error.message, 'Error: File /memories/a already exists');
    assert.ok(!('cause' in error));
    return true;
  });
  await assert.rejects(tool.run(tool.parse(undefined)), /should be an object .* got null$/);
});

test('a Memory is the handlers of the SDK', async () => {
  const tool = betaMemoryTool(new Memory('memory:'));
  const create = { command: 'create', path: '/memories/a', file_text: 'a' } as const;
  assert.equal(await tool.run(create), 'File created successfully at: /memories/a');
  await assert.rejects(
    async () => tool.run(create),
    (error) =>
      error instanceof ToolError && error.content === 'Error: File /memories/a already exists',
  );
});

test('a tool of a session is that session', async () => {
  const memory = new Memory('memory:', { history: true });
  const session = memory.actingAs('ann');
  const tool = memoryTool(session);
  assert.equal(tool.memory, session);
  await tool.run({ command: 'create', path: '/memories/a', file_text: 'one' });
  assert.deepEqual(
    (await memory.history()).map(({ actor }) => actor),
    ['ann'],
  );
  const withOptions = memoryTool as (...given: unknown[]) => unknown;
  assert.throws(() => withOptions(session, { maxFiles: 5 }), {
    name: 'ConfigError',
    option: 'options',
  });
});

test('a tool has its memory, which no request gets', async () => {
  const tool = memoryTool('memory:');
  await tool.memory.write('/memories/a', 'one');
  assert.match((await tool.run({ command: 'view', path: '/memories/a' })) as string, /\tone$/);
  assert.ok(!('memory' in { ...tool }));
});
