// Builds `memdir.wasm`, which the package uses on machines without a binary. It needs Rust with the target
// wasm32-wasip1, which rustup can install.
//
// Usage: node scripts/build-wasm.mjs [--debug]
//
// With `--debug` it builds quickly, for tests: the result is several times as large, and slower.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const target = 'wasm32-wasip1';
const isDebug = process.argv.includes('--debug');
// Releases use the profile for apps: small, and hardly slower.
const profile = isDebug ? 'dev' : 'device';
/** The size limit of a release, in bytes. */
const limit = 1_900_000;
const project = new URL('../..', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, project));
// A release must not contain paths of the machine that built it. Tests need no function names, which are half of the file.
const flags = isDebug ? ['-Clink-arg=--strip-all'] : withoutPaths();

const arguments_ = ['build', '--quiet', '--locked', '-p', 'memdir-wasm', '--target', target];
execFileSync('cargo', [...arguments_, '--profile', profile], {
  cwd: path('.'),
  stdio: 'inherit',
  env: {
    ...process.env,
    CARGO_TARGET_DIR: path('target'),
    CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f'),
  },
});
const built = path(`target/${target}/${isDebug ? 'debug' : profile}/memdir_wasm.wasm`);
const bytes = readFileSync(built);
if (!isDebug) {
  console.log(`memdir.wasm: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} packed`);
  if (bytes.length > limit) {
    throw new Error(`memdir.wasm is larger than ${limit} bytes`);
  }
}
copyFileSync(built, path('bindings-node/memdir.wasm'));

function withoutPaths() {
  const home = process.env['CARGO_HOME'] ?? `${process.env['HOME']}/.cargo`;
  return [`${path('.')}=/memdir/`, `${home}=/cargo`].map((flag) => `--remap-path-prefix=${flag}`);
}
