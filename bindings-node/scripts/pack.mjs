// Makes what is published, as tarballs in `npm/`: the package without anything that belongs
// to a machine, and one package for each binary that was built beside this one. npm installs those
// that fit as optional dependencies of the first.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'npm');
const licences = ['LICENSE', 'LICENSE-APACHE', 'LICENSE-MIT'];

rmSync(output, { recursive: true, force: true });
const main = join(output, 'memdir');
const platforms = join(output, 'platforms');
mkdirSync(platforms, { recursive: true });

// One directory for each target in package.json, with a package.json that names the platform.
const napi = join(dirname(createRequire(import.meta.url).resolve('@napi-rs/cli')), 'cli.js');
const arguments_ = ['create-npm-dirs', '--npm-dir', relative(root, platforms)];
execFileSync(process.execPath, [napi, ...arguments_], { cwd: root, stdio: 'ignore' });

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const names = readdirSync(platforms).sort();
manifest.optionalDependencies = Object.fromEntries(
  names.map((name) => [`memdir-${name}`, manifest.version]),
);
for (const field of [
  'scripts',
  'devDependencies',
  'napi',
  'prettier',
  '//imports',
  '//overrides',
  '//typesVersions',
  'overrides',
]) {
  delete manifest[field];
}
for (const file of [...manifest.files, 'README.md']) {
  const from = licences.includes(file) ? join(root, '..', file) : join(root, file);
  cpSync(from, join(main, file), { recursive: true });
}
writeFileSync(join(main, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const packages = [main];
for (const name of names) {
  const binary = `memdir.${name}.node`;
  if (existsSync(join(root, binary))) {
    const directory = join(platforms, name);
    cpSync(join(root, binary), join(directory, binary));
    for (const licence of licences) {
      cpSync(join(root, '..', licence), join(directory, licence));
    }
    packages.push(directory);
  }
}
for (const directory of packages) {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', output], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
