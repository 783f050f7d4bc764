// The programs of the guides about reviews, encryption and other frameworks.

import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Memory } from 'memdir';

import { project } from './consumer.mjs';
import { play, scripted } from './standin.mjs';
import { PACKAGE, PROJECT, run } from './support.mjs';

/** The code after a mark of a page. */
function block(page: string, mark: string, language = 'ts'): string {
  const text = readFileSync(new URL(page, PROJECT), 'utf8');
  const found = new RegExp(`<!-- ${mark} -->\\n\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(text);
  assert.ok(found, `${page}: ${mark}`);
  return found[1] ?? '';
}

/** Runs a program in a directory, and returns what it prints. */
async function printed(directory: string, source: string): Promise<string> {
  const args = ['--input-type=module', '--eval', source];
  const { status, stdout, stderr } = await run(process.execPath, args, { cwd: directory });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  return stdout;
}

test('a person approves, as docs/guides/review.md says', async () => {
  const page = 'docs/guides/review.md';
  const source = block(page, 'typescript-approve');
  assert.equal(await printed(project(), source), block(page, 'approve-printed', 'text'));
});

test('the changes of a session are undone, as docs/guides/review.md says', async () => {
  const directory = project();
  const memory = new Memory(join(directory, 'memory'), { history: true, actor: 'session-7' });
  await memory.write('/memories/tea.md', 'black');
  const source = `
    ${block('docs/guides/review.md', 'typescript-undo')}
    for (const { operation, path } of undone.files) console.log(operation, path);
  `;
  assert.equal(await printed(directory, source), 'deleted /memories/tea.md\n');
});

test('a memory is encrypted and gets another key, as docs/guides/encrypted.md says', async () => {
  const page = 'docs/guides/encrypted.md';
  const directory = project();
  const says = block(page, 'open-printed', 'text');
  const open = block(page, 'typescript-open');
  assert.equal(await printed(directory, open), says);
  assert.equal(await printed(directory, block(page, 'typescript-rekey')), '');
  assert.equal(await printed(directory, open.replace('memory.key', 'new.key')), says);
  const { status, stderr } = await run(process.execPath, ['--input-type=module', '--eval', open], {
    cwd: directory,
  });
  assert.equal(status, 1);
  assert.match(stderr, /ConfigError/);
});

test('two agents share a memory, as docs/guides/other-frameworks.md says', async () => {
  const page = 'docs/guides/other-frameworks.md';
  const directory = project('@anthropic-ai/sdk');
  for (const name of ['ai', '@ai-sdk']) {
    const from = fileURLToPath(new URL(`node_modules/${name}`, PACKAGE));
    symlinkSync(from, join(directory, 'node_modules', name));
  }
  for (const agent of ['planner', 'writer']) {
    const source = block(page, `typescript-${agent}`).replace(`'./memory'`, 'process.argv[3]');
    writeFileSync(join(directory, `${agent}.mjs`), source);
  }
  // The two packages read the address differently.
  const program = join(directory, 'agents.mjs');
  writeFileSync(
    program,
    `const planner = process.argv[4].includes('Note it.');
    process.env.ANTHROPIC_BASE_URL = process.argv[2] + (planner ? '' : '/v1');
    process.env.ANTHROPIC_API_KEY = 'not-a-key';
    await import(planner ? './planner.mjs' : './writer.mjs');
    `,
  );
  const path = '/memories/launch.md';
  const create = { command: 'create', path, file_text: '- on Friday\n' };
  const view = { command: 'view', path };
  const created = `File created successfully at: ${path}`;
  const shown = `Here's the content of ${path} with line numbers:\n     1\t- on Friday`;
  const turns = (input: object, result: string) => [
    { calls: [{ input, result, is_error: false }] },
    { text: 'Done.' },
  ];
  const sessions = [
    { user: 'The launch is on Friday. Note it.', turns: turns(create, created) },
    { user: 'Write the invitation.', turns: turns(view, shown) },
  ];
  const then = { [path]: '- on Friday\n' };
  await play(scripted({ about: 'two agents', sessions, then }, {}), program, 'Done.');
});
