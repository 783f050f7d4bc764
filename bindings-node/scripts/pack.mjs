// Makes the published tarballs: the package itself, which is the same for all platforms, and one
// package for each binary. npm installs the binaries that fit as optional dependencies of the
// first.
//
// Usage: node scripts/pack.mjs [--debug] [BINARIES OUTPUT]
//
// BINARIES holds the binaries and, beside it in `notices/`, the licence notices of their contents. Without it, the binaries
// that were built here are packed, for tests. OUTPUT is the directory for the tarballs; the default is `npm/`.
//
// A debug build is rejected, because it is ten times as large and slow. With `--debug` it is packed anyway, for tests:
// quickly, and without debug symbols.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { buildProfile } from './build-profile.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { debug: { type: 'boolean' } },
  allowPositionals: true,
});
const [binaries, tarballs] = positionals.map((path) => resolve(path));
const isDebug = values.debug === true;
// `install-packed.mjs` puts a debug build into `npm/` when all of it is there, because other tests may be using the one before.
const output = join(root, isDebug ? 'npm-next' : 'npm');
const licences = ['LICENSE', 'LICENSE-APACHE', 'LICENSE-MIT'];
const notices = 'THIRD-PARTY-NOTICES.txt';

// All binaries are checked before anything is removed or written.
const built = binaries ?? root;
const natives = [
  ...readdirSync(built)
    .filter((name) => /^memdir\..*\.node$/.test(name))
    .map((name) => join(built, name)),
  ...[join(root, 'memdir.wasm')].filter(existsSync),
];
for (const file of natives) {
  const profile = buildProfile(file);
  if (profile === undefined || (profile === 'debug' && !isDebug)) {
    const what = profile === undefined ? 'does not say how it was built' : 'is a debug build';
    console.error(
      `pack: ${file} ${what}. Build it with --release, or pack it for tests with --debug.`,
    );
    process.exit(1);
  }
}

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
  // Tests of the binaries run without `memdir.wasm`, because building it needs another Rust target. A release must have it.
  if (file === 'memdir.wasm' && !binaries && !existsSync(join(root, file))) {
    continue;
  }
  const from = licences.includes(file) ? join(root, '..', file) : join(root, file);
  cpSync(from, join(main, file), { recursive: true });
}
// The man pages, which npm installs with `--global`, and the shell completions: the same as in the wheel.
const share = join(root, '../bindings-python/data/data/share');
cpSync(share, join(main, 'share'), { recursive: true });
manifest.files.push('share');
manifest.man = readdirSync(join(share, 'man/man1'))
  .sort()
  .map((page) => `./share/man/man1/${page}`);
// Links that are relative in the repository would be broken on the package's web page.
const readme = join(main, 'README.md');
const pages = `https://github.com/memdir/memdir/blob/v${manifest.version}`;
writeFileSync(readme, readFileSync(readme, 'utf8').replaceAll('](../', `](${pages}/`));
// The notices for the contents of `memdir.wasm`.
if (binaries) {
  cpSync(join(binaries, '../notices', notices), join(main, notices));
  manifest.files.push(notices);
}
writeFileSync(join(main, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const packages = [main];
for (const name of names) {
  const binary = `memdir.${name}.node`;
  const file = join(built, binary);
  if (existsSync(file)) {
    const directory = join(platforms, name);
    cpSync(file, join(directory, binary));
    if (isDebug) {
      strip(join(directory, binary));
    }
    for (const licence of licences) {
      cpSync(join(root, '..', licence), join(directory, licence));
    }
    if (binaries) {
      cpSync(join(binaries, '../notices', notices), join(directory, notices));
      const own = join(directory, 'package.json');
      const described = JSON.parse(readFileSync(own, 'utf8'));
      described.files.push(notices);
      writeFileSync(own, `${JSON.stringify(described, null, 2)}\n`);
    }
    packages.push(directory);
  }
}
for (const directory of packages) {
  if (isDebug && directory !== main) {
    packQuickly(directory);
    continue;
  }
  execFileSync('npm', ['pack', '--silent', '--pack-destination', tarballs ?? output], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/**
 * Removes debug symbols. On other systems they are not in the binary, or the binary's signature covers them.
 */
function strip(binary) {
  if (process.platform === 'linux') {
    spawnSync('strip', [binary]);
  }
}

/** Replaces `npm pack`, which would compress a large debug build for many seconds. */
function packQuickly(directory) {
  const described = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const name = `${described.name}-${described.version}.tgz`;
  const content = join(output, 'package');
  renameSync(directory, content);
  const archive = execFileSync('tar', ['-cf', '-', 'package'], { cwd: output, maxBuffer: 2 ** 30 });
  renameSync(content, directory);
  writeFileSync(join(tarballs ?? output, name), gzipSync(archive, { level: 1 }));
  console.log(name);
}
