// Copies the library that cargo built to the place where the package loads its native half from. Only for tests: a release has
// one binary for each platform, which `pack.mjs` packs. Run `build-ts.mjs` before.
//
// Usage: node scripts/copy-native.mjs DIRECTORY
//
// DIRECTORY holds the library, such as `../target/debug`.
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { targetsHere } from '../esm/binary.js';

const [directory] = process.argv.slice(2);
const libraries = ['libmemdir_node.so', 'libmemdir_node.dylib', 'memdir_node.dll'];
const library = libraries.map((name) => join(directory, name)).find(existsSync);
if (library === undefined) {
  throw new Error(`${directory} has none of ${libraries.join(', ')}: run cargo build first`);
}
const [target] = targetsHere();
const binary = fileURLToPath(new URL(`../memdir.${target}.node`, import.meta.url));
// Removed first, so a process that has the old file loaded keeps it.
rmSync(binary, { force: true });
copyFileSync(library, binary);
