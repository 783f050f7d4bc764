// A user's program, as CommonJS: see `agent.mts`.

import Anthropic = require('@anthropic-ai/sdk');
import memory = require('@anthropic-ai/sdk/helpers/beta/memory');
import memdir = require('memdir');

const [baseURL, directory, user, extras, way] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const tool =
  way === 'tool'
    ? memdir.memoryTool(directory)
    : memory.betaMemoryTool(new memdir.Memory(directory));
const client = new Anthropic.Anthropic({ baseURL, apiKey: 'not-a-key', maxRetries: 0 });
client.beta.messages
  .toolRunner({
    model: 'claude-sonnet-5-5',
    max_tokens: 1024,
    messages: [{ role: 'user', content: user }],
    tools: [{ ...tool, ...(JSON.parse(extras) as object) }],
  })
  .runUntilDone()
  .then(
    (last) => console.log(last.stop_reason),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
