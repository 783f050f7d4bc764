// Compiles `ts/` to ESM and to CommonJS.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
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
// The package is ESM; this directory is not.
writeFileSync(new URL('cjs/package.json', root), '{ "type": "commonjs" }\n');
