// Helpers for the tests of several tools: projects with the packed package, and programs that use it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const PACKED = join(PROJECT, 'bindings-node', 'npm');
/** The directory of the tools. The projects are below it, so they find the tools. */
export const TOOLS = join(PROJECT, '.cache', 'bundlers');

const requireTool = createRequire(join(TOOLS, 'package.json'));

/** Loads a module of a tool. */
export function tool(specifier) {
  return import(requireTool.resolve(specifier));
}

/** The version of a tool, for the output of a test. */
export function version(name) {
  return JSON.parse(readFileSync(join(TOOLS, 'node_modules', name, 'package.json'), 'utf8'))
    .version;
}

/** The package of this machine's binary: a name such as memdir-linux-x64-gnu. */
export function binaryPackage() {
  const [found] = readdirSync(PACKED)
    .map((name) => /^(memdir-[a-z].*)-\d+\.\d+\.\d+.*\.tgz$/.exec(name)?.[1])
    .filter((name) => name !== undefined);
  assert.ok(found, 'npm run pack made no package with a binary');
  return found;
}

/** The file of this machine's binary. */
export const binary = () => `${binaryPackage().replace('memdir-', 'memdir.')}.node`;

/** Both packages, installed once as a user installs them, without anything else. */
async function installed() {
  const directory = join(TOOLS, 'installed', String(process.pid));
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true });
    process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, 'package.json'), '{ "name": "installed", "private": true }\n');
    const tarballs = readdirSync(PACKED).filter((name) => name.endsWith('.tgz'));
    const flags = ['--offline', '--cache', join(directory, 'cache'), '--no-package-lock'];
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    const paths = tarballs.map((name) => join(PACKED, name));
    const ran = await run('npm', ['install', ...flags, ...quiet, ...paths], {
      cwd: directory,
    });
    assert.equal(ran.status, 0, ran.output);
  }
  return directory;
}

/** Installs memdir into a directory, and the SDK if requested. */
export async function install(directory, { sdk = false } = {}) {
  const modules = join(directory, 'node_modules');
  const from = join(await installed(), 'node_modules');
  for (const name of ['memdir', binaryPackage()]) {
    linkTree(join(from, name), join(modules, name));
  }
  if (sdk) {
    cpSync(join(TOOLS, 'node_modules', 'sdk'), join(modules, '@anthropic-ai', 'sdk'), {
      recursive: true,
    });
  }
}

/**
 * A project with memdir installed and the given files in it. It is below the tools, so it finds them. It finds the SDK
 * only if requested.
 */
export async function project(name, files, options) {
  const directory = join(TOOLS, 'projects', name);
  rmSync(directory, { recursive: true, force: true });
  await install(directory, options);
  write(directory, {
    'package.json': '{ "name": "project", "private": true }\n',
    ...files,
  });
  return directory;
}

/** A directory with no node_modules above it. It is removed after the file's last test. */
export function elsewhere() {
  const directory = mkdtempSync(join(tmpdir(), 'memdir-bundled-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Writes files, by their paths in the directory. */
export function write(directory, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

/** A copy that shares space where possible, because there are many copies of the binary. */
function linkTree(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      linkTree(source, target);
    } else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}

/** Runs a program to its end. One that takes more than five minutes is killed. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      NO_COLOR: '1',
      NEXT_TELEMETRY_DISABLED: '1',
      ...options.env,
    };
    delete env.NODE_TEST_CONTEXT;
    const child = spawn(command, args, {
      timeout: 300_000,
      stdio: 'pipe',
      ...options,
      env,
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** Runs a program with Node. */
export const node = (file, cwd, ...args) => run(process.execPath, [file, ...args], { cwd });

/** Runs the program of a tool's package. */
export const program = (path, args, cwd) => node(join(TOOLS, 'node_modules', path), cwd, ...args);

const BODY = `
async function main() {
  const memory = new Memory(process.argv[2] ?? 'memory:');
  await memory.execute({ command: 'create', path: '/memories/tea.md', file_text: 'green\\n' });
  const { content } = await memory.execute({ command: 'view', path: '/memories/tea.md' });
  console.log(content);
  await memory.delete({ path: '/memories' }).catch((error) => console.log(error.name, error.content));
}
main();
`;

/** A user's program: it creates a file, views it, and is refused something. */
export const ESM = `import { Memory } from 'memdir';\n${BODY}`;
export const COMMONJS = `const { Memory } = require('memdir');\n${BODY}`;

/** The output of the program. */
export const PRINTED = `Here's the content of /memories/tea.md with line numbers:
     1\tgreen
ToolError Cannot delete the /memories directory itself
`;

/** A program that is bundled with the SDK, whose tool runner recognizes errors by their class. */
export const WITH_SDK = `
import { memoryTool } from 'memdir';
import Anthropic from '@anthropic-ai/sdk';

async function main() {
  const turns = [
    [{ type: 'tool_use', id: 'toolu_1', name: 'memory', input: { command: 'delete', path: '/memories' } }],
    [{ type: 'text', text: 'done' }],
  ];
  const client = new Anthropic({
    apiKey: 'none',
    fetch: async (url, { body }) => {
      const last = JSON.parse(body).messages.at(-1);
      if (last.content[0].type === 'tool_result') console.log(JSON.stringify(last.content[0]));
      const content = turns.shift();
      const stop_reason = content[0].type === 'text' ? 'end_turn' : 'tool_use';
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'none', content, stop_reason, usage };
      return new Response(JSON.stringify(message), { headers: { 'content-type': 'application/json' } });
    },
  });
  await client.beta.messages.toolRunner({
    model: 'none',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'forget' }],
    tools: [memoryTool('memory:')],
  }).runUntilDone();
}
main();
`;

/** The output: the sentence verbatim, without the runner's "Error: ". */
export const PRINTED_WITH_SDK = `${JSON.stringify({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: 'Cannot delete the /memories directory itself',
  is_error: true,
})}\n`;
