// End to end: the packed package, the real SDK with its real tool runner, and a stand-in for the
// API on loopback that plays a conversation and asserts everything that reaches it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { project } from './consumer.mjs';
import { PROJECT, require, run, temporary } from './support.mjs';

interface Script {
  tool_extras?: object;
  sessions: { user: string; turns: { calls?: unknown[] }[] }[];
  then: Record<string, string | { $text: string[] } | null>;
}

const EXAMPLES = fileURLToPath(new URL('examples/', PROJECT));
const records = temporary();

/** Plays `script` and runs a process of `agent` for each of its sessions. */
async function play(name: string, directory: string, agent: string, way: string): Promise<void> {
  const file = join(EXAMPLES, 'conversations', name);
  const script = JSON.parse(readFileSync(file, 'utf8')) as Script;
  const record = join(mkdtempSync(join(records, 'wire-')), 'requests');
  const standin = spawn(
    'python3',
    [join(EXAMPLES, 'standin', 'standin.py'), file, '--record', record],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let problems = '';
  standin.stderr.on('data', (data) => (problems += data));
  const ended = once(standin, 'close');
  try {
    const [line] = (await once(createInterface(standin.stdout), 'line')) as [string];
    const url = line.trim();
    const memory = mkdtempSync(join(records, 'memory-'));
    for (const { user } of script.sessions) {
      const extras = JSON.stringify(script.tool_extras ?? {});
      const args = [join(directory, agent), way, url, memory, user, extras];
      const ran = await run(process.execPath, args, {
        cwd: directory,
        env: { ...process.env, NO_PROXY: '127.0.0.1' },
      });
      assert.deepEqual(ran, { status: 0, stdout: 'end_turn\n', stderr: '' });
    }
    const report = (await (await fetch(`${url}/standin/finish`, { method: 'POST' })).json()) as {
      complete: boolean;
      failures: unknown[];
      tool_results: number;
      tool_results_checked: number;
    };
    assert.deepEqual(report.failures, []);
    assert.ok(report.complete);
    assert.ok(report.tool_results > 0);
    assert.equal(report.tool_results_checked, report.tool_results);
    assert.deepEqual(left(memory), expected(script));
  } finally {
    standin.kill();
  }
  const [status] = (await ended) as [number | null];
  assert.equal(status, 0, problems);

  // What the stand-in has asserted already, once more with our own eyes.
  for (const request of readFileSync(record, 'utf8').trim().split('\n')) {
    const { body } = JSON.parse(request) as { body?: { tools?: unknown } };
    if (body?.tools) {
      const tool = { type: 'memory_20250818', name: 'memory', ...script.tool_extras };
      assert.deepEqual(body.tools, [tool]);
    }
  }
}

/** Every file that is left, and every empty directory. */
function left(memory: string): [string, string | null][] {
  const found: [string, string | null][] = [];
  for (const name of readdirSync(join(memory, 'memories'), { recursive: true }) as string[]) {
    const file = join(memory, 'memories', name);
    const path = `/${relative(memory, file)}`;
    if (statSync(file).isFile()) {
      found.push([path, readFileSync(file, 'utf8')]);
    } else if (readdirSync(file).length === 0) {
      found.push([path, null]);
    }
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function expected({ then }: Script): [string, string | null][] {
  return Object.entries(then)
    .map(([path, text]): [string, string | null] => [
      path,
      text !== null && typeof text === 'object' ? text.$text.join('') : text,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

for (const sdk of ['@anthropic-ai/sdk', 'sdk-lowest'] as const) {
  const { version } = JSON.parse(
    readFileSync(new URL(`../../node_modules/${sdk}/package.json`, import.meta.url), 'utf8'),
  ) as { version: string };
  const installed = project(sdk);
  for (const agent of ['agent.mjs', 'agent.cjs']) {
    for (const way of ['tool', 'handlers']) {
      for (const script of ['release-notes.json', 'parallel.json']) {
        test(`${script} through SDK ${version}, ${agent}, ${way}`, async () => {
          await play(script, await installed, agent, way);
        });
      }
    }
  }
}
