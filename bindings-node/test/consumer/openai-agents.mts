// One session with the OpenAI Agents SDK. The API's address and key are in the environment.

import { Agent, run, tool } from '@openai/agents';
import { Memory } from 'memdir';
import { toolOutput } from 'memdir/openai-agents';

const [, directory, user] = process.argv.slice(2) as [string, string, string];
// The page's code opens ./memory.
process.chdir(directory);

// page
const memory = new Memory('./memory');
const memoryTool = tool({
  ...memory.toolDefinition('openai'),
  execute: async (input) => toolOutput(await memory.execute(input)),
});
// end
const agent = new Agent({ name: 'Assistant', model: 'gpt-5.2', tools: [memoryTool] });
const { finalOutput } = await run(agent, user, { maxTurns: 100 });
console.log(finalOutput);
