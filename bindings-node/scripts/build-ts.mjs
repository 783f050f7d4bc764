// Compiles `ts/` to ESM and to CommonJS.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const root = new URL('..', import.meta.url);
const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace(/package\.json$/, 'bin/tsc');

for (const [output, project] of [
  ['esm', 'tsconfig.json'],
  ['cjs', 'tsconfig.cjs.json'],
]) {
  rmSync(new URL(output, root), { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' });
}
// The files that differ between the two (`native`, `sdk`) are written by hand. The sources import the CommonJS
// ones.
const own = { "'../native.cjs'": "'#native'", "'../sdk.cjs'": "'../sdk.mjs'" };
for (const file of readdirSync(new URL('esm/', root)).filter((name) => name.endsWith('.js'))) {
  const path = new URL(`esm/${file}`, root);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replaceAll(/'\.\.\/(?:native|sdk)\.cjs'/g, (found) => own[found]),
  );
}
// The package is ESM; this directory is not.
writeFileSync(new URL('cjs/package.json', root), '{ "type": "commonjs" }\n');
