// A user's program, as ESM: one session with the SDK's tool runner. It is copied into the project
// with the packed package. `agent.cts` does the same as CommonJS.

import { Anthropic } from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { Memory, memoryTool } from 'memdir';

const [baseURL, directory, user, extras, way] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const tool = way === 'tool' ? memoryTool(directory) : betaMemoryTool(new Memory(directory));
const client = new Anthropic({ baseURL, apiKey: 'not-a-key', maxRetries: 0 });
const last = await client.beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  messages: [{ role: 'user', content: user }],
  tools: [{ ...tool, ...(JSON.parse(extras) as object) }],
});
console.log(last.stop_reason);
