// The package as a user installs it: packed, and installed into an empty project.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PACKAGE, temporary } from './support.mjs';

const PACKED = fileURLToPath(new URL('npm/', PACKAGE));

/** The tarballs that `npm run pack:debug` made. */
export function tarballs(): string[] {
  const names = readdirSync(PACKED).filter((name) => name.endsWith('.tgz'));
  assert.equal(names.length, 2, `npm run pack made ${names.join(', ')}`);
  return names.map((name) => join(PACKED, name));
}

/**
 * A copy of the empty project in which `npm run pack:debug` has installed the packed package, with the programs of
 * `test/consumer`. On request it also has one of the SDKs that are installed for the tests.
 */
export function project(sdk?: '@anthropic-ai/sdk' | 'sdk-lowest', directory = temporary()): string {
  const installed = join(PACKED, 'installed');
  const isLarge = (file: string) => file.endsWith('.node');
  const filter = (file: string) => !isLarge(file);
  cpSync(installed, directory, { recursive: true, verbatimSymlinks: true, filter });
  // The binary is large, so it is linked. A test that changes it removes the link.
  for (const file of readdirSync(installed, { recursive: true, encoding: 'utf8' })) {
    if (isLarge(file)) {
      symlinkSync(join(installed, file), join(directory, file));
    }
  }
  if (sdk) {
    mkdirSync(join(directory, 'node_modules', '@anthropic-ai'), { recursive: true });
    const from = fileURLToPath(new URL(`node_modules/${sdk}`, PACKAGE));
    symlinkSync(from, join(directory, 'node_modules', '@anthropic-ai', 'sdk'));
  }
  cpSync(fileURLToPath(new URL('consumer', import.meta.url)), directory, { recursive: true });
  return directory;
}
