// A stand-in for the Messages API, for frameworks that use streaming. It plays the given tool calls and records the
// results.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A block of a message of the model. */
export type Block =
  { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: object };

/** The result of a call. */
export interface ToolResult {
  type: string;
  tool_use_id: string;
  content: unknown;
  is_error?: boolean;
}

interface Request {
  model: string;
  stream?: boolean;
  tools?: { name: string }[];
  messages: { content: string | ToolResult[] }[];
}

/** The recorded requests of the program. */
export interface Played {
  url: string;
  /** The tool names in the first request. */
  tools: string[];
  /** The results, in the order of the last request. */
  results: ToolResult[];
  close(): void;
}

/** Plays the messages, one for each request. */
export async function playMessages(messages: Block[][]): Promise<Played> {
  const left = [...messages];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (!/^\/v1\/messages(\?|$)/.test(request.url ?? '')) {
        response.writeHead(404).end('{}');
        return;
      }
      const {
        model,
        tools,
        messages: sent,
        stream: asked,
      } = JSON.parse(Buffer.concat(chunks).toString()) as Request;
      if (!asked) {
        response.writeHead(400).end('{}');
        return;
      }
      if (played.tools.length === 0) {
        played.tools = (tools ?? []).map(({ name }) => name);
      }
      const blocks = sent.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
      played.results = blocks.filter(({ type }) => type === 'tool_result');
      answer(response, model, left.shift() ?? [{ type: 'text', text: 'It is over.' }]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const played: Played = { url, tools: [], results: [], close };
  return played;
}

function answer(response: ServerResponse, model: string, blocks: Block[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: { type: string; [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const about = { id: 'msg_1', type: 'message', role: 'assistant', model, usage };
  const empty = { content: [], stop_reason: null, stop_sequence: null };
  send({ type: 'message_start', message: { ...about, ...empty } });
  blocks.forEach((block, index) => {
    const [begun, delta] =
      block.type === 'text'
        ? [
            { ...block, text: '' },
            { type: 'text_delta', text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          ];
    send({ type: 'content_block_start', index, content_block: begun });
    send({ type: 'content_block_delta', index, delta });
    send({ type: 'content_block_stop', index });
  });
  const asks = blocks.some(({ type }) => type === 'tool_use');
  const delta = { stop_reason: asks ? 'tool_use' : 'end_turn', stop_sequence: null };
  send({ type: 'message_delta', delta, usage: { output_tokens: 1 } });
  send({ type: 'message_stop' });
  response.end();
}
