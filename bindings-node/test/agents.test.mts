// Agent frameworks that declare the tool themselves, with the real packages: the OpenAI Agents SDK, and the Claude
// Agent SDK, which is tested up to its server in the process. Their pages show the code that runs here.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Memory, openStore } from 'memdir';
import { mcpResult } from 'memdir/mcp';
import { toolOutput } from 'memdir/openai-agents';
import { z } from 'zod';

import { record, version } from './findings.mjs';
import { playMessages } from './messages.mjs';
import { joined, load, playResponses } from './responses.mjs';
import type { Script } from './responses.mjs';
import { conversation } from './standin.mjs';
import { PACKAGE, PROJECT, run, temporary } from './support.mjs';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNgQAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC';

const CLAUDE = ['Claude Agent SDK', '@anthropic-ai/claude-agent-sdk'] as const;
const OPENAI = ['OpenAI Agents SDK', '@openai/agents'] as const;

/**
 * Asserts that the lines between `// mark` and `// end` in a file of these tests are those of the block in
 * a page.
 */
function compare(file: string, mark: string, page: string): void {
  const source = readFileSync(new URL(`test/${file}`, PACKAGE), 'utf8');
  const [, indent, code] = new RegExp(`( *)// ${mark}\\n(.*?)\\n *// end`, 's').exec(source) ?? [];
  const text = readFileSync(new URL(page, PROJECT), 'utf8');
  const lines = code?.replace(new RegExp(`^${indent}`, 'gm'), '');
  assert.equal(
    new RegExp(`<!-- ${mark} -->\\n\`\`\`ts\\n(.*?)\\n\`\`\``, 's').exec(text)?.[1],
    lines,
  );
}

/** The files in the memory at the end of a conversation. */
async function left(memory: Memory): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { path, size } of await memory.list('/memories', { depth: null })) {
    if (size !== undefined) {
      files[path] = await memory.read(path);
    }
  }
  return files;
}

function claudeServer(memory: Memory): McpSdkServerConfigWithInstance {
  // server
  const server = createSdkMcpServer({
    name: 'memory',
    alwaysLoad: true,
    tools: memory
      .toolDefinitions()
      .map(({ name, description, parameters }) =>
        tool(
          name,
          description,
          (z.fromJSONSchema(parameters) as z.ZodObject).shape,
          async (input) => mcpResult(await memory.execute({ ...input, command: name })),
        ),
      ),
  });
  // end
  return server;
}

async function connected(server: McpSdkServerConfigWithInstance): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.instance.connect(theirs);
  await client.connect(ours);
  return client;
}

test(`every command through ${version('@anthropic-ai/claude-agent-sdk')}`, async () => {
  const memory = new Memory('memory:');
  const client = await connected(claudeServer(memory));
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
  );
  for (const definition of memory.toolDefinitions()) {
    const listed = tools.find(({ name }) => name === definition.name);
    assert.equal(listed?.description, definition.description);
    const { properties, required } = definition.parameters;
    assert.deepEqual(listed?.inputSchema.required?.toSorted(), required.toSorted());
    assert.deepEqual(Object.keys(listed?.inputSchema.properties ?? {}), Object.keys(properties));
  }

  // The calls of one turn run concurrently.
  const script = load(conversation('parallel.json')) as unknown as {
    sessions: {
      turns: { calls?: { input: { command: string }; result: string; is_error: boolean }[] }[];
    }[];
    then: Record<string, string>;
  };
  for (const { calls = [] } of script.sessions.flatMap(({ turns }) => turns)) {
    const results = calls.map(async ({ input: { command, ...fields }, result, is_error }) => {
      const got = await client.callTool({ name: command, arguments: fields });
      assert.deepEqual(got, { content: [{ type: 'text', text: result }], isError: is_error });
    });
    await Promise.all(results);
  }
  assert.deepEqual(await left(memory), script.then);

  const wrong = await client.callTool({ name: 'delete', arguments: { path: '/etc/passwd' } });
  const text = 'Path must start with /memories, got: /etc/passwd';
  assert.deepEqual(wrong, { content: [{ type: 'text', text }], isError: true });
  // The SDK itself answers input that does not match the schema, and marks it as an error as well.
  const lacking = await client.callTool({ name: 'delete', arguments: {} });
  assert.equal(lacking.isError, true);
  await client.close();
  compare('agents.test.mts', 'server', 'docs/integrations/claude-agent-sdk-typescript.md');
  record(...CLAUDE, { tool: 'six, over MCP', async: true, errors: true });
});

