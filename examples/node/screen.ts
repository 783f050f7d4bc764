/**
 * The output of the demo: a conversation as it happens, and a directory as a tree.
 *
 * A few escape sequences. Colours only on a terminal, and only if `NO_COLOR` is not set
 * (https://no-color.org).
 */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };
type Style = keyof typeof STYLES;

/** The maximum number of lines shown of one text. */
const MAX_LINES = 24;

/** Prints a conversation. */
export class Screen {
  readonly #terminal = process.stdout.isTTY;
  readonly #colours = this.#terminal && !process.env['NO_COLOR'];
  readonly #width = Math.min(process.stdout.columns ?? 100, 100);

  /** @param pace Seconds to wait before each of Claude's messages and each tool call. */
  constructor(readonly pace = 0) {}

  /** One line, in the given styles. */
  line(text = '', ...styles: Style[]): void {
    process.stdout.write(`${this.#dressed(text, ...styles)}\n`);
  }

  /** A line across the screen. */
  heading(text: string): void {
    this.line();
    this.line(`── ${text} `.padEnd(this.#width, '─'), 'bold', 'yellow');
  }

  /** A message, wrapped. */
  async says(who: string, text: string, style: Style): Promise<void> {
    await setTimeout(this.pace * 1000);
    this.line();
    this.line(who, 'bold', style);
    for (const paragraph of text.split('\n')) {
      for (const line of wrapped(paragraph, this.#width - 2)) {
        this.line(`  ${line}`.trimEnd());
      }
    }
  }

  /** One tool call, with its arguments, and its reply. */
  async call(command: Record<string, unknown>, result: string, isError: boolean): Promise<void> {
    await setTimeout(this.pace * 1000);
    this.line();
    const name = this.#dressed(String(command['command']), 'bold', 'cyan');
    this.line(`${this.#dressed('  ▸ ', 'cyan')}${name} ${target(command)}`);
    for (const [field, mark, style] of [
      ['file_text', '│', 'dim'],
      ['old_str', '-', 'red'],
      ['new_str', '+', 'green'],
      ['insert_text', '+', 'green'],
    ] as const) {
      if (field in command) {
        this.#block(`      ${mark} `, String(command[field]).replace(/\n$/, ''), style);
      }
    }
    if (isError) {
      this.#block('    ✗ ', result, 'red');
    } else {
      this.#block('    ✓ ', result, 'dim', 'green');
    }
  }

  /** A directory with all its contents. */
  tree(directory: string, stem = ''): void {
    if (stem === '') {
      this.line(directory, 'bold');
    }
    const names = readdirSync(directory).sort();
    for (const name of names) {
      const last = name === names.at(-1);
      const branch = this.#dressed(stem + (last ? '└─ ' : '├─ '), 'dim');
      const found = lstatSync(join(directory, name));
      if (found.isDirectory()) {
        this.line(branch + this.#dressed(name, 'bold'));
        this.tree(join(directory, name), stem + (last ? '   ' : '│  '));
      } else {
        this.line(branch + name + this.#dressed(`  ${found.size} bytes`, 'dim'));
      }
    }
  }

  /** A text of several lines after a mark, or below one. */
  #block(lead: string, text: string, style: Style, leadStyle: Style = style): void {
    const lines = text.split('\n').flatMap((line) => this.#fitted(line, lead.length));
    const shown = lines.slice(0, MAX_LINES);
    if (lines.length > MAX_LINES) {
      shown.push(`… ${lines.length - MAX_LINES} more lines`);
    }
    const below = '│+-'.includes(lead.trim()) ? lead : ' '.repeat(lead.length);
    shown.forEach((line, at) => {
      const start = at === 0 ? lead : below;
      this.line(
        this.#dressed(line ? start : start.trimEnd(), leadStyle) + this.#dressed(line, style),
      );
    });
  }

  /** The line, wrapped for a terminal; a file gets it unchanged. */
  #fitted(line: string, lead: number): string[] {
    const shown = printable(line);
    return this.#terminal ? wrapped(shown, Math.max(this.#width - lead, 40)) : [shown];
  }

  #dressed(text: string, ...styles: Style[]): string {
    if (!this.#colours || styles.length === 0 || text === '') {
      return text;
    }
    return `\x1b[${styles.map((style) => STYLES[style]).join(';')}m${text}\x1b[0m`;
  }
}

/** The target of a command, in one line. */
function target(command: Record<string, unknown>): string {
  if ('old_path' in command) {
    return printable(`${command['old_path']} → ${command['new_path']}`);
  }
  let target = String(command['path'] ?? '');
  if (Array.isArray(command['view_range'])) {
    target += ` · lines [${command['view_range'].join(', ')}]`;
  }
  if ('insert_line' in command) {
    target += ` · after line ${command['insert_line']}`;
  }
  return printable(target);
}

/** The text without sequences that could control the terminal, because a model wrote it. */
function printable(text: string): string {
  return text.replaceAll('\t', '  ').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�');
}

/** The text in lines of at most `width` characters, broken at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S)(?=\s)/)) {
    if (line && line.length + word.length > width) {
      lines.push(line);
      line = word.trimStart();
    } else {
      line += word;
    }
  }
  return [...lines, line];
}
