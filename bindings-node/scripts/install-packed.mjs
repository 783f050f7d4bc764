// Installs the output of `npm run pack -- --debug` into an empty project, as a user does. Tests use copies of it, because
// installing a debug build takes seconds. Then it replaces `npm/` at once.
//
// Usage: node scripts/install-packed.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packed = join(root, 'npm-next');
const project = join(packed, 'installed');

rmSync(project, { recursive: true, force: true });
mkdirSync(project);
writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n');
const tarballs = readdirSync(packed).filter((name) => name.endsWith('.tgz'));
// The tarballs must be the only source of packages.
const cache = join(project, 'cache');
const flags = ['--offline', '--cache', cache, '--no-audit', '--no-fund', '--loglevel=error'];
execFileSync('npm', ['install', ...flags, ...tarballs.map((name) => join(packed, name))], {
  cwd: project,
  stdio: 'inherit',
});
rmSync(cache, { recursive: true });

const [current, old] = [join(root, 'npm'), join(root, 'npm-old')];
rmSync(old, { recursive: true, force: true });
if (existsSync(current)) {
  renameSync(current, old);
}
renameSync(packed, current);
rmSync(old, { recursive: true, force: true });
