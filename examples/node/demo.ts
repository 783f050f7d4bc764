/**
 * An agent with a memory, end to end: the real `@anthropic-ai/sdk`, memdir, and two processes.
 *
 * By default a local stand-in plays Claude's part from a script and compares every reply of the
 * memory exactly; with `--live` the same user speaks to the real API. Each session runs in a
 * separate process (`session.ts`), so the second one knows only the files that the first one left
 * on disk.
 *
 *     node dist/demo.js [--keep DIR]
 *     ANTHROPIC_API_KEY=… node dist/demo.js --live [--model NAME]
 *
 * The exit status is 0 only if every reply, and the memory at the end, is as expected.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { load } from './conversation.js';
import type { Conversation } from './conversation.js';
import { Screen } from './screen.js';

const EXAMPLES = fileURLToPath(new URL('../../', import.meta.url));

const { values: options } = parseArgs({
  options: {
    live: { type: 'boolean', default: false },
    model: { type: 'string', default: 'claude-sonnet-5-5' },
    keep: { type: 'string' },
    conversation: {
      type: 'string',
      default: join(EXAMPLES, 'conversations', 'release-notes.json'),
    },
    pace: { type: 'string', default: process.stdout.isTTY ? '0.4' : '0' },
  },
});

/** The program. Returns its exit status: 1 for a mismatch, 2 if it cannot start. */
async function main(): Promise<number> {
  if (options.live && !process.env['ANTHROPIC_API_KEY']) {
    return refuse('--live talks to the real API and needs a key in ANTHROPIC_API_KEY.');
  }
  const script = load(options.conversation);
  const work = options.keep ?? mkdtempSync(join(tmpdir(), 'memdir-demo-'));
  const base = options.keep ?? join(work, 'memory');
  try {
    const memories = join(base, 'memories');
    if (!options.live && existsSync(memories) && readdirSync(memories).length > 0) {
      return refuse(
        `${base} holds memories already, and the scripted conversation begins without: ` +
          'choose another directory.',
      );
    }
    const versions = ['memdir', '@anthropic-ai/sdk'].map((name) => `${name} ${version(name)}`);
    const screen = new Screen();
    screen.line(versions.join(', '), 'bold');
    screen.line(`Claude's memory is in ${base}.`);
    screen.line(
      options.live
        ? 'On the other side is the real Messages API.'
        : 'On the other side is a stand-in for the Messages API, which checks every reply.',
    );
    return await run(script, base, screen);
  } finally {
    if (!options.keep) {
      rmSync(work, { recursive: true, force: true });
    }
  }
}

function refuse(why: string): number {
  console.error(why);
  return 2;
}

function version(name: string): string {
  // Not every package exports its package.json.
  let directory = dirname(createRequire(import.meta.url).resolve(name));
  while (!existsSync(join(directory, 'package.json')) || !manifest(directory).version) {
    directory = dirname(directory);
  }
  return manifest(directory).version ?? '';
}

function manifest(directory: string): { version?: string } {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

/** Runs the sessions, then checks the resulting memory. */
async function run(script: Conversation, base: string, screen: Screen): Promise<number> {
  layBeside(script, base);
  const standin = options.live ? undefined : await StandIn.start();
  const problems = await runSessions(script, base, standin?.url);

  screen.heading('On disk');
  screen.line();
  screen.tree(base);
  screen.line();
  problems.push(...disturbed(script, base));
  if (standin) {
    problems.push(...(await standin.finish()), ...unexpected(script, base));
  }
  for (const problem of problems) {
    screen.line(`✗ ${problem}`, 'red');
  }
  if (problems.length > 0) {
    return 1;
  }
  const count = script.sessions.length;
  let done = `✓ ${count} session${count > 1 ? 's, each' : ','} in its own process`;
  if (standin) {
    const turns = script.sessions.flatMap((session) => session.turns);
    const calls = turns.flatMap((turn) => turn.calls ?? []);
    done +=
      `: ${turns.length} messages from Claude, ${calls.length} tool results, ` +
      'and the memory that they left, all as they should be to the letter';
  }
  screen.line(`${done}.`, 'green');
  return 0;
}

/** Runs each session in a separate process. Returns the problems. */
async function runSessions(script: Conversation, base: string, url?: string): Promise<string[]> {
  const program = fileURLToPath(new URL('session.js', import.meta.url));
  const common = ['--script', options.conversation, '--memory', base, '--pace', options.pace];
  for (let number = 1; number <= script.sessions.length; number += 1) {
    const args = [program, ...common, '--number', String(number), '--model', options.model];
    const env = { ...process.env };
    if (url) {
      args.push('--base-url', url);
      // It is on this machine, so requests to it must bypass any proxy.
      env['NO_PROXY'] = env['no_proxy'] = '127.0.0.1';
    }
    const [status] = await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'exit');
    if (status !== 0) {
      return [`Session ${number} ended with status ${status}.`];
    }
  }
  return [];
}

/** The other side of the Messages API, as a separate process. */
class StandIn {
  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<StandIn> {
    const program = join(EXAMPLES, 'standin', 'standin.py');
    const args = [program, options.conversation, '--context-management'];
    const process = spawn('python3', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(process, 'exit').then(() => {
      throw new Error('the stand-in, which needs python3, cannot be started');
    });
    const [url] = await Promise.race([once(createInterface(process.stdout), 'line'), ended]);
    ended.catch(() => undefined);
    return new StandIn(process, String(url).trim());
  }

  /** Stops it. Returns the deviations from the script. */
  async finish(): Promise<string[]> {
    const ended = once(this.process, 'exit');
    const response = await fetch(`${this.url}/standin/finish`, {
      method: 'POST',
    });
    const { complete, failures, next } = (await response.json()) as {
      complete: boolean;
      failures: string[];
      next: string;
    };
    await ended;
    return complete || failures.length > 0 ? failures : [`The conversation stopped at ${next}.`];
  }
}

/** Creates the files next to the memory that Claude must not touch. */
function layBeside({ beside = {} }: Conversation, base: string): void {
  for (const [name, text] of Object.entries(beside)) {
    const file = join(base, name);
    if (!existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

/** The changes of the files next to the memory, if any. */
function disturbed({ beside = {} }: Conversation, base: string): string[] {
  return Object.entries(beside)
    .filter(([name, text]) => read(join(base, name)) !== text)
    .map(([name]) => `${name}, next to the memory, was touched.`);
}

function read(file: string): string | undefined {
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined;
}

/** The differences between the memory on disk and the script's expectation. */
function unexpected({ then }: Conversation, base: string): string[] {
  if (!then) {
    return [];
  }
  const left = new Map<string, string | null>();
  for (const name of readdirSync(join(base, 'memories'), {
    recursive: true,
  }) as string[]) {
    const file = join(base, 'memories', name);
    const text = read(file);
    if (text !== undefined || readdirSync(file).length === 0) {
      left.set(`/memories/${name}`, text ?? null);
    }
  }
  const problems: string[] = [];
  for (const path of new Set([...left.keys(), ...Object.keys(then)])) {
    if (!(path in then)) {
      problems.push(`${path} should not be there.`);
    } else if (!left.has(path)) {
      problems.push(`${path} should be there.`);
    } else if (left.get(path) !== then[path]) {
      problems.push(`${path} should be there with another content.`);
    }
  }
  return problems;
}

process.exitCode = await main();
