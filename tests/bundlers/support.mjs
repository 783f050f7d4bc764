// What the tests of several tools need: projects with the packed package in them, and programs that use it.

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
/** Where the tools are installed, and below it the projects, which find the tools so. */
export const TOOLS = join(PROJECT, '.cache', 'bundlers');

const requireTool = createRequire(join(TOOLS, 'package.json'));

/** A module of a tool. */
export function tool(specifier) {
  return import(requireTool.resolve(specifier));
}

/** The version of a tool, to say with what a test ran. */
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

/** Both packages, installed once as a user installs them, and nothing else. */
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

/** Installs memdir into a directory, and the SDK if it is asked for. */
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
 * A project with memdir installed and the given files in it. It stands below the tools, so it finds them; the SDK it finds
 * only if it is asked for.
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

/** A directory that no node_modules are above. It goes with the file's last test. */
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

/** A copy that takes no space where it need not: of a binary there are many. */
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

/** Runs the program that a tool's package has. */
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

/** A user's program: it creates, views, and is refused. */
export const ESM = `import { Memory } from 'memdir';\n${BODY}`;
export const COMMONJS = `const { Memory } = require('memdir');\n${BODY}`;

/** What it prints. */
export const PRINTED = `Here's the content of /memories/tea.md with line numbers:
     1\tgreen
ToolError Cannot delete the /memories directory itself
`;

/** A program that is bundled with the SDK: its tool runner knows errors by their class. */
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

/** What it prints: the sentence word for word, without an "Error: " of the runner's. */
export const PRINTED_WITH_SDK = `${JSON.stringify({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: 'Cannot delete the /memories directory itself',
  is_error: true,
})}\n`;
