// What the tests find out about a framework goes to target/frameworks, from where tests/frameworks/table takes it into
// docs/integrations/index.md.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { PACKAGE, PROJECT } from './support.mjs';

/** What the table says of a framework; what no test has found out is left out. */
export interface Findings {
  /** What the model is given: "Claude's own" tool, one that is declared, or six. */
  tool?: string;
  async?: boolean;
  streaming?: boolean;
  /** Whether the model's interface is told that a command was refused. */
  errors?: boolean;
  /** Whether a view of an image shows it to the model. */
  images?: boolean;
}

/** The version of an installed package. */
export function installed(name: string): string {
  const file = new URL(`node_modules/${name}/package.json`, PACKAGE);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** An installed package with its version, for the name of a test. */
export function version(name: string): string {
  return `${name} ${installed(name)}`;
}

/** Notes what the framework of a package was found to do. */
export function record(title: string, name: string, found: Findings): void {
  const directory = new URL('target/frameworks/typescript/', PROJECT);
  mkdirSync(directory, { recursive: true });
  const file = new URL(`${name.replace('@', '').replace('/', '-')}.json`, directory);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
  const about = { title, package: name, version: installed(name) };
  const on = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${JSON.stringify({ ...known, ...about, on, ...found }, null, 2)}\n`);
}
