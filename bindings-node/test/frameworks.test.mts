// Other agents' front doors, with the real packages: the Vercel AI SDK and LangChain.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { conversation, play } from './standin.mjs';
import { PACKAGE, temporary } from './support.mjs';

const program = (name: string) => fileURLToPath(new URL(`consumer/${name}.mjs`, import.meta.url));

function version(name: string): string {
  const file = new URL(`node_modules/${name}/package.json`, PACKAGE);
  return `${name} ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`;
}

/** What LangChain can carry: its tool knows no `view_range`, and no result says `is_error`. */
function plainConversation(): string {
  const file = join(temporary(), 'plain.json');
  const path = '/memories/tea.md';
  const call = (input: object, result: string) => ({ input, result, is_error: false });
  const turns = [
    {
      text: 'I look, and write it down.',
      calls: [
        call(
          { command: 'view', path: '/memories/nowhere' },
          'The path /memories/nowhere does not exist. Please provide a valid path.',
        ),
        call(
          { command: 'create', path, file_text: 'tea: green\n' },
          `File created successfully at: ${path}`,
        ),
      ],
    },
    {
      calls: [
        call({ command: 'create', path, file_text: 'again' }, `Error: File ${path} already exists`),
        call(
          { command: 'insert', path, insert_line: 1, insert_text: 'cups: 2' },
          `The file ${path} has been edited.`,
        ),
      ],
    },
    {
      calls: [
        call(
          { command: 'str_replace', path, old_str: 'green', new_str: 'black' },
          'The memory file has been edited. Here is the snippet showing the change (with line ' +
            'numbers):\n     1\ttea: black\n     2\tcups: 2',
        ),
      ],
    },
    {
      calls: [
        call(
          { command: 'rename', old_path: path, new_path: '/memories/drinks.md' },
          `Successfully renamed ${path} to /memories/drinks.md`,
        ),
      ],
    },
    { calls: [call({ command: 'delete', path }, `Error: The path ${path} does not exist`)] },
    { text: 'Noted.' },
  ];
  const then = { '/memories/drinks.md': 'tea: black\ncups: 2\n' };
  writeFileSync(
    file,
    JSON.stringify({
      about: 'Every command, without what LangChain drops.',
      sessions: [{ user: 'Black tea, two cups.', turns }],
      then,
    }),
  );
  return file;
}

for (const script of ['release-notes.json', 'parallel.json']) {
  test(`${script} through ${version('ai')}, ${version('@ai-sdk/anthropic')}`, async () => {
    await play(conversation(script), program('vercel'), 'stop');
  });
}

test(`every command through ${version('@langchain/anthropic')}, its own tool`, async () => {
  await play(plainConversation(), program('langchain'), 'end_turn', 'theirs');
});

test(`parallel.json through ${version('langchain')}, a tool that passes everything on`, async () => {
  await play(conversation('parallel.json'), program('langchain'), 'end_turn', 'complete');
});
