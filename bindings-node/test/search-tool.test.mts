// The search as a tool beside the memory tool.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { Memory, memoryTool, searchTool } from 'memdir';

const DRINKS = '# Drinks\n\n- Anna prefers green tea. 🍵\n';
const FOUND =
  '/memories/drinks.md\n     1\t# Drinks\n     2\t\n     3\t- Anna prefers green tea. 🍵';

async function drinks(): Promise<Memory> {
  const memory = new Memory('memory:');
  await memory.write('/memories/drinks.md', DRINKS);
  await memory.write('/memories/pots.md', 'Two pots for tea.\n');
  return memory;
}

test('the search is a tool of its own, which the API gets with its schema', () => {
  const tool = searchTool(memoryTool('memory:').memory);
  assert.deepEqual(Object.keys(tool), ['name', 'description', 'input_schema', 'run', 'parse']);
  assert.equal(tool.name, 'memory_search');
  assert.deepEqual(Object.keys(tool.input_schema.properties), ['query', 'path', 'limit']);
  assert.deepEqual(tool.input_schema.required, ['query']);
  const memory = new Memory('memory:');
  assert.equal(searchTool(memory, 'x-').name, 'x-search');
  assert.throws(() => searchTool(memory, 'a b'), { name: 'ConfigError', option: 'prefix' });
  const strict = memory.searchToolDefinition('openai', '');
  assert.equal(strict.name, 'search');
  assert.deepEqual(strict.parameters.required, ['query', 'path', 'limit']);
});

test('the search answers every kind of input', async () => {
  const memory = await drinks();
  const tool = searchTool(memory);
  const input = { query: 'Which tea does Anna like?', path: null, limit: 1 };
  assert.equal(await tool.run(tool.parse(input)), FOUND);
  const block = { type: 'tool_use', id: 'a', name: tool.name, input };
  for (const given of [input, JSON.stringify(input), block]) {
    assert.deepEqual(await memory.executeSearch(given), { content: FOUND, isError: false });
  }
  const none = await memory.executeSearch({ query: 'coffee' });
  assert.equal(none.content, 'No file has these words.');
});

test('wrong input of a search is refused with a sentence', async () => {
  const memory = await drinks();
  const wrong: [unknown, string][] = [
    [{}, 'Error: Missing `query` parameter for the `search` command: expected a string'],
    [{ query: 5 }, 'Error: Invalid `query` parameter: expected a string, got the number 5'],
    [
      { query: 'tea', limit: 21 },
      'Error: Invalid `limit` parameter: expected an integer from 1 to 20, got the number 21',
    ],
    [
      { query: 'tea', path: '/memories/no' },
      'The path /memories/no does not exist. Please provide a valid path.',
    ],
    [undefined, 'Error: The input should be an object with `query`, got null'],
  ];
  const tool = searchTool(memory);
  for (const [input, sentence] of wrong) {
    const { content, isError } = await memory.executeSearch(input);
    assert.deepEqual([content, isError], [sentence, true]);
    await assert.rejects(
      tool.run(tool.parse(input)),
      (error) => error instanceof ToolError && error.content === sentence,
    );
  }
});
