// The examples of some pages of docs/reference/policies/, and the errors about wrong options.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Memory, openStore } from 'memdir';
import type { ExpiryProgress, MemoryOptions } from 'memdir';

import { PACKAGE, PROJECT } from './support.mjs';

test('sensitive text is refused, and the page has the code that runs here', async () => {
  // example
  const memory = new Memory('memory:', { sensitiveText: 'reject' });
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
  const page = readFileSync(new URL('docs/reference/policies/sensitive-text.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('an image is shown, and the page has the code that runs here', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNgQAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC';
  const store = openStore('memory:');
  await store.write('/memories/plan.png', Buffer.from(png, 'base64'), false);
  // images
  const shown = await new Memory(store).view({ path: '/memories/plan.png' });
  const images = typeof shown === 'string' ? [] : shown.map((block) => block.source.media_type);
  // Not for an SDK that takes only text: then the type of what a view shows is string.
  const text: string = await new Memory(store, { maxImageBytes: null }).view({ path: '/memories' });
  // end
  assert.deepEqual(images, ['image/png']);
  assert.match(text, /plan\.png$/);
  const plain = new Memory(store, { maxImageBytes: null });
  const { content } = await plain.execute({ command: 'view', path: '/memories/plan.png' });
  assert.match(content, /images cannot be shown here/);

  const source = readFileSync(new URL('test/policies.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ images\n(.*?)\n *\/\/ end/s.exec(source)?.[1]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/reference/policies/images.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript-images -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('the limit of Claude is the one by default', async () => {
  const store = openStore('memory:');
  const most = 3_932_160;
  for (const [size, sentence] of [
    [most, /holds no whole PNG or JPEG image/],
    [most + 1, /is an image of 3932161 bytes \(3\.8M\), and an image of more than 3932160 bytes/],
  ] as const) {
    await store.write('/memories/a.png', Buffer.alloc(size), true);
    const reply = await new Memory(store).execute({ command: 'view', path: '/memories/a.png' });
    assert.match(String(reply.content), sentence);
  }
});

test('unused files expire, and the page has the code that runs here', async () => {
  // expiry
  const days = 24 * 60 * 60 * 1000;
  const memory = new Memory('memory:', { recordAccess: true, neverExpire: ['/memories/handbook'] });
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
  assert.ok(Math.abs(Date.now() - expired!.lastUsed.getTime()) < 60 * 60 * 1000);
  assert.deepEqual(told, [{ files: 2, removed: 1 }]);
  // It looks like an error of a store, but is passed on unchanged.
  const thrown = Object.assign(new RangeError('enough'), { code: 'ENOENT', option: 'x' });
  const fail = () => {
    throw thrown;
  };
  await assert.rejects(memory.expire(0, { onProgress: fail }), (error) => error === thrown);
  await assert.rejects(
    memory.expire(-1),
    /^ConfigError: olderThan must be a number of milliseconds/,
  );

  const source = readFileSync(new URL('test/policies.test.mts', PACKAGE), 'utf8');
  const code = /\/\/ expiry\n(.*?)\n *\/\/ end/s.exec(source)?.[1]?.replace(/^ {2}/gm, '');
  const page = readFileSync(new URL('docs/reference/policies/expiry.md', PROJECT), 'utf8');
  assert.equal(/<!-- typescript-expiry -->\n```ts\n(.*?)\n```/s.exec(page)?.[1], code);
});

test('wrong rules are told at once', () => {
  const cases: [unknown, RegExp][] = [
    [{ maxImageBytes: -1 }, /^maxImageBytes must be a whole number from 0 on, or null, got -1$/],
    [{ maxFiles: -1 }, /^maxFiles must be a whole number from 0 on, or null, got -1$/],
    [{ staleGuard: true }, /^staleGuard must be "off", "on" or "strict", got true$/],
    [{ staleGuard: 'yes' }, /^staleGuard must be "off", "on" or "strict", got "yes"$/],
    [
      { readOnlyPaths: '/memories/a' },
      /^readOnlyPaths must be an array of strings, got "\/memories\/a"$/,
    ],
    [{ readOnlyPaths: ['/memories/a', 1] }, /^readOnlyPaths\[1\] must be a string, got 1$/],
    [{ writablePaths: ['notes'] }, /^writablePaths: the pattern "notes" does not start with/],
    [{ sensitiveText: 'yes' }, /^sensitiveText must be "off", "reject" or "redact", got "yes"$/],
    [{ sensitiveOnView: 1 }, /^sensitiveOnView must be true or false, got 1$/],
    [{ sensitiveRules: 'x' }, /^sensitiveRules must be an object of strings, got "x"$/],
    [{ sensitiveRules: { badge: 1 } }, /^sensitiveRules\.badge must be a string, got 1$/],
    [{ sensitiveRules: { badge: '(' } }, /^sensitiveRules: the pattern of "badge" is not usable/],
    [{ sensitiveRules: { Badge: 'x' } }, /^sensitiveRules: an id must be/],
    [
      { expireAfter: '1' },
      /^expireAfter must be a number of milliseconds from 0 on, or null, got ("1"|-1)$/,
    ],
    [
      { expireAfter: -1 },
      /^expireAfter must be a number of milliseconds from 0 on, or null, got ("1"|-1)$/,
    ],
    [{ recordAccess: 1 }, /^recordAccess must be true or false, got 1$/],
    [
      { neverExpire: ['notes'] },
      /^neverExpire: the pattern "notes" does not start with \/memories$/,
    ],
    [{ recordAccess: true, readOnly: true }, /^recordAccess cannot be set together with readOnly/],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => new Memory('memory:', options as MemoryOptions), { message });
  }
});

test('a list of patterns counts as a whole, however long it is', async () => {
  const paths = Array.from({ length: 300 }, (_, at) => `/memories/${at}`);
  const memory = new Memory('memory:', { readOnlyPaths: paths });
  for (const path of paths) {
    await assert.rejects(memory.write(path, 'x'), { kind: 'read_only' }, path);
  }
  await memory.bootstrap({ about: 'tea', features: paths });
  for (const path of paths) {
    assert.ok((await memory.read('/memories/features.md')).includes(path));
  }
  const readOnlyPaths = [...paths, 5] as string[];
  const message = 'readOnlyPaths[300] must be a string, got 5';
  assert.throws(() => new Memory('memory:', { readOnlyPaths }), { message });
});
