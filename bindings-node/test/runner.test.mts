// End to end: the packed package, and the real SDK with its real tool runner.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Memory } from 'memdir';

import { project } from './consumer.mjs';
import { conversation, play, scripted } from './standin.mjs';
import type { Prepared } from './standin.mjs';
import { EFFORT, PACKAGE, PROJECT, temporary } from './support.mjs';

type Script = 'release notes' | 'parallel' | 'image';

/**
 * The conversations of the combinations that play: any two of an SDK, an agent and a way meet. With more effort all eight
 * combinations play all conversations.
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
  // One for all of them: a directory that a test makes goes with it.
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

test('the agent of docs/start/typescript.md', async () => {
  const page = readFileSync(new URL('docs/start/typescript.md', PROJECT), 'utf8');
  const block = (mark: string, language: string) =>
    new RegExp(`<!-- ${mark} -->\\n\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
  const program = join(project('@anthropic-ai/sdk'), 'start.mjs');
  const settings = `Object.assign(process.env, { ANTHROPIC_BASE_URL: process.argv[2], ANTHROPIC_API_KEY: 'not-a-key' });`;
  writeFileSync(program, settings + block('agent', 'ts').replace(`'./memory'`, 'process.argv[3]'));
  const path = '/memories/allergies.md';
  const input = { command: 'create', path, file_text: '- nuts\n' };
  const result = `File created successfully at: ${path}`;
  const last = block('agent-printed', 'text').trimEnd();
  const turns = [{ calls: [{ input, result, is_error: false }] }, { text: last }];
  const sessions = [{ user: 'Remember that I am allergic to nuts.', turns }];
  await play(
    scripted({ about: 'a start', sessions, then: { [path]: '- nuts\n' } }, {}),
    program,
    last,
  );
});

test('Claude searches, and edits what it found', async () => {
  const program = join(project('@anthropic-ai/sdk'), 'search.mjs');
  const path = '/memories/drinks.md';
  const found = `${path}\n     1\t- Anna likes green tea.`;
  const edited =
    'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n' +
    '     1\t- Anna likes water.';
  const tool = 'memory_search';
  const edit = { command: 'str_replace', path, old_str: 'green tea', new_str: 'water' };
  const turns = [
    [{ tool, input: { query: 'What does Anna like?' }, result: found, is_error: false }],
    [{ input: edit, result: edited, is_error: false }],
    [
      {
        tool,
        input: { query: 'tea', limit: 0 },
        result:
          'Error: Invalid `limit` parameter: expected an integer from 1 to 20, got the number 0',
        is_error: true,
      },
    ],
  ].map((calls) => ({ calls }));
  const definition = new Memory('memory:').searchToolDefinition('anthropic-custom');
  const script = {
    about: 'a search',
    other_tools: [definition],
    sessions: [{ user: 'What does Anna like?', turns: [...turns, { text: 'Water.' }] }],
    then: { [path]: '- Anna likes water.\n' },
  };
  const given = { 'drinks.md': Buffer.from('- Anna likes green tea.\n') };
  await play(scripted(script, given), program, 'end_turn');
});

/** Claude looks at an image, and deletes it. */
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
