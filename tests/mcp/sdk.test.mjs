// The official SDK's client, over both transports. Python's client has more: bindings-python/tests/test_mcp.py.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { INSTALLED, NAMES, client, served, temporary } from './support.mjs';

const { Client } = await client('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await client('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = await client(
  '@modelcontextprotocol/sdk/client/streamableHttp.js',
);

/** A session in which every tool is called, and a file is read as a resource. */
async function session(transport) {
  const user = new Client({ name: 'test', version: '1.0.0' });
  await user.connect(transport);
  assert.equal(user.getServerVersion().name, 'memdir');
  assert.match(user.getInstructions(), /\/memories/);
  const { tools } = await user.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    NAMES,
  );

  const call = async (name, args) => {
    const { content, isError = false } = await user.callTool({ name, arguments: args });
    return [content[0].text, isError];
  };
  const path = '/memories/tea.md';
  const created = [`File created successfully at: ${path}`, false];
  assert.deepEqual(await call('create', { path, file_text: 'green\n' }), created);
  const edit = { path, old_str: 'green', new_str: 'black' };
  assert.equal((await call('str_replace', edit))[1], false);
  const line = { path, insert_line: 1, insert_text: 'white' };
  assert.equal((await call('insert', line))[1], false);
  const shown = `Here's the content of ${path} with line numbers:\n     1\tblack\n     2\twhite`;
  assert.deepEqual(await call('view', { path }), [shown, false]);
  const { resources } = await user.listResources();
  assert.equal(resources[0].uri, 'memdir:///memories/tea.md');
  const { contents } = await user.readResource({ uri: resources[0].uri });
  assert.equal(contents[0].text, 'black\nwhite\n');
  const names = { old_path: path, new_path: '/memories/t.md' };
  assert.equal((await call('rename', names))[1], false);
  assert.equal((await call('delete', { path: '/memories/t.md' }))[1], false);
  assert.deepEqual(await call('view', { path: '/etc/passwd' }), [
    'Path must start with /memories, got: /etc/passwd',
    true,
  ]);
  await user.close();
}

test('npx memdir mcp answers the SDK over standard streams', async () => {
  const args = ['--no', 'memdir', 'mcp', temporary()];
  await session(new StdioClientTransport({ command: 'npx', args, cwd: INSTALLED }));
});

test('memdir mcp --http answers the SDK over streamable HTTP', async (t) => {
  const address = await served(t, temporary());
  await session(new StreamableHTTPClientTransport(new URL(address)));
});

test('what one client was shown lets no other one edit', async (t) => {
  const address = await served(t, temporary(), '--stale-guard=strict');
  const clients = [];
  for (let number = 0; number < 2; number++) {
    const user = new Client({ name: 'test', version: '1.0.0' });
    await user.connect(new StreamableHTTPClientTransport(new URL(address)));
    clients.push(async (name, args) => {
      const { content, isError = false } = await user.callTool({ name, arguments: args });
      return [content[0].text, isError];
    });
    t.after(() => user.close());
  }
  const [one, other] = clients;
  const path = '/memories/tea.md';
  await one('create', { path, file_text: 'green\n' });
  const line = { path, insert_line: 0, insert_text: 'black' };
  const [refused, isError] = await other('insert', line);
  assert.match(refused, /You have not viewed the file/);
  assert.equal(isError, true);
  await other('view', { path });
  assert.equal((await other('insert', line))[1], false);
  assert.match((await one('insert', line))[0], /has changed since/);
});
