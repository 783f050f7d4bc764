/**
 * Replies as the results of MCP tools: for the Claude Agent SDK, and for an MCP server of your own.
 *
 * @module memdir/mcp
 */

import type { ImageBlock, Reply } from './reply.js';

/** A text in a result. */
export interface McpText {
  /** The kind of content. */
  type: 'text';
  /** The text. */
  text: string;
}

/** An image in a result. */
export interface McpImage {
  /** The kind of content. */
  type: 'image';
  /** The image in base64. */
  data: string;
  /** Its media type. */
  mimeType: string;
}

/** The result of a tool: the `CallToolResult` of `@modelcontextprotocol/sdk`. */
export type McpResult = {
  /** The reply. */
  content: Array<McpText | McpImage>;
  /** True if the command failed. */
  isError: boolean;
};

/**
 * A reply as the result of an MCP tool, with the image of a view and the error flag.
 *
 * @example
 * ```ts
 * return mcpResult(await memory.execute({ ...input, command: 'view' }));
 * ```
 */
export function mcpResult(reply: Pick<Reply, 'content' | 'isError'>): McpResult {
  const { content, isError } = reply;
  if (typeof content === 'string') {
    return { content: [{ type: 'text', text: content }], isError };
  }
  return { content: content.map(image), isError };
}

function image({ source }: ImageBlock): McpImage {
  return { type: 'image', data: source.data, mimeType: source.media_type };
}
