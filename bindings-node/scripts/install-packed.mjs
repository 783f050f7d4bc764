// Installs what `npm run pack -- --debug` packed into an empty project, as a user does. Tests use copies of it: an installation
// of a debug build takes seconds.
//
// Usage: node scripts/install-packed.mjs
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packed = fileURLToPath(new URL('../npm', import.meta.url));
const project = join(packed, 'installed');

rmSync(project, { recursive: true, force: true });
mkdirSync(project);
writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n');
const tarballs = readdirSync(packed).filter((name) => name.endsWith('.tgz'));
// Nothing is to be had from anywhere but the tarballs.
const cache = join(project, 'cache');
const flags = ['--offline', '--cache', cache, '--no-audit', '--no-fund', '--loglevel=error'];
execFileSync('npm', ['install', ...flags, ...tarballs.map((name) => join(packed, name))], {
  cwd: project,
  stdio: 'inherit',
});
rmSync(cache, { recursive: true });
