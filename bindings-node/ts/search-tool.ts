/** {@link searchTool}: the search for the `tools` of the SDK's tool runner. */

import type { CallOptions } from './cancellation.js';
import type { ToolSchema } from './files.js';
import type { Memory } from './memory.js';
import { orThrow } from './reply.js';

/** The input of a call of the search. */
export interface SearchInput {
  /** The question, or its words. */
  query: string;
  /** The file or directory to search. Default: `/memories`. */
  path?: string | null | undefined;
  /** The most files, 1 to 20. Default: 5. */
  limit?: number | null | undefined;
}

/** The search as `@anthropic-ai/sdk` runs it: its `BetaRunnableTool`. */
export interface SearchTool {
  /** The name that Claude uses. */
  name: string;
  /** The description for Claude. */
  description: string;
  /** The schema of the input. */
  input_schema: ToolSchema;
  /**
   * Executes a call. Resolves to the text for the model; rejects with the SDK's `ToolError`, whose
   * text is for the model.
   */
  run: (args: SearchInput, context?: CallOptions) => Promise<string>;
  /** Returns the model's input as it is: `run` validates it. */
  parse: (content: unknown) => SearchInput;
}

/**
 * A second tool beside the memory tool, with which Claude searches the files by their words.
 *
 * Its answer has the paths of the best files, and their best passages with the line numbers that a
 * view shows. The hooks are not called.
 *
 * @example
 * ```ts
 * const tool = memoryTool('./memory');
 * const tools = [tool, searchTool(tool.memory)];
 * client.beta.messages.toolRunner({ model, max_tokens, messages, tools });
 * ```
 *
 * @param prefix The tool is named `prefix` plus `search`. At most 32 ASCII letters, digits, `_` and
 *   `-`.
 * @throws An error if the prefix is wrong.
 */
export function searchTool(memory: Memory, prefix: string = 'memory_'): SearchTool {
  return {
    ...memory.searchToolDefinition('anthropic-custom', prefix),
    run: async (args: SearchInput, context?: CallOptions) =>
      orThrow(await memory.executeSearch(args, context)),
    parse: (content: unknown) => content as SearchInput,
  };
}
