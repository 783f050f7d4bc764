/**
 * Replies as the outputs of a tool of the OpenAI Agents SDK.
 *
 * @module memdir/openai-agents
 */

import type { ImageBlock, Reply } from './reply.js';

/** An image in an output: the `ToolOutputImage` of `@openai/agents`. */
export interface ToolOutputImage {
  /** The kind of output. */
  type: 'image';
  /** The image in base64, and its media type. */
  image: { data: string; mediaType: string };
}

/**
 * A reply as the output of a tool: its text, or the image of a view. An error is also returned as
 * text, because the API has no flag for errors.
 *
 * @example
 * ```ts
 * tool({
 *   ...memory.toolDefinition('openai'),
 *   execute: async (input) => toolOutput(await memory.execute(input)),
 * });
 * ```
 */
export function toolOutput(reply: Pick<Reply, 'content'>): string | ToolOutputImage[] {
  const { content } = reply;
  return typeof content === 'string' ? content : content.map(image);
}

function image({ source }: ImageBlock): ToolOutputImage {
  return { type: 'image', image: { data: source.data, mediaType: source.media_type } };
}
