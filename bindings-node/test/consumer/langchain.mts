// One session with LangChain: with its own memory tool, or with one that forwards all calls.

import { ChatAnthropic, tools } from '@langchain/anthropic';
import { createAgent, tool } from 'langchain';
import { Memory } from 'memdir';

const [baseURL, directory, user, , way] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const memory = new Memory(directory, { maxImageBytes: null });
const execute = async (command: unknown) => (await memory.execute(command)).content;

const theirs = tools.memory_20250818({ execute });
const complete = tool(execute, {
  name: 'memory',
  schema: { type: 'object' },
  extras: { providerToolDefinition: { type: 'memory_20250818', name: 'memory' } },
});

const agent = createAgent({
  model: new ChatAnthropic({
    model: 'claude-sonnet-5-5',
    apiKey: 'not-a-key',
    anthropicApiUrl: baseURL,
    maxRetries: 0,
    maxTokens: 1024,
  }),
  tools: [way === 'theirs' ? theirs : complete],
});
const { messages } = await agent.invoke(
  { messages: [{ role: 'user', content: user }] },
  { recursionLimit: 100 },
);
const { stop_reason } = messages.at(-1)?.response_metadata as { stop_reason: string };
console.log(stop_reason);
