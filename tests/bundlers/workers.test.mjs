// Cloudflare Workers: esbuild bundles a worker with wrangler's settings, and workerd runs it. Deno runs WebAssembly, too.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { ESM, PRINTED, TOOLS, project, run, tool, version } from './support.mjs';

const WORKER = `
import { Memory, memoryTool } from 'memdir';

let memory;
export default {
  async fetch() {
    memory ??= new Memory('memory:');
    const { run } = memoryTool('memory:');
    const said = [];
    await memory.execute({ command: 'create', path: '/memories/tea.md', file_text: 'gr\\0een\\n' });
    said.push((await memory.execute({ command: 'view', path: '/memories/tea.md' })).content);
    await run({ command: 'delete', path: '/memories' }).catch((error) => said.push(error.content));
    try {
      new Memory('./memory');
    } catch (error) {
      said.push(error.name);
    }
    return Response.json(said);
  },
};
`;

const config = (port) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .worker) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "out/worker.mjs"),
    (name = "memdir.wasm", wasm = embed "out/memdir.wasm")
  ],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"]
);
`;

/** An unused port. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The answer of a server, once it is available. */
async function answer(address, output) {
  for (let attempt = 0; attempt < 3000; attempt += 1) {
    try {
      return await (await fetch(address)).text();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`nothing answered at ${address}: ${output()}`);
}

test(`workerd ${version('workerd')} runs what esbuild bundles for it`, async () => {
  const port = await freePort();
  const files = { 'worker.mjs': WORKER, 'config.capnp': config(port) };
  const directory = await project('workerd', files);
  const { default: esbuild } = await tool('esbuild');
  const { warnings } = await esbuild.build({
    entryPoints: [join(directory, 'worker.mjs')],
    outfile: join(directory, 'out/worker.mjs'),
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', '*.wasm', '@anthropic-ai/sdk'],
    logLevel: 'silent',
  });
  assert.deepEqual(warnings, []);
  // wrangler puts modules next to the bundle.
  const module = join(directory, 'node_modules/memdir/memdir.wasm');
  copyFileSync(module, join(directory, 'out/memdir.wasm'));

  const [name] = readdirSync(join(TOOLS, 'node_modules/@cloudflare'));
  const program = join(TOOLS, 'node_modules/@cloudflare', name, 'bin/workerd');
  const server = spawn(program, ['serve', 'config.capnp'], { cwd: directory });
  let output = '';
  server.stdout.on('data', (data) => (output += data));
  server.stderr.on('data', (data) => (output += data));
  try {
    assert.deepEqual(JSON.parse(await answer(`http://127.0.0.1:${port}/`, () => output)), [
      "Here's the content of /memories/tea.md with line numbers:\n     1\tgr\0een",
      'Cannot delete the /memories directory itself',
      'ConfigError',
    ]);
  } finally {
    server.kill();
  }
});

test(`Deno ${version('deno')} runs WebAssembly, without the right to load a binary`, async () => {
  const directory = await project('deno-wasm', { 'agent.mjs': ESM });
  const [name] = readdirSync(join(TOOLS, 'node_modules/@deno'));
  const allowed = ['--allow-read', '--allow-env=MEMDIR_WASM', '--no-prompt'];
  const args = ['run', ...allowed, 'agent.mjs'];
  const env = { MEMDIR_WASM: '1' };
  const program = join(TOOLS, 'node_modules/@deno', name, 'deno');
  assert.deepEqual(await run(program, args, { cwd: directory, env }), {
    status: 0,
    output: PRINTED,
  });
});

test('esbuild: a bundle for Node has it where the module is beside it', async () => {
  const directory = await project('esbuild-wasm', { 'agent.mjs': ESM });
  const { default: esbuild } = await tool('esbuild');
  const outfile = join(directory, 'out/agent.mjs');
  await esbuild.build({
    entryPoints: [join(directory, 'agent.mjs')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const ran = await run(process.execPath, [outfile], {
    cwd: directory,
    env: { MEMDIR_WASM: '1' },
  });
  assert.deepEqual(ran, { status: 0, output: PRINTED });
  assert.ok(readFileSync(outfile, 'utf8').includes('memdir.wasm'));
});
