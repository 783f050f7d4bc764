/**
 * One session of the demo: a user's message, the real tool runner, Claude's memory.
 *
 * This is all that your own program needs. `demo.ts` starts it, once for each session. Only the
 * memory is kept between sessions.
 */

import { Anthropic } from '@anthropic-ai/sdk';
import { CONTEXT_MANAGEMENT_BETA, contextManagement, memoryTool } from 'memdir';
import { parseArgs } from 'node:util';

import { load } from './conversation.js';
import { Screen } from './screen.js';

/** The limit of a live conversation, which costs money. */
const MAX_TURNS = 50;

const { values: options } = parseArgs({
  options: {
    script: { type: 'string', default: '' },
    number: { type: 'string', default: '1' },
    memory: { type: 'string', default: './memory' },
    model: { type: 'string', default: '' },
    'base-url': { type: 'string' },
    pace: { type: 'string', default: '0' },
  },
});
const screen = new Screen(Number(options.pace));
const user = load(options.script).sessions[Number(options.number) - 1]?.user ?? '';
screen.heading(`Session ${options.number} · process ${process.pid}`);
await screen.says('User', user, 'yellow');

// The real API is configured by the environment; the stand-in must not see a real key.
const standin = options['base-url'];
const client = new Anthropic(standin ? { baseURL: standin, apiKey: 'not-a-key' } : {});

const runner = client.beta.messages.toolRunner({
  model: options.model,
  max_tokens: 4096,
  max_iterations: MAX_TURNS,
  // In a long conversation the API clears old tool results, but not those of the memory.
  betas: [CONTEXT_MANAGEMENT_BETA],
  context_management: contextManagement(),
  tools: [memoryTool(options.memory)],
  messages: [{ role: 'user', content: user }],
});

try {
  for await (const message of runner) {
    const texts = message.content.filter((block) => block.type === 'text');
    if (texts.length > 0) {
      await screen.says('Claude', texts.map(({ text }) => text).join('\n\n'), 'cyan');
    }
    if (message.stop_reason === 'tool_use') {
      // The runner would do this itself. Here it is done explicitly to show the results. The runner
      // caches them, so no tool runs twice.
      await showResults(message, await runner.generateToolResponse());
    }
  }
} catch (error) {
  if (!(error instanceof Anthropic.APIError)) {
    throw error;
  }
  const said = (error.error as { error?: { message?: string } } | undefined)?.error?.message;
  screen.line(`\n✗ ${said ?? error.message}`, 'red');
  process.exitCode = 1;
}

async function showResults(
  message: Anthropic.Beta.BetaMessage,
  response: Anthropic.Beta.BetaMessageParam | null,
): Promise<void> {
  const results = Array.isArray(response?.content) ? response.content : [];
  for (const call of message.content) {
    const result = results.find(
      (block) => block.type === 'tool_result' && 'id' in call && block.tool_use_id === call.id,
    );
    if (call.type === 'tool_use' && result?.type === 'tool_result') {
      const content = [result.content ?? []].flat();
      const text = content.map((block) =>
        typeof block === 'string' ? block : block.type === 'text' ? block.text : `[${block.type}]`,
      );
      const input = call.input as Record<string, unknown>;
      await screen.call(input, text.join('\n'), result.is_error ?? false);
    }
  }
}
