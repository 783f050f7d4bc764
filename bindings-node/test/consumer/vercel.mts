// One session with the Vercel AI SDK.

import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, stepCountIs } from 'ai';
import { Memory } from 'memdir';

const [baseURL, directory, user] = process.argv.slice(2) as [string, string, string];
const memory = new Memory(directory, { maxImageBytes: null });
const anthropic = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: 'not-a-key' });

const { finishReason } = await generateText({
  model: anthropic('claude-sonnet-5-5'),
  maxRetries: 0,
  stopWhen: stepCountIs(50),
  prompt: user,
  tools: {
    memory: anthropic.tools.memory_20250818({
      execute: async (command) => {
        const { content, isError } = await memory.execute(command);
        if (isError) {
          throw new Error(content);
        }
        return content;
      },
    }),
  },
});
console.log(finishReason);
