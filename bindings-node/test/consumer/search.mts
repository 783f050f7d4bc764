// A user's program: one session with the memory tool, and the search beside it.

import { Anthropic } from '@anthropic-ai/sdk';
import { memoryTool, searchTool } from 'memdir';

const [baseURL, directory, user] = process.argv.slice(2) as [string, string, string];
const tool = memoryTool(directory);
const client = new Anthropic({ baseURL, apiKey: 'not-a-key', maxRetries: 0 });
const last = await client.beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  messages: [{ role: 'user', content: user }],
  tools: [tool, searchTool(tool.memory)],
});
console.log(last.stop_reason);
