// The tests write their findings about a framework to target/frameworks. tests/frameworks/table copies them to
// docs/integrations/index.md.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { PACKAGE, PROJECT } from './support.mjs';

/** The table's row about a framework. A field is absent if no test has determined it. */
export interface Findings {
  /** The tool that the model gets: "Claude's own", a declared one, or six. */
  tool?: string;
  async?: boolean;
  streaming?: boolean;
  /** True if the model's interface receives the error flag of a refused command. */
  errors?: boolean;
  /** True if a view of an image shows the image to the model. */
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

/** Writes the findings about a package's framework. */
export function record(title: string, name: string, found: Findings): void {
  const directory = new URL('target/frameworks/typescript/', PROJECT);
  mkdirSync(directory, { recursive: true });
  const file = new URL(`${name.replace('@', '').replace('/', '-')}.json`, directory);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
  const about = { title, package: name, version: installed(name) };
  const on = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${JSON.stringify({ ...known, ...about, on, ...found }, null, 2)}\n`);
}
