// The built library loads and answers.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('..', import.meta.url);
const [binary] = readdirSync(root).filter((name) => name.endsWith('.node'));
const { Engine } = createRequire(import.meta.url)(new URL(binary, root).pathname);

test('a command is executed and answered', async () => {
  const engine = new Engine('memory:');
  assert.deepEqual(
    await engine.execute({ command: 'create', path: '/memories/a', file_text: 'hé\n' }),
    { content: 'File created successfully at: /memories/a', isError: false },
  );
  assert.deepEqual(await engine.execute('{"command":"view","path":"/memories/a"}'), {
    content: "Here's the content of /memories/a with line numbers:\n     1\thé",
    isError: false,
  });
  assert.deepEqual(await engine.execute({ command: 'view', path: '/etc' }), {
    content: 'Path must start with /memories, got: /etc',
    isError: true,
  });
});
