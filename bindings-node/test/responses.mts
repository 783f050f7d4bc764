// A stand-in for OpenAI's Responses API on loopback. It plays the conversations of examples/ and asserts the whole
// history of each request.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Text = string | { $text: string[] };
/** A call by the model, and the expected result. */
interface Call {
  input: Record<string, unknown>;
  result: Text | { $image: string; $base64: string };
}
/** One message of the model. */
interface Turn {
  text?: string;
  calls?: Call[];
}
/** A conversation, in the format of `examples/README.md`. */
export interface Script {
  sessions: { user: string; turns: Turn[] }[];
  then: Record<string, Text | null>;
}

/** A text in any of its notations. */
export function joined(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && '$text' in value) {
    return (value as { $text: string[] }).$text.join('');
  }
  return value;
}

export function load(file: string): Script {
  return JSON.parse(readFileSync(file, 'utf8'), (_, value) => joined(value)) as Script;
}

/** An item of a request or of a response, reduced to the relevant fields. */
type Item = [kind: string, ...rest: unknown[]];

/** A tool's result as the API represents it. */
function output(result: Call['result']): unknown {
  return typeof result === 'object' && '$image' in result
    ? [['input_image', `data:${result.$image};base64,${result.$base64}`]]
    : result;
}

function parts(content: unknown): unknown {
  if (!Array.isArray(content)) {
    return content;
  }
  const known = content as { type: string; text?: string; image_url?: string }[];
  const texts = known.map(({ text }) => text);
  return known.every(({ type }) => type.endsWith('_text'))
    ? texts.join('')
    : known.map(({ type, text, image_url }) => [type, text ?? image_url]);
}

function item(given: Record<string, unknown>): Item {
  switch (given['type'] ?? 'message') {
    case 'function_call':
      return ['call', given['call_id'], given['name'], given['arguments']];
    case 'function_call_output':
      return ['output', given['call_id'], parts(given['output'])];
    case 'message':
      return [String(given['role']), parts(given['content'])];
    default:
      return ['unknown', given];
  }
}

async function body(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

/** A function's definition. */
interface Tool {
  parameters: { properties: object; required: string[] };
}

/** The SDK lists the required fields in another order. */
function sorted(tool: Tool): Tool {
  const { parameters } = tool;
  return { ...tool, parameters: { ...parameters, required: parameters.required.toSorted() } };
}

/** Plays the conversation. `session` runs the program with a user's message, and returns its output. */
export async function playResponses(
  script: Script,
  tool: Tool,
  session: (url: string, user: string) => Promise<string>,
): Promise<void> {
  const failures: unknown[] = [];
  let turns: Turn[] = [];
  let history: Item[] = [];
  let calls = 0;

  /** The next message. The expected results are added to the history. */
  const next = (): object[] => {
    const turn = turns.shift();
    assert.ok(turn, 'the conversation is over');
    const said: object[] = [];
    const results: Item[] = [];
    if (turn.text !== undefined) {
      const content = [{ type: 'output_text', text: turn.text, annotations: [] }];
      const message = { type: 'message', role: 'assistant', status: 'completed', content };
      said.push({ id: `msg_${calls}`, ...message });
      history.push(['assistant', turn.text]);
    }
    for (const { input, result } of turn.calls ?? []) {
      calls += 1;
      const id = `call_${calls}`;
      // A strict function call has every field.
      const fields = Object.keys(tool.parameters.properties).map((name) => [name, null]);
      const json = JSON.stringify({ ...Object.fromEntries(fields), ...input });
      const call = { type: 'function_call', status: 'completed', name: 'memory', arguments: json };
      said.push({ id: `fc_${calls}`, call_id: id, ...call });
      history.push(['call', id, 'memory', json]);
      results.push(['output', id, output(result)]);
    }
    history.push(...results);
    return said;
  };

  const server = createServer((request, response) => {
    const answer = (status: number, sent: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
    };
    const respond = async () => {
      assert.equal(`${request.method} ${request.url}`, 'POST /v1/responses');
      assert.equal(request.headers.authorization, 'Bearer not-a-key');
      const { input, tools, model } = await body(request);
      assert.deepEqual((tools as Tool[]).map(sorted), [sorted(tool)]);
      const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
      assert.deepEqual((items as Record<string, unknown>[]).map(item), history);
      const details = { input_tokens_details: { cached_tokens: 0 } };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details };
      const about = { id: `resp_${calls}`, object: 'response', created_at: 0, model, usage };
      answer(200, { ...about, status: 'completed', error: null, output: next() });
    };
    respond().catch((error: unknown) => {
      failures.push(error);
      answer(400, { error: { message: String(error), type: 'invalid_request_error' } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    for (const { user, turns: played } of script.sessions) {
      turns = [...played];
      history = [['user', user]];
      const last = played.at(-1)?.text;
      const printed = await session(url, user);
      assert.deepEqual(failures, []);
      assert.equal(printed, `${last}\n`);
      assert.deepEqual(turns, []);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
  assert.ok(calls > 0);
}
