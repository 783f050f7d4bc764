// Next.js: a page and a route handler that use memdir are built, and the server executes commands.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { TOOLS, elsewhere, program, project, version } from './support.mjs';

const NEXT = 'next/dist/bin/next';
const BODY = `
  const memory = new Memory('memory:');
  await memory.execute({ command: 'create', path: '/memories/tea.md', file_text: 'green\\n' });
  const { content } = await memory.execute({ command: 'view', path: '/memories/tea.md' });
  const refused = await memory.delete({ path: '/memories' }).catch(({ name, content }) => [name, content]);
`;
const CONTENT = "Here's the content of /memories/tea.md with line numbers:\n     1\tgreen";
const REFUSED = ['ToolError', 'Cannot delete the /memories directory itself'];
const ANSWER = { content: CONTENT, refused: REFUSED };

const FILES = {
  'app/layout.jsx': `export default function Layout({ children }) {
    return <html><body>{children}</body></html>;
  }`,
  'app/page.jsx': `import { Memory } from 'memdir';
  export const dynamic = 'force-dynamic';
  export default async function Page() { ${BODY} return <pre>{content}{refused.join(' ')}</pre>; }`,
  'app/esm/route.js': `import { Memory } from 'memdir';
  export const dynamic = 'force-dynamic';
  export async function GET() { ${BODY} return Response.json({ content, refused }); }`,
};

/** A route with the other build of memdir, which Next.js cannot bundle. */
const WITH_REQUIRE = {
  'app/commonjs/route.js': `const { Memory } = require('memdir');
  exports.dynamic = 'force-dynamic';
  exports.GET = async function GET() { ${BODY} return Response.json({ content, refused }); };`,
};

/** A route that compares the class of an error with that of the SDK in the bundle. */
const WITH_SDK = {
  'app/sdk/route.js': `import { memoryTool } from 'memdir';
  import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
  export const dynamic = 'force-dynamic';
  export async function GET() {
    const tool = memoryTool('memory:');
    const error = await tool.run({ command: 'delete', path: '/memories' }).catch((error) => error);
    return Response.json({ known: error instanceof ToolError, content: error.content });
  }`,
};
const KNOWN = {
  known: true,
  content: 'Cannot delete the /memories directory itself',
};

async function build(name, { config = {}, flags = [], routes = {}, ...options } = {}) {
  const settings = { 'next.config.mjs': `export default ${JSON.stringify(config)};\n` };
  const directory = await project(name, { ...FILES, ...routes, ...settings }, options);
  const { status, output } = await program(NEXT, ['build', ...flags], directory);
  assert.equal(status, 0, output);
  return { directory, output };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return String(port);
}

/** Calls `asks` with the answers of a server, and returns the output of the server. */
async function serve(file, args, cwd, asks) {
  const port = await freePort();
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
    PORT: port,
  };
  delete env.NODE_TEST_CONTEXT;
  const server = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { ...env, HOSTNAME: '127.0.0.1' },
  });
  let output = '';
  server.stdout.on('data', (data) => (output += data));
  server.stderr.on('data', (data) => (output += data));
  const ended = once(server, 'close');
  try {
    await asks(async (path) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await fetch(`http://127.0.0.1:${port}${path}`);
        } catch (error) {
          assert.ok(attempt < 1500 && server.exitCode === null, `${error}\n${output}`);
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    });
  } finally {
    server.kill();
    await ended;
  }
  return output;
}

/** Checks the answers of both the page and the route handler. */
async function works(get) {
  assert.deepEqual(await (await get('/esm')).json(), ANSWER);
  const page = (await (await get('/')).text()).replaceAll('<!-- -->', '');
  assert.ok(page.includes(`green${REFUSED.join(' ')}`), page);
}

const start = (directory, asks) =>
  serve(join(TOOLS, 'node_modules', NEXT), ['start'], directory, asks);

/** Runs a standalone build as it is deployed, without anything else. */
async function standalone(directory, asks) {
  const place = elsewhere();
  cpSync(join(directory, '.next', 'standalone'), place, { recursive: true });
  const [found] = readdirSync(place, { recursive: true }).filter(
    (path) => /(^|\/)server\.js$/.test(path) && !/node_modules|\.next/.test(path),
  );
  assert.ok(found, 'there is no server.js');
  return serve(join(place, found), [], join(place, found, '..'), asks);
}

test(`Next.js ${version('next')} without a setting and without the SDK`, async () => {
  const { directory, output } = await build('next');
  assert.doesNotMatch(output, /warning|not found: /i);
  await start(directory, works);
});

test('Next.js without a setting: what is bundled with the SDK gives errors that it knows', async () => {
  const { directory } = await build('next-sdk', { routes: WITH_SDK, sdk: true });
  await start(directory, async (get) => {
    await works(get);
    assert.deepEqual(await (await get('/sdk')).json(), KNOWN);
  });
});

test('Next.js: a standalone build has memdir with serverExternalPackages', async () => {
  const serverExternalPackages = ['memdir', '@anthropic-ai/sdk'];
  const config = { output: 'standalone', serverExternalPackages };
  const routes = { ...WITH_SDK, ...WITH_REQUIRE };
  const { directory } = await build('next-standalone', { config, routes, sdk: true });
  await standalone(directory, async (get) => {
    await works(get);
    assert.deepEqual(await (await get('/commonjs')).json(), ANSWER);
    assert.deepEqual(await (await get('/sdk')).json(), KNOWN);
  });
});

test('Next.js: a standalone build without serverExternalPackages says what it lacks', async () => {
  const { directory } = await build('next-bundled', { config: { output: 'standalone' } });
  const output = await standalone(directory, async (get) => {
    assert.equal((await get('/esm')).status, 500);
  });
  assert.match(output, /Error: memdir was bundled, and .* serverExternalPackages: \["memdir"\]/);
});

test('Next.js with webpack, without a setting and without the SDK', async () => {
  const { directory, output } = await build('next-webpack', {
    flags: ['--webpack'],
  });
  assert.match(output, /Can't resolve '@anthropic-ai\/sdk/);
  await start(directory, works);
});
