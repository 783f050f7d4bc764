// One session of an agent, in a process of its own: the SDK's tool runner, and a memory with a history.
//
// Arguments: the API's address, the memory, who acts, what the user says, and milliseconds between two messages.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { TOOLS, memdir } from './installed.mjs';

const [baseURL, directory, actor, user, pause] = process.argv.slice(2);
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
  await sleep(Number(pause));
}
console.log(last.stop_reason);
