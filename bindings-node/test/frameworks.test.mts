// Integrations with other agent frameworks, with the real packages: the Vercel AI SDK and
// LangChain.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createAnthropic } from '@ai-sdk/anthropic';
import { ChatAnthropic } from '@langchain/anthropic';
import { stepCountIs, streamText } from 'ai';
import { createAgent, tool } from 'langchain';
import { Memory } from 'memdir';

import { record, version } from './findings.mjs';
import { playMessages } from './messages.mjs';
import { conversation, play } from './standin.mjs';
import { temporary } from './support.mjs';

const VERCEL = ['Vercel AI SDK', 'ai'] as const;
const LANGCHAIN = ['LangChain', 'langchain'] as const;
const program = (name: string) => fileURLToPath(new URL(`consumer/${name}.mjs`, import.meta.url));

/**
 * The conversation without the parts that LangChain cannot express: its tool has no `view_range`,
 * and its results have no `is_error`.
 */
function plainConversation(): string {
  const file = join(temporary(), 'plain.json');
  const path = '/memories/tea.md';
  const call = (input: object, result: string) => ({ input, result, is_error: false });
  const turns = [
    {
      text: 'I look, and write it down.',
      calls: [
        call(
          { command: 'view', path: '/memories/nowhere' },
          'The path /memories/nowhere does not exist. Please provide a valid path.',
        ),
        call(
          { command: 'create', path, file_text: 'tea: green\n' },
          `File created successfully at: ${path}`,
        ),
      ],
    },
    {
      calls: [
        call({ command: 'create', path, file_text: 'again' }, `Error: File ${path} already exists`),
        call(
          { command: 'insert', path, insert_line: 1, insert_text: 'cups: 2' },
          `The file ${path} has been edited.`,
        ),
      ],
    },
    {
      calls: [
        call(
          { command: 'str_replace', path, old_str: 'green', new_str: 'black' },
          'The memory file has been edited. Here is the snippet showing the change (with line ' +
            'numbers):\n     1\ttea: black\n     2\tcups: 2',
        ),
      ],
    },
    {
      calls: [
        call(
          { command: 'rename', old_path: path, new_path: '/memories/drinks.md' },
          `Successfully renamed ${path} to /memories/drinks.md`,
        ),
      ],
    },
    { calls: [call({ command: 'delete', path }, `Error: The path ${path} does not exist`)] },
    { text: 'Noted.' },
  ];
  const then = { '/memories/drinks.md': 'tea: black\ncups: 2\n' };
  writeFileSync(
    file,
    JSON.stringify({
      about: 'Every command, without what LangChain drops.',
      sessions: [{ user: 'Black tea, two cups.', turns }],
      then,
    }),
  );
  return file;
}

for (const script of ['release-notes.json', 'parallel.json']) {
  test(`${script} through ${version('ai')}, ${version('@ai-sdk/anthropic')}`, async () => {
    await play(conversation(script), program('vercel'), 'stop');
    // The stand-in asserts the flag of every result, but only this conversation has errors.
    record(...VERCEL, { tool: "Claude's own", async: true });
    if (script === 'release-notes.json') {
      record(...VERCEL, { errors: true });
    }
  });
}

test(`every command through ${version('@langchain/anthropic')}, its own tool`, async () => {
  await play(plainConversation(), program('langchain'), 'end_turn', 'theirs');
  record(...LANGCHAIN, { errors: false });
});

test(`parallel.json through ${version('langchain')}, a tool that passes everything on`, async () => {
  await play(conversation('parallel.json'), program('langchain'), 'end_turn', 'complete');
  record(...LANGCHAIN, { tool: "Claude's own", async: true });
});

/** A streamed call, and the model's reply to its result. */
const STREAMED = [
  [
    {
      type: 'tool_use' as const,
      id: 'toolu_1',
      name: 'memory',
      input: { command: 'create', path: '/memories/tea.md', file_text: 'grün 🫖\n' },
    },
  ],
  [{ type: 'text' as const, text: 'Noted.' }],
];

test(`a conversation that is streamed through ${version('ai')}`, async (t) => {
  const api = await playMessages(STREAMED);
  t.after(() => api.close());
  const memory = new Memory('memory:', { maxImageBytes: null });
  const anthropic = createAnthropic({ baseURL: `${api.url}/v1`, apiKey: 'not-a-key' });
  const { textStream } = streamText({
    model: anthropic('claude-sonnet-5-5'),
    stopWhen: stepCountIs(5),
    prompt: 'Green tea.',
    tools: {
      memory: anthropic.tools.memory_20250818({
        execute: async (command) => (await memory.execute(command)).content,
      }),
    },
  });
  assert.deepEqual(await pieces(textStream), 'Noted.');
  assert.equal(await memory.read('/memories/tea.md'), 'grün 🫖\n');
  assert.match(JSON.stringify(api.results), /File created successfully at: \/memories\/tea.md/);
  record(...VERCEL, { streaming: true });
});

test(`a conversation that is streamed through ${version('langchain')}`, async (t) => {
  const api = await playMessages(STREAMED);
  t.after(() => api.close());
  const memory = new Memory('memory:', { maxImageBytes: null });
  const agent = createAgent({
    model: new ChatAnthropic({
      model: 'claude-sonnet-5-5',
      apiKey: 'not-a-key',
      anthropicApiUrl: api.url,
      maxRetries: 0,
    }),
    tools: [
      tool(async (command: unknown) => (await memory.execute(command)).content, {
        name: 'memory',
        schema: { type: 'object' },
        extras: { providerToolDefinition: { type: 'memory_20250818', name: 'memory' } },
      }),
    ],
  });
  const messages = [{ role: 'user', content: 'Green tea.' }];
  const said: string[] = [];
  for await (const [chunk] of await agent.stream({ messages }, { streamMode: 'messages' })) {
    if (chunk.getType() === 'ai') {
      said.push(chunk.text);
    }
  }
  assert.equal(said.join(''), 'Noted.');
  assert.equal(await memory.read('/memories/tea.md'), 'grün 🫖\n');
  assert.match(JSON.stringify(api.results), /File created successfully at: \/memories\/tea.md/);
  record(...LANGCHAIN, { streaming: true });
});

async function pieces(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of stream) {
    text += piece;
  }
  return text;
}
