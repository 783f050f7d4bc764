// One memory per user in agent frameworks, set up as docs/integrations/index.md recommends.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { createAnthropic } from '@ai-sdk/anthropic';
import { createSdkMcpServer, tool as claudeTool } from '@anthropic-ai/claude-agent-sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { RunContext, tool as openAiTool } from '@openai/agents';
import { stepCountIs, streamText } from 'ai';
import { createAgent, tool as langChainTool } from 'langchain';
import { Memory } from 'memdir';
import type { MemoryOptions } from 'memdir';
import { mcpResult } from 'memdir/mcp';
import { toolOutput } from 'memdir/openai-agents';
import { z } from 'zod';

import { version } from './findings.mjs';
import { playMessages } from './messages.mjs';
import { PACKAGE, PROJECT, temporary } from './support.mjs';

const memories = join(temporary(), 'memories');

// users
const memoryOf = (user: string, options?: MemoryOptions) => {
  // A digest is a safe name of a directory, whatever the user is called.
  const name = createHash('sha256').update(user).digest('hex');
  return new Memory(join(memories, name), options);
};
// end

/** User names. No user may see the files of another. */
const USERS = ['ann', 'Ann', '../ann', ''];

const CREATED = 'File created successfully at: /memories/';

/** Each user creates the same file, in the user's own memory. */
async function check(file: string, make: (user: string, input: object) => Promise<unknown>) {
  const path = `/memories/${file}`;
  for (const user of USERS) {
    const answer = await make(user, { command: 'create', path, file_text: `of ${user}` });
    assert.match(JSON.stringify(answer), new RegExp(CREATED + file), user);
  }
  for (const user of USERS) {
    assert.equal(await memoryOf(user).read(path), `of ${user}`);
  }
  assert.equal(readdirSync(memories).length, USERS.length);
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of stream) {
    found.push(one);
  }
  return found;
}

/** Plays a model that makes one call, and returns the result of the call. */
async function played(input: object, ask: (url: string) => Promise<unknown>): Promise<unknown> {
  const api = await playMessages([
    [{ type: 'tool_use', id: 'toolu_1', name: 'memory', input }],
    [{ type: 'text', text: 'Noted.' }],
  ]);
  try {
    await ask(api.url);
    return api.results;
  } finally {
    api.close();
  }
}

test(`a memory per user with ${version('ai')}`, () =>
  check('vercel.md', (user, input) =>
    played(input, async (url) => {
      const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'not-a-key' });
      const memory = memoryOf(user, { maxImageBytes: null });
      const { textStream } = streamText({
        model: anthropic('claude-sonnet-5-5'),
        stopWhen: stepCountIs(5),
        prompt: 'Go on.',
        tools: {
          memory: anthropic.tools.memory_20250818({
            execute: async (command) => (await memory.execute(command)).content,
          }),
        },
      });
      assert.equal((await all(textStream)).join(''), 'Noted.');
    }),
  ));

test(`a memory per user with ${version('langchain')}`, () =>
  check('langchain.md', (user, input) =>
    played(input, async (url) => {
      const memory = memoryOf(user, { maxImageBytes: null });
      const model = new ChatAnthropic({
        model: 'claude-sonnet-5-5',
        apiKey: 'not-a-key',
        anthropicApiUrl: url,
        maxRetries: 0,
      });
      const execute = async (command: unknown) => (await memory.execute(command)).content;
      const memoryTool = langChainTool(execute, {
        name: 'memory',
        schema: { type: 'object' },
        extras: { providerToolDefinition: { type: 'memory_20250818', name: 'memory' } },
      });
      const agent = createAgent({ model, tools: [memoryTool] });
      const messages = [{ role: 'user', content: 'Go on.' }];
      await all(await agent.stream({ messages }, { streamMode: 'messages' }));
    }),
  ));

test(`a memory per user with ${version('@openai/agents')}`, () =>
  check('openai.md', (user, input) => {
    const memory = memoryOf(user);
    const memoryTool = openAiTool({
      ...memory.toolDefinition('openai'),
      execute: async (given) => toolOutput(await memory.execute(given)),
    });
    return memoryTool.invoke(new RunContext({}), JSON.stringify(input));
  }));

test(`a memory per user with ${version('@anthropic-ai/claude-agent-sdk')}`, () =>
  check('claude.md', async (user, input) => {
    const memory = memoryOf(user);
    const tools = memory
      .toolDefinitions()
      .map(({ name, description, parameters }) =>
        claudeTool(
          name,
          description,
          (z.fromJSONSchema(parameters) as z.ZodObject).shape,
          async (given) => mcpResult(await memory.execute({ ...given, command: name })),
        ),
      );
    const server = createSdkMcpServer({ name: 'memory', tools });
    const client = new Client({ name: 'test', version: '1' });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.instance.connect(theirs);
    await client.connect(ours);
    const { command, ...fields } = input as { command: string };
    const answer = await client.callTool({ name: command, arguments: fields });
    await client.close();
    return answer;
  }));

test('the page has the code that runs here', () => {
  const source = readFileSync(new URL('test/users.test.mts', PACKAGE), 'utf8');
  const page = readFileSync(new URL('docs/integrations/index.md', PROJECT), 'utf8');
  const code = /\/\/ users\n(.*?)\/\/ end/s.exec(source)?.[1];
  assert.equal(/<!-- users -->\n```ts\n(.*?)```/s.exec(page)?.[1], code);
});
