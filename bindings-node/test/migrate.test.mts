// The code of docs/migrate/sdk-tools.md: the SDK's own file tool and memdir use one directory.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { project } from './consumer.mjs';
import { PROJECT, run } from './support.mjs';

const PAGE = readFileSync(new URL('docs/migrate/sdk-tools.md', PROJECT), 'utf8');
const block = (mark: string) =>
  new RegExp(`<!-- ${mark} -->\\n\`\`\`ts\\n(.*?)\`\`\``, 's').exec(PAGE)?.[1] ?? assert.fail(mark);

test('one directory for both tools, in both directions', async () => {
  const directory = project('@anthropic-ai/sdk');
  for (const mark of ['before', 'after']) {
    const call = 'process.stdout.write(await tool.run(JSON.parse(process.argv[2])));\n';
    writeFileSync(join(directory, `${mark}.mjs`), block(mark) + call);
  }
  const execute = async (mark: string, input: Record<string, unknown>) => {
    const args = [`${mark}.mjs`, JSON.stringify(input)];
    const { status, stdout, stderr } = await run(process.execPath, args, { cwd: directory });
    assert.equal(status, 0, stderr);
    return stdout;
  };

  const path = '/memories/team/plan.md';
  await execute('before', { command: 'create', path, file_text: '1. Begin.\n' });
  assert.match(await execute('after', { command: 'view', path }), /\n {5}1\t1\. Begin\.$/);
  await execute('after', { command: 'insert', path, insert_line: 1, insert_text: '2. End.\n' });
  assert.match(await execute('before', { command: 'view', path }), /\n {5}2\t2\. End\.\n/);
});

test('files of another storage', async () => {
  const directory = project('@anthropic-ai/sdk');
  const tool = `import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
    import { memoryTool } from 'memdir';
    for (const tool of [memoryTool(memory), betaMemoryTool(memory)]) {
      console.log(await tool.run({ command: 'view', path: '/memories/tea.md' }));
    }`;
  writeFileSync(join(directory, 'rows.mjs'), `${block('rows')}\n${tool}`);
  const { status, stdout, stderr } = await run(process.execPath, ['rows.mjs'], { cwd: directory });
  assert.equal(status, 0, stderr);
  assert.equal(stdout.match(/ {5}1\t- green/g)?.length, 2);
});
