// The error class that the SDK's runner checks, as CommonJS.

import assert = require('node:assert/strict');
import nodeTest = require('node:test');

import toolErrors = require('@anthropic-ai/sdk/lib/tools/ToolError');
import memdir = require('memdir');

const { test } = nodeTest;

test('run throws the ToolError of the CommonJS SDK', async () => {
  const esm = await import('@anthropic-ai/sdk/lib/tools/ToolError');
  assert.notEqual(esm.ToolError, toolErrors.ToolError);
  const tool = memdir.memoryTool('memory:');
  const remove = tool.parse({ command: 'delete', path: '/memories' });
  await assert.rejects(tool.run(remove), (error) => {
    assert.ok(error instanceof toolErrors.ToolError);
    assert.ok(!(error instanceof esm.ToolError));
    assert.equal(error.content, 'Cannot delete the /memories directory itself');
    return true;
  });
});

test('both module systems have the same names', async () => {
  const esm = await import('memdir');
  assert.deepEqual(
    Object.keys(memdir)
      .filter((name) => name !== 'default')
      .sort(),
    Object.keys(esm)
      .filter((name) => name !== 'default')
      .sort(),
  );
  assert.notEqual(esm.Memory, memdir.Memory);
  // A store opened by one build works in the other.
  const store = memdir.openStore('memory:');
  await new memdir.Memory(store).create({ path: '/memories/a', file_text: 'a' });
  assert.match(String(await new esm.Memory(store).view({ path: '/memories/a' })), /\ta$/);
});
