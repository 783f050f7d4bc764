// The programs of two guides: agents in several processes, and a server for many users, on a real PostgreSQL.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Memory } from 'memdir';

import { project } from './consumer.mjs';
import { postgres } from './servers.mjs';
import { PROJECT, run } from './support.mjs';

const database = await postgres();

/** A block of docs/guides/several-processes.md. */
function block(mark: string, language: string): string {
  const page = readFileSync(new URL('docs/guides/several-processes.md', PROJECT), 'utf8');
  return (
    new RegExp(`<!-- ${mark} -->\\n\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? ''
  );
}

test('two processes edit one file, and no edit is lost', async () => {
  const directory = project();
  for (const [mark, stdout] of [
    ['typescript', block('printed', 'text')],
    ['typescript-session', ''],
  ] as const) {
    writeFileSync(join(directory, 'agents.mjs'), block(mark, 'ts'));
    const ran = await run(process.execPath, ['agents.mjs'], { cwd: directory });
    assert.deepEqual(ran, { status: 0, stdout, stderr: '' });
  }
});

/** Starts examples/node/server.ts, and returns a function that sends it a request of a user. */
async function serve(t: TestContext, memories: string) {
  const program = fileURLToPath(new URL('examples/server.js', import.meta.url));
  const env = { ...process.env, MEMORIES: memories, PORT: '0' };
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  const server = spawn(process.execPath, [program], { env, stdio: [...stdio] });
  t.after(() => server.kill());
  const [url] = (await once(createInterface(server.stdout!), 'line')) as [string];
  return async (user: string, method: string, path: string, body?: object) => {
    const authorization = user && `Bearer ${user}`;
    const answer = await fetch(url + path, {
      method,
      headers: { authorization },
      body: body ? JSON.stringify(body) : null,
    });
    const retry = answer.headers.get('retry-after');
    return { status: answer.status, retry, body: (await answer.json()) as object };
  };
}

test('the server keeps the memories of its users apart', { skip: !database }, async (t) => {
  const [address = ''] = database!().split('?');
  const send = await serve(t, address);
  // Other tests use the same database.
  const [ann, ben] = [`ann ${randomUUID()}`, `ben ${randomUUID()}`];
  const create = { command: 'create', path: '/memories/a.md', file_text: 'tea\n' };
  const made = { content: 'File created successfully at: /memories/a.md', is_error: false };
  for (const user of [ann, ben]) {
    assert.deepEqual((await send(user, 'POST', '/tool', create)).body, made);
  }
  const again = await send(ann, 'POST', '/tool', create);
  assert.deepEqual(again.body, {
    content: 'Error: File /memories/a.md already exists',
    is_error: true,
  });
  assert.equal((await send(ann, 'POST', '/tool')).status, 200);
  const large = { ...create, path: '/memories/b.md', file_text: 'x'.repeat(1_000_001) };
  const full = (await send(ann, 'POST', '/tool', large)).body as { content: string };
  assert.match(full.content, /the memory would hold/);

  const file = '/file?path=/memories/a.md';
  assert.deepEqual((await send(ann, 'GET', file)).body, { text: 'tea\n' });
  assert.deepEqual((await send(ann, 'DELETE', '/memory')).body, { files: 1, versions: 0 });
  assert.equal((await send(ann, 'GET', file)).status, 404);
  assert.equal((await send(ann, 'GET', '/file?path=/etc/passwd')).status, 400);
  assert.equal((await send(ann, 'GET', '/file?path=/memories')).status, 409);
  assert.equal((await send(ann, 'GET', '/')).status, 404);
  assert.equal((await send('', 'GET', file)).status, 401);
  const kept = new Memory(address, { namespace: `user:${ben}` });
  assert.equal(await kept.read('/memories/a.md'), 'tea\n');
});

test('the server asks for another try while its database is down', async (t) => {
  const send = await serve(t, 'postgres://none@127.0.0.1:1/none?connect_timeout=1');
  const view = { command: 'view', path: '/memories' };
  const { status, retry, body } = await send('ann', 'POST', '/tool', view);
  assert.deepEqual([status, retry], [503, '5']);
  assert.deepEqual(body, { detail: 'The memory cannot be used now.' });
});
