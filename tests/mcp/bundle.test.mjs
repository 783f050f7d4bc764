// The bundle for Claude Desktop: the format's own program finds it valid, and its own code determines how to start the
// server.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { NAMES, PACKED, PROJECT, client, file, run, temporary } from './support.mjs';

const { Client } = await client('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await client('@modelcontextprotocol/sdk/client/stdio.js');
const { getMcpConfigForManifest } = await client('@anthropic-ai/mcpb');

const mcpb = (...args) =>
  run(process.execPath, [file('@anthropic-ai/mcpb/dist/cli/cli.js'), ...args]);
const made = temporary();
await run(process.env.PYTHON ?? 'python3', [join(PROJECT, 'release', 'mcpb'), PACKED, made]);
const [bundle, ...others] = readdirSync(made);
const unpacked = temporary();
await mcpb('unpack', join(made, bundle), unpacked);
const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));

test('a bundle is valid and names the platform', async () => {
  assert.deepEqual(others, []);
  assert.match(bundle, new RegExp(`^memdir-${manifest.version}-${process.platform}-.+\\.mcpb$`));
  assert.deepEqual(manifest.compatibility.platforms, [process.platform]);
  assert.match(await mcpb('validate', join(unpacked, 'manifest.json')), /validation passes/);
});

/** Views the memory and creates a note. Returns the server's tools. */
async function session(command, args) {
  const user = new Client({ name: 'test', version: '1.0.0' });
  await user.connect(new StdioClientTransport({ command, args }));
  const { tools } = await user.listTools();
  const fields = { path: '/memories/tea.md', file_text: 'green\n' };
  const { content, isError } = await user.callTool({ name: 'create', arguments: fields });
  assert.equal(isError ?? false, false, JSON.stringify(content));
  await user.close();
  return tools.map(({ name }) => name);
}

test('the server runs from the bundle, on the directory that the user chose', async () => {
  const directory = temporary();
  const { command, args } = await getMcpConfigForManifest({
    manifest,
    extensionPath: unpacked,
    systemDirs: { HOME: temporary() },
    userConfig: { directory },
    pathSeparator: '/',
  });
  assert.equal(command, 'node');
  assert.deepEqual(await session(process.execPath, args), NAMES);
  assert.deepEqual(
    manifest.tools.map(({ name }) => name),
    NAMES,
  );
  assert.equal(readFileSync(join(directory, 'memories', 'tea.md'), 'utf8'), 'green\n');
});

test('the server runs where the streams are objects of JavaScript only', async () => {
  const host = join(temporary(), 'host.cjs');
  const starter = join(unpacked, manifest.server.entry_point);
  writeFileSync(
    host,
    `const { PassThrough } = require('node:stream');
    const [input, output] = [process.stdin.pipe(new PassThrough()), new PassThrough()];
    output.pipe(process.stdout);
    Object.defineProperty(process, 'stdin', { value: input });
    Object.defineProperty(process, 'stdout', { value: output });
    require(${JSON.stringify(starter)});`,
  );
  assert.deepEqual(await session(process.execPath, [host, temporary()]), NAMES);
});
