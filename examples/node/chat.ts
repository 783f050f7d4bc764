/**
 * A chat of several turns with a memory.
 *
 *     npm install memdir @anthropic-ai/sdk
 *     export ANTHROPIC_API_KEY=…
 *     node dist/chat.js
 *
 * docs/guides/long-conversations.md explains it.
 */

import { createInterface } from 'node:readline/promises';
import { pathToFileURL } from 'node:url';

import Anthropic from '@anthropic-ai/sdk';
import { Memory, memoryTool } from 'memdir';

type Message = Anthropic.Beta.BetaMessageParam;

/** A conversation. Its messages are kept between the turns. */
export class Chat {
  readonly #client: Anthropic;
  readonly #tool: ReturnType<typeof memoryTool>;
  #messages: Message[] = [];

  constructor(client: Anthropic, memory: Memory) {
    this.#client = client;
    this.#tool = memoryTool(memory);
  }

  /** One turn: sends the user's text, lets Claude use its memory, and returns its answer. */
  async say(text: string): Promise<string> {
    const turn: Message[] = [{ role: 'user', content: text }];
    const runner = this.#client.beta.messages.toolRunner({
      model: 'claude-sonnet-5-5',
      max_tokens: 2048,
      messages: [...this.#messages, ...turn],
      tools: [this.#tool],
    });
    let answer = '';
    for await (const { content } of runner) {
      turn.push({ role: 'assistant', content });
      // The runner sends the same results, so no command is executed twice.
      const results = await runner.generateToolResponse();
      if (results) turn.push(results);
      answer = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    }
    // A turn that fails leaves the conversation as it was.
    this.#messages.push(...turn);
    return answer;
  }
}

async function main(): Promise<void> {
  const chat = new Chat(new Anthropic(), new Memory('./memory'));
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  for (let text; (text = await terminal.question('> '));) {
    console.log(await chat.say(text));
  }
  terminal.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
