// A chat of several turns, examples/node/chat.ts, against a stand-in for the API.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { Memory } from 'memdir';

/** `examples/node/chat.ts`, compiled on its own. */
const { Chat } = (await import(new URL('examples/chat.js', import.meta.url).href)) as {
  Chat: new (client: Anthropic, memory: Memory) => { say(text: string): Promise<string> };
};

const TEA = '/memories/tea.md';
const COMMANDS = [
  { command: 'create', path: TEA, file_text: '- green\n' },
  { command: 'view', path: TEA },
  { command: 'str_replace', path: TEA, old_str: 'green', new_str: 'black' },
];
const call = (number: number) => ({
  type: 'tool_use',
  id: `toolu_${number}`,
  name: 'memory',
  input: COMMANDS[number],
});
const said = (text: string) => ({ type: 'text', text });

interface Request {
  messages: { role: string; content: { tool_use_id?: string }[] }[];
}

test('a chat keeps its messages between turns', async () => {
  const contents: { type: string }[][] = [];
  let requests: Request[] = [];
  const fetch = async (_: unknown, init?: { body?: unknown }) => {
    requests.push(JSON.parse(String(init?.body)) as Request);
    const content = contents.shift();
    if (!content) {
      return Response.json({ type: 'error', error: { message: 'out of order' } }, { status: 400 });
    }
    const stop_reason = content.at(-1)?.type === 'tool_use' ? 'tool_use' : 'end_turn';
    return Response.json({ type: 'message', role: 'assistant', content, stop_reason, usage: {} });
  };
  const roles = (request?: Request) => request?.messages.map(({ role }) => role);
  const ids = (content: { tool_use_id?: string }[] = []) =>
    content.map((block) => block.tool_use_id);

  const memory = new Memory('memory:', { history: true });
  const chat = new Chat(new Anthropic({ apiKey: 'none', fetch }), memory);
  contents.push([call(0)], [said('Noted.')]);
  assert.equal(await chat.say('I like green tea.'), 'Noted.');
  // A request of the API fails in the middle of the second turn.
  contents.push([call(1)]);
  await assert.rejects(chat.say('I like black tea better.'), Anthropic.APIError);
  requests = [];
  contents.push([call(1), call(2)], [said('Changed.')]);
  assert.equal(await chat.say('I like black tea better.'), 'Changed.');
  assert.equal(await memory.read(TEA), '- black\n');
  const operations = (await memory.history()).map(({ operation }) => operation);
  assert.deepEqual(operations, ['modified', 'created']);

  // The first request of a turn has all messages of the earlier ones, and not of the failed turn.
  const [first, last] = requests;
  assert.deepEqual(roles(first), ['user', 'assistant', 'user', 'assistant', 'user']);
  assert.deepEqual(ids(first?.messages[2]?.content), ['toolu_0']);
  assert.deepEqual(ids(last?.messages.at(-1)?.content), ['toolu_1', 'toolu_2']);
  contents.push([said('You like black tea.')]);
  assert.equal(await chat.say('Which tea do I like?'), 'You like black tea.');
  const four = Array.from({ length: 4 }, () => ['user', 'assistant']).flat();
  assert.deepEqual(roles(requests.at(-1)), [...four, 'user']);
});
