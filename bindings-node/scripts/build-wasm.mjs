// Builds `memdir.wasm`: what the package uses where there is no binary for the machine. Needs Rust with the target
// wasm32-wasip1, which rustup has.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const target = 'wasm32-wasip1';
// The profile of what goes into apps: small, and hardly slower.
const profile = 'device';
const project = new URL('../..', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, project));

const arguments_ = ['build', '--quiet', '--locked', '-p', 'memdir-wasm', '--target', target];
execFileSync('cargo', [...arguments_, '--profile', profile], {
  cwd: path('.'),
  stdio: 'inherit',
  env: { ...process.env, CARGO_TARGET_DIR: path('target'), ...withoutPaths() },
});
const built = path(`target/${target}/${profile}/memdir_wasm.wasm`);
copyFileSync(built, path('bindings-node/memdir.wasm'));
const bytes = readFileSync(built);
console.log(`memdir.wasm: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} packed`);

/** What is released tells no paths of the machine that built it. */
function withoutPaths() {
  const home = process.env['CARGO_HOME'] ?? `${process.env['HOME']}/.cargo`;
  const flags = [`${path('.')}=/memdir/`, `${home}=/cargo`];
  return {
    CARGO_ENCODED_RUSTFLAGS: flags.map((flag) => `--remap-path-prefix=${flag}`).join('\x1f'),
  };
}