test('an image comes as an image, and a read-only memory has one tool', async () => {
  const store = openStore('memory:');
  await store.write('/memories/plan.png', Buffer.from(PNG, 'base64'), false);
  const client = await connected(claudeServer(new Memory(store, { readOnly: true })));
  assert.equal((await client.listTools()).tools.length, 1);
  const shown = await client.callTool({ name: 'view', arguments: { path: '/memories/plan.png' } });
  const image = { type: 'image', data: PNG, mimeType: 'image/png' };
  assert.deepEqual(shown, { content: [image], isError: false });
  await client.close();
  record(...CLAUDE, { images: true });
});

/** The program that the SDK starts. It has 360 MB, so it is tested only if it is installed. */
const claude = process.env['MEMDIR_CLAUDE'];

test(
  'the agent itself calls the tools',
  { skip: !claude && 'MEMDIR_CLAUDE is not set' },
  async () => {
    const store = openStore('memory:');
    await store.write('/memories/plan.png', Buffer.from(PNG, 'base64'), false);
    const memory = new Memory(store);
    const call = (id: string, name: string, input: object) =>
      ({ type: 'tool_use', id, name: `mcp__memory__${name}`, input }) as const;
    const api = await playMessages([
      [
        call('toolu_1', 'create', { path: '/memories/tea.md', file_text: 'green\n' }),
        call('toolu_2', 'view', { path: '/memories/none' }),
        call('toolu_3', 'view', { path: '/memories/plan.png' }),
      ],
      [{ type: 'text', text: 'Noted.' }],
    ]);
    const home = temporary();
    const options = {
      cwd: home,
      settingSources: [],
      mcpServers: { memory: claudeServer(memory) },
      allowedTools: ['mcp__memory__*'],
      pathToClaudeCodeExecutable: String(claude),
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: 'not-a-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
    const said: string[] = [];
    for await (const message of query({ prompt: 'I like green tea.', options })) {
      if (message.type === 'result' && message.subtype === 'success') {
        said.push(message.result);
      }
    }
    api.close();
    assert.deepEqual(said, ['Noted.']);
    for (const { name } of memory.toolDefinitions()) {
      assert.ok(api.tools.includes(`mcp__memory__${name}`), name);
    }
    const [created, refused, shown] = api.results;
    assert.ok(!created?.is_error);
    assert.equal(refused?.is_error, true);
    assert.match(JSON.stringify(refused?.content), /The path \/memories\/none does not exist/);
    assert.ok(JSON.stringify(shown?.content).includes('"type":"image"'), JSON.stringify(shown));
    assert.equal(await memory.read('/memories/tea.md'), 'green\n');
  },
);

const program = fileURLToPath(new URL('consumer/openai-agents.mjs', import.meta.url));

/** Plays a conversation with the OpenAI Agents SDK. Each session runs in its own process. */
async function playOpenAi(script: Script, directory = temporary()): Promise<Memory> {
  const memory = new Memory(join(directory, 'memory'));
  await playResponses(script, memory.toolDefinition('openai'), async (url, user) => {
    const env = {
      ...process.env,
      NO_PROXY: '127.0.0.1',
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: 'not-a-key',
      // Otherwise traces go to OpenAI.
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    };
    const ran = await run(process.execPath, [program, url, directory, user], { env });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout;
  });
  return memory;
}

for (const name of ['release-notes.json', 'parallel.json']) {
  test(`${name} through ${version('@openai/agents')}`, async () => {
    const script = load(conversation(name));
    const files = Object.entries(script.then).filter(([, text]) => text !== null);
    assert.deepEqual(await left(await playOpenAi(script)), Object.fromEntries(files));
    compare('consumer/openai-agents.mts', 'page', 'docs/integrations/openai-agents-typescript.md');
    record(...OPENAI, { tool: 'declared', async: true, errors: false });
  });
}

test(`an image through ${version('@openai/agents')}`, async () => {
  const directory = temporary();
  const store = openStore(join(directory, 'memory'));
  await store.write('/memories/plan.png', Buffer.from(PNG, 'base64'), false);
  const input = { command: 'view', path: '/memories/plan.png' };
  const result = { $image: 'image/png', $base64: PNG };
  const turns = [{ calls: [{ input, result }] }, { text: 'A plan.' }];
  await playOpenAi({ sessions: [{ user: 'What is there?', turns }], then: {} }, directory);
  record(...OPENAI, { images: true });
});

test('a reply becomes what a framework takes', () => {
  const refused = { content: 'Error: no', isError: true };
  assert.deepEqual(mcpResult(refused), {
    content: [{ type: 'text', text: 'Error: no' }],
    isError: true,
  });
  assert.equal(toolOutput(refused), 'Error: no');
  assert.equal(joined({ $text: ['a', 'b'] }), 'ab');
});
