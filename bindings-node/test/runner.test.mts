// End to end: the packed package, and the real SDK with its real tool runner.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { project } from './consumer.mjs';
import { conversation, play, scripted } from './standin.mjs';
import type { Prepared } from './standin.mjs';
import { EFFORT, PACKAGE, PROJECT, temporary } from './support.mjs';

type Script = 'release notes' | 'parallel' | 'image';

/**
 * The conversations that each combination plays by default. Any two of an SDK, an agent and an interface occur together.
 * With more effort, all eight combinations play all conversations.
 */
const PLAYED: Record<string, Script[]> = {
  '@anthropic-ai/sdk,agent.mjs,tool': ['parallel', 'release notes'],
  '@anthropic-ai/sdk,agent.cjs,handlers': ['parallel', 'image'],
  'sdk-lowest,agent.mjs,handlers': ['parallel', 'release notes'],
  'sdk-lowest,agent.cjs,tool': ['parallel', 'image'],
};
const scripts = (...combination: string[]): Script[] =>
  EFFORT > 1 ? ['parallel', 'release notes', 'image'] : (PLAYED[combination.join()] ?? []);

for (const sdk of ['@anthropic-ai/sdk', 'sdk-lowest'] as const) {
  const { version } = JSON.parse(
    readFileSync(new URL(`node_modules/${sdk}/package.json`, PACKAGE), 'utf8'),
  ) as { version: string };
  // One directory for all tests: a directory that a test creates is removed with it.
  const directory = temporary();
  let installed: string | undefined;
  for (const agent of ['agent.mjs', 'agent.cjs']) {
    for (const way of ['tool', 'handlers']) {
      const through = `through SDK ${version}, ${agent}, ${way}`;
      const program = () => join((installed ??= project(sdk, directory)), agent);
      const played = {
        'release notes': () => conversation('release-notes.json'),
        parallel: () => conversation('parallel.json'),
        image,
      };
      for (const script of scripts(sdk, agent, way)) {
        test(`${script} ${through}`, async () => {
          await play(played[script](), program(), 'end_turn', way);
        });
      }
    }
  }
}

/** Claude views an image, and deletes it. */
function image(): Prepared {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNgQAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC';
  const path = '/memories/a.png';
  const calls = [
    [
      { command: 'view', path },
      { $image: 'image/png', $base64: png },
    ],
    [{ command: 'delete', path }, `Successfully deleted ${path}`],
  ].map(([input, result]) => ({ calls: [{ input, result, is_error: false }] }));
  const session = { user: 'What is on it?', turns: [...calls, { text: 'A dot.' }] };
  const script = { about: 'an image', sessions: [session], then: {} };
  return scripted(script, { 'a.png': Buffer.from(png, 'base64') });
}
