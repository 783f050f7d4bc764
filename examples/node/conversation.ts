/** The scripts of the demo, in the format of `examples/README.md`. */

import { readFileSync } from 'node:fs';

type Text = string | { $text: string[] };

interface Script<T> {
  sessions: { user: string; turns: { calls?: unknown[] }[] }[];
  beside?: Record<string, T>;
  then?: Record<string, T | null>;
}

/** A script with expanded texts. */
export type Conversation = Script<string>;

export function load(file: string): Conversation {
  const script = JSON.parse(readFileSync(file, 'utf8')) as Script<Text>;
  const spell = (text: Text | null) =>
    text === null || typeof text === 'string' ? text : text.$text.join('');
  const all = <T>(texts: Record<string, Text | null>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, spell(text) as T]));
  return {
    sessions: script.sessions,
    ...(script.beside && { beside: all<string>(script.beside) }),
    ...(script.then && { then: all<string | null>(script.then) }),
  };
}
