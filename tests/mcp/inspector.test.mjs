// The inspector's command line lists the tools, finds no problem in their schemas, and calls them. Each call is a process that
// takes a second, so only the call whose fields are not all texts is made; with more effort all are. The SDK's client calls all of
// them (sdk.test.mjs).

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { EFFORT, NAMES, PROGRAM, file, run, served, temporary } from './support.mjs';

const INSPECTOR = file('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const home = temporary();

/** Calls one method of a server with the inspector. */
async function inspect(server, ...options) {
  // It keeps a list of servers in the home directory.
  const env = { ...process.env, HOME: home, MCP_CATALOG_PATH: join(home, 'mcp.json') };
  return run(process.execPath, [INSPECTOR, '--cli', ...server, '--method', ...options], { env });
}

const ARGUMENTS = {
  insert: { path: '/memories/a.md', insert_line: 1, insert_text: 'white' },
  create: { path: '/memories/new.md', file_text: 'green' },
  view: { path: '/memories/a.md' },
  str_replace: { path: '/memories/a.md', old_str: 'green', new_str: 'black' },
  rename: { old_path: '/memories/a.md', new_path: '/memories/b.md' },
  delete: { path: '/memories/b.md' },
};

for (const transport of ['standard streams', 'streamable HTTP']) {
  test(`the inspector lists and calls the tools over ${transport}`, async (t) => {
    const store = temporary();
    mkdirSync(join(store, 'memories'));
    writeFileSync(join(store, 'memories', 'a.md'), 'green\n');
    const isLocal = transport === 'standard streams';
    const server = isLocal
      ? [process.execPath, PROGRAM, 'mcp', store]
      : [await served(t, store), '--transport', 'http'];
    const { tools } = JSON.parse(await inspect(server, 'tools/list', '--strict'));
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES,
    );
    const calls = Object.entries(ARGUMENTS).slice(0, EFFORT > 1 ? 6 : isLocal ? 1 : 0);
    for (const [name, fields] of calls) {
      const given = Object.entries(fields).flatMap(([key, value]) => [
        '--tool-arg',
        `${key}=${value}`,
      ]);
      const reply = JSON.parse(await inspect(server, 'tools/call', '--tool-name', name, ...given));
      assert.notEqual(reply.isError, true, JSON.stringify(reply));
    }
  });
}
