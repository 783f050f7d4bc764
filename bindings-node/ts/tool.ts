/** {@link memoryTool}: the tool for the `tools` of the SDK's tool runner. */

import type { CallOptions } from './cancellation.js';
import type { MemoryCommand } from './commands.js';
import { ConfigError } from './errors.js';
import { Memory } from './memory.js';
import type { MemoryOptions } from './options.js';
import type { Places } from './places.js';
import { orThrow } from './reply.js';
import type { ImageBlock } from './reply.js';

/** Claude's memory tool as `@anthropic-ai/sdk` runs it: its `BetaRunnableTool`. */
export interface MemoryTool {
  /** The type of the tool. The API gets only this and the name. */
  type: 'memory_20250818';
  /** The name that Claude uses. */
  name: 'memory';
  /**
   * Executes a command. Resolves to text or to an array with an image block; rejects with the SDK's
   * `ToolError`, whose text is for the model. The runner's signal cancels a command that has not
   * begun to write.
   */
  run: (args: MemoryCommand, context?: CallOptions) => Promise<string | ImageBlock[]>;
  /** Returns the model's input as it is: `run` validates it. */
  parse: (content: unknown) => MemoryCommand;
  /**
   * The memory that the tool works on, for your own code. A copy by `{ ...tool }` does not have it, so
   * it never gets into a request.
   */
  readonly memory: Memory;
}

/** Claude's memory tool on the directory `./memory`. */
export function memoryTool(): MemoryTool;
/**
 * Claude's memory tool on a store.
 *
 * @example
 * ```ts
 * client.beta.messages.toolRunner({ model, max_tokens, messages, tools: [memoryTool('./memory')]
 * });
 * ```
 *
 * It is a plain object: to give the API more properties of the tool, spread it, as in
 * `{ ...memoryTool(), cache_control: { type: 'ephemeral' } }`.
 *
 * @param store As for {@link Memory}.
 * @throws An error if the address or an option is wrong, or if the store cannot be opened.
 */
export function memoryTool(store: Places, options?: MemoryOptions): MemoryTool;
/**
 * Claude's memory tool on an open memory, such as a session.
 *
 * @example
 * ```ts
 * const tools = [memoryTool(memory.actingAs('session 1'))];
 * ```
 */
export function memoryTool(memory: Memory): MemoryTool;
export function memoryTool(...given: Given): MemoryTool {
  const memory = memoryOf(given);
  const tool = {
    type: 'memory_20250818' as const,
    name: 'memory' as const,
    run: async (args: MemoryCommand, context?: CallOptions) =>
      orThrow(await memory.execute(args, context)),
    parse: (content: unknown) => content as MemoryCommand,
  };
  return Object.defineProperty(tool, 'memory', { value: memory }) as MemoryTool;
}

type Given = [store?: Places | Memory, options?: MemoryOptions];

function memoryOf(given: Given): Memory {
  if (given.length === 0) {
    return new Memory();
  }
  const [store, options] = given;
  if (!(store instanceof Memory)) {
    return new Memory(store as Places, options);
  }
  if (options !== undefined) {
    throw new ConfigError('options must be those of the memory, which is open', 'options');
  }
  return store;
}
