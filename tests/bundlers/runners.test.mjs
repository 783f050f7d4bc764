// Jest and Vitest: the tests of a user's program run.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { program, project, version } from './support.mjs';

const BODY = `
test('it remembers', async () => {
  const memory = new Memory('memory:');
  const path = '/memories/tea.md';
  const made = await memory.execute({ command: 'create', path, file_text: 'green\\n' });
  expect(made.isError).toBe(false);
  expect((await memory.execute({ command: 'view', path })).content).toContain('green');
  await expect(memory.delete({ path: '/memories' })).rejects.toThrow('Cannot delete');
});
`;
const COMMONJS = `const { Memory } = require('memdir');\n${BODY}`;
const ESM = `import { Memory } from 'memdir';\n${BODY}`;

test(`Jest ${version('jest')}`, async () => {
  const directory = await project('jest', {
    'one.test.js': COMMONJS,
    'two.test.js': COMMONJS,
  });
  const { status, output } = await program('jest/bin/jest.js', ['--rootDir', '.'], directory);
  assert.equal(status, 0, output);
  assert.match(output, /^Tests: +2 passed, 2 total$/m);
});

test(`Vitest ${version('vitest')}`, async () => {
  const ours = `import { expect, test } from 'vitest';\n${ESM}`;
  const inlined = `export default { test: { server: { deps: { inline: ['memdir'] } } } };\n`;
  const files = {
    'one.test.mjs': ours,
    'two.test.mjs': ours,
    'inlined.config.mjs': inlined,
  };
  const directory = await project('vitest', files);
  for (const flags of [[], ['--config', 'inlined.config.mjs']]) {
    const args = ['run', '--root', '.', ...flags];
    const { status, output } = await program('vitest/vitest.mjs', args, directory);
    assert.equal(status, 0, output);
    assert.match(output, /^ +Tests +2 passed \(2\)$/m);
  }
});
