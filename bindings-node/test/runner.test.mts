// End to end: the packed package, and the real SDK with its real tool runner.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { project } from './consumer.mjs';
import { conversation, play } from './standin.mjs';
import { PACKAGE, temporary } from './support.mjs';

for (const sdk of ['@anthropic-ai/sdk', 'sdk-lowest'] as const) {
  const { version } = JSON.parse(
    readFileSync(new URL(`node_modules/${sdk}/package.json`, PACKAGE), 'utf8'),
  ) as { version: string };
  // One for all of them: a directory that a test makes goes with it.
  const directory = temporary();
  let installed: Promise<string> | undefined;
  for (const agent of ['agent.mjs', 'agent.cjs']) {
    for (const way of ['tool', 'handlers']) {
      for (const script of ['release-notes.json', 'parallel.json']) {
        test(`${script} through SDK ${version}, ${agent}, ${way}`, async () => {
          const program = join(await (installed ??= project(sdk, directory)), agent);
          await play(conversation(script), program, 'end_turn', way);
        });
      }
    }
  }
}
