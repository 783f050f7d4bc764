// The example of docs/policies.md, and what is told about options that are wrong.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Memory } from 'memdir';
import type { ExpiryProgress, Options } from 'memdir';

import { PACKAGE, PROJECT } from './support.mjs';

test('sensitive text is refused, and the page has the code that runs here', async () => {
  // example
  const memory = new Memory('memory:', { sensitive: 'reject' });
  const { content, isError } = await memory.execute({
    command: 'create',
    path: '/memories/notes.md',
    file_text: 'Router password: sun7-Flower!\n',
  });
  // end
  assert.ok(isError);
  assert.match(String(content), /line 1 \(password-assignment\)/);

  const source = readFileSync(new URL('test/policies.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ example\n(.*?)\n *\/\/ end/s.exec(source)?.[1]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/policies.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('unused files expire, and the page has the code that runs here', async () => {
  // expiry
  const days = 24 * 60 * 60 * 1000;
  const memory = new Memory('memory:', { recordAccess: true, pins: ['/memories/handbook'] });
  const unused = await memory.expire(90 * days, { dryRun: true });
  // end
  assert.deepEqual(unused, []);
  for (const path of ['/memories/notes.md', '/memories/handbook/a.md']) {
    await memory.create({ path, file_text: 'text\n' });
  }
  const told: ExpiryProgress[] = [];
  const onProgress = (progress: ExpiryProgress) => told.push(progress);
  const [expired, ...others] = await memory.expire(0, { onProgress });
  assert.deepEqual([expired?.path, expired?.bytes, others], ['/memories/notes.md', 5, []]);
  assert.ok(Math.abs(Date.now() - expired!.lastUsed) < 60 * 60 * 1000);
  assert.deepEqual(told, [{ files: 2, removed: 1 }]);
  const thrown = new RangeError('enough');
  const fail = () => {
    throw thrown;
  };
  await assert.rejects(memory.expire(0, { onProgress: fail }), thrown);
  await assert.rejects(memory.expire(-1), /^Error: olderThan must be a number of milliseconds/);

  const source = readFileSync(new URL('test/policies.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ expiry\n(.*?)\n *\/\/ end/s.exec(source)?.[1]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/policies.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript-expiry -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('wrong rules are told at once', () => {
  const cases: [unknown, RegExp][] = [
    [{ maxFiles: -1 }, /^maxFiles must be a whole number from 0 on, or null, got -1$/],
    [{ staleGuard: true }, /^staleGuard must be a string, got true$/],
    [{ staleGuard: 'yes' }, /^staleGuard must be "off", "on" or "strict", got "yes"$/],
    [{ readOnlyPaths: '/memories/a' }, /^readOnlyPaths must be an array, got "\/memories\/a"$/],
    [{ readOnlyPaths: ['/memories/a', 1] }, /^readOnlyPaths\[1\] must be a string, got 1$/],
    [{ writablePaths: ['notes'] }, /^writablePaths: the pattern "notes" does not start with/],
    [{ sensitive: 'yes' }, /^sensitive must be "off", "reject" or "redact", got "yes"$/],
    [{ sensitiveOnView: 1 }, /^sensitiveOnView must be true or false, got 1$/],
    [{ sensitiveRules: 'x' }, /^sensitiveRules must be an object, got "x"$/],
    [{ sensitiveRules: { badge: 1 } }, /^sensitiveRules\.badge must be a string, got 1$/],
    [{ sensitiveRules: { badge: '(' } }, /^sensitiveRules: the pattern of "badge" is not usable/],
    [{ sensitiveRules: { Badge: 'x' } }, /^sensitiveRules: an id must be/],
    [{ expireAfter: '1' }, /^expireAfter must be a number of milliseconds from 0 on$/],
    [{ expireAfter: -1 }, /^expireAfter must be a number of milliseconds from 0 on$/],
    [{ recordAccess: 1 }, /^recordAccess must be true or false, got 1$/],
    [{ pins: ['notes'] }, /^pins: the pattern "notes" does not start with \/memories$/],
    [
      { recordAccess: true, readOnly: true },
      /^record_access cannot be set together with read_only/,
    ],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => new Memory('memory:', options as Options), { message });
  }
});
