// The package as a user gets it: packed, and installed into an empty project.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PACKAGE, run, temporary } from './support.mjs';

const PACKED = fileURLToPath(new URL('npm/', PACKAGE));

/** The tarballs that `npm run pack` made. */
export function tarballs(): string[] {
  const names = readdirSync(PACKED).filter((name) => name.endsWith('.tgz'));
  assert.equal(names.length, 2, `npm run pack made ${names.join(', ')}`);
  return names.map((name) => join(PACKED, name));
}

/**
 * An empty project with the packed package in it and, if it is asked for, one of the SDKs that are
 * installed for the tests; and with the programs of `test/consumer`.
 */
export async function project(
  sdk?: '@anthropic-ai/sdk' | 'sdk-lowest',
  directory = temporary(),
): Promise<string> {
  writeFileSync(join(directory, 'package.json'), '{ "name": "empty", "private": true }\n');
  // Nothing is to be had from anywhere but the tarballs.
  const cache = join(directory, 'cache');
  const flags = ['--offline', '--cache', cache, '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = await run('npm', ['install', ...flags, ...tarballs()], { cwd: directory });
  assert.equal(installed.status, 0, installed.stderr);
  if (sdk) {
    mkdirSync(join(directory, 'node_modules', '@anthropic-ai'), { recursive: true });
    const from = fileURLToPath(new URL(`node_modules/${sdk}`, PACKAGE));
    symlinkSync(from, join(directory, 'node_modules', '@anthropic-ai', 'sdk'));
  }
  cpSync(fileURLToPath(new URL('consumer', import.meta.url)), directory, { recursive: true });
  return directory;
}
