// The examples of the pages about limits, stale views and write patterns are the code here, and
// do what the pages say.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Memory, openStore } from 'memdir';

import { PACKAGE, PROJECT } from './support.mjs';

/** Checks that the page has, after `<!-- typescript: name -->`, the code here after `// name`. */
function isOnThePage(name: string, file: string): void {
  const source = readFileSync(new URL('test/limits.test.mts', PACKAGE), 'utf8');
  const code = source.split(`  // ${name}\n`)[1]?.split('\n  // end')[0]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL(file, PROJECT), 'utf8');
  const block = page.split(`<!-- typescript: ${name} -->\n\`\`\`ts\n`)[1]?.split('\n```')[0];
  assert.ok(code);
  assert.equal(block, code);
}

test('a memory holds so much and not more', async () => {
  // limits
  const memory = new Memory('memory:', { maxTotalBytes: 64 * 1024, maxFiles: 100 });
  const { content, isError } = await memory.execute({
    command: 'create',
    path: '/memories/log.md',
    file_text: 'x'.repeat(100 * 1024),
  });
  // end
  assert.ok(isError);
  assert.match(String(content), /would hold 102400 bytes \(100\.0K\), and it may hold 65536 bytes/);
  isOnThePage('limits', 'docs/reference/policies/limits.md');
});

test('an insert by an older view is refused', async () => {
  const store = openStore('memory:');
  await store.write('/memories/list.md', Buffer.from('milk\n'), false);
  // stale views
  const memory = new Memory(store, { staleGuard: 'strict' });
  const { content, isError } = await memory.execute({
    command: 'insert',
    path: '/memories/list.md',
    insert_line: 1,
    insert_text: 'bread',
  });
  // end
  assert.ok(isError);
  assert.match(String(content), /^Error: You have not viewed the file \/memories\/list\.md yet\./);
  isOnThePage('stale views', 'docs/reference/policies/stale-guard.md');
});

test('some paths can be written and others cannot', async () => {
  // write patterns
  const memory = new Memory('memory:', {
    readOnlyPaths: ['/memories/handbook'],
    writablePaths: ['/memories/notes', '/memories/handbook'],
  });
  const { content, isError } = await memory.execute({
    command: 'create',
    path: '/memories/handbook/rules.md',
    file_text: 'No rules.\n',
  });
  // end
  assert.ok(isError);
  assert.match(String(content), /^Error: \/memories\/handbook\/rules\.md is read-only/);
  isOnThePage('write patterns', 'docs/reference/policies/write-patterns.md');
  // `null` sets no limit.
  const free = new Memory('memory:', { writablePaths: null, maxFiles: null });
  assert.equal((await free.execute({ command: 'view', path: '/memories' })).isError, false);
});
