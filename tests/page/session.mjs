// One session of an agent, in a separate process: the SDK's tool runner, and a memory with a history.
//
// Arguments: the API's address, the memory, the actor, the user's message; and a file of the memory. After that file is
// created the session waits until another file, outside the memory, exists.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { memdir } from './installed.mjs';
import { TOOLS } from './places.mjs';

const [baseURL, directory, actor, user, waitsAt, waitsFor] = process.argv.slice(2);
const requireTool = createRequire(`${TOOLS}/package.json`);
const { Anthropic } = await import(pathToFileURL(requireTool.resolve('@anthropic-ai/sdk')).href);

const client = new Anthropic({ baseURL, apiKey: 'not-a-key', maxRetries: 0 });
const runner = client.beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  messages: [{ role: 'user', content: user }],
  tools: [memdir.memoryTool(directory, { history: true, actor, durability: 'relaxed' })],
});
let last;
for await (const message of runner) {
  last = message;
  if (waitsAt && existsSync(join(directory, 'memories', waitsAt))) {
    while (!existsSync(waitsFor)) {
      await sleep(20);
    }
  }
}
console.log(last.stop_reason);
