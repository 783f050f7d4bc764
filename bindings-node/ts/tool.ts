/** The tool that goes into the `tools` of the SDK's tool runner as it is. */

import type { CallOptions } from './cancellation.js';
import type { MemoryCommand } from './commands.js';
import { Memory, orThrow } from './memory.js';
import type { ImageBlock } from './memory.js';
import type { MemoryOptions } from './options.js';
import type { Places } from './places.js';

/** Claude's memory tool as `@anthropic-ai/sdk` runs it: its `BetaRunnableTool`. */
export interface MemoryTool {
  /** Which of Claude's tools it is; the API gets this and the name, and nothing else. */
  type: 'memory_20250818';
  /** What Claude calls it. */
  name: 'memory';
  /**
   * Executes a command: resolves to text or to an image block; rejects with the SDK's `ToolError`,
   * whose text is for the model. The runner's signal gives it up, if it has not begun to write.
   */
  run: (args: MemoryCommand, context?: CallOptions) => Promise<string | ImageBlock[]>;
  /** What the model sent, as it is: it is validated when it is run. */
  parse: (content: unknown) => MemoryCommand;
}

/**
 * Claude's memory tool, kept in `store`.
 *
 * @example
 * ```ts
 * client.beta.messages.toolRunner({ model, max_tokens, messages, tools: [memoryTool('./memory')] });
 * ```
 *
 * It is a plain object: to give the API more properties of the tool, spread it, as in
 * `{ ...memoryTool(), cache_control: { type: 'ephemeral' } }`.
 *
 * @param store As for {@link Memory}.
 * @throws An error if the address or an option is wrong, or if the store cannot be opened.
 */
export function memoryTool(store: Places = './memory', options?: MemoryOptions): MemoryTool {
  const memory = new Memory(store, options);
  return {
    type: 'memory_20250818',
    name: 'memory',
    run: async (args, context) => orThrow(await memory.execute(args, context)),
    parse: (content) => content as MemoryCommand,
  };
}
