// A stand-in for the API on loopback that plays a conversation and asserts everything that it
// receives (examples/README.md), and programs that talk to it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { PROJECT, run, temporary } from './support.mjs';

interface Script {
  tool_extras?: object;
  other_tools?: object[];
  sessions: { user: string }[];
  then: Record<string, string | { $text: string[] } | null>;
}

const EXAMPLES = fileURLToPath(new URL('examples/', PROJECT));
const records = temporary();

/** A conversation on a memory that is not empty. */
export interface Prepared {
  file: string;
  /** The initial content of the memory: the names in `/memories`, and their contents. */
  given: Record<string, Uint8Array>;
}

/** A conversation that a test defines itself. */
export function scripted(script: object, given: Prepared['given']): Prepared {
  const file = join(mkdtempSync(join(records, 'script-')), 'script.json');
  writeFileSync(file, JSON.stringify(script));
  return { file, given };
}

/** A conversation of the demo. */
export function conversation(name: string): string {
  return join(EXAMPLES, 'conversations', name);
}

/**
 * Plays a conversation and runs `program` for each of its sessions, with these arguments: the
 * address, the directory of the memory, the user's message, and the tool's extras as JSON. It must
 * print `last`.
 */
export async function play(
  played: string | Prepared,
  program: string,
  last: string,
  ...flags: string[]
) {
  const { file, given } = typeof played === 'string' ? { file: played, given: {} } : played;
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
    mkdirSync(join(memory, 'memories'));
    for (const [name, content] of Object.entries(given)) {
      writeFileSync(join(memory, 'memories', name), content);
    }
    for (const { user } of script.sessions) {
      const extras = JSON.stringify(script.tool_extras ?? {});
      const args = [program, url, memory, user, extras, ...flags];
      const env = { ...process.env, NO_PROXY: '127.0.0.1' };
      const ran = await run(process.execPath, args, { env });
      assert.deepEqual(ran, { status: 0, stdout: `${last}\n`, stderr: '' });
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
  } catch (error) {
    standin.kill();
    throw error;
  }
  const [status] = (await ended) as [number | null];
  assert.equal(status, 0, problems);

  // The stand-in has asserted this already; checked again here from its record.
  for (const request of readFileSync(record, 'utf8').trim().split('\n')) {
    const { body } = JSON.parse(request) as { body?: { tools?: unknown } };
    if (body?.tools) {
      const tool = { type: 'memory_20250818', name: 'memory', ...script.tool_extras };
      assert.deepEqual(body.tools, [tool, ...(script.other_tools ?? [])]);
    }
  }
}

/** Every remaining file, and every empty directory. */
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
