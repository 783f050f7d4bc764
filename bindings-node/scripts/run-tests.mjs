// Runs the compiled tests. Starting Node with the package takes longer than most test files run, so files that need no process
// of their own share one.
//
// Usage: node scripts/run-tests.mjs [--wasm] [NAME]
//
// With --wasm: all conformance cases, and the tests that use only the store in the process, with the package as WebAssembly.
// NAME is a part of a test's name, or a pattern: only matching tests run.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const tests = new URL('../test/dist/', import.meta.url);
/**
 * The slow tests, which run beside the rest, and the tests that measure or limit their own process.
 */
const ALONE = 'addresses agents cancellation conformance frameworks lifetime package runner store';
const WASM =
  'conformance embedder history hooks hostile hostile-tables limits named-options options past policies results search-tool sync tool wasm watch';

const { values, positionals } = parseArgs({
  options: { wasm: { type: 'boolean' } },
  allowPositionals: true,
});
const isIn = (names) => (file) => names.split(' ').includes(file.split('.')[0]);
const all = readdirSync(tests).filter((file) => /\.test\.[cm]js$/.test(file));
const wanted = values.wasm ? all.filter(isIn(WASM)) : all;
const alone = wanted.filter(isIn(ALONE));
const together = wanted.filter((file) => !alone.includes(file));
const entry = values.wasm ? 'together-wasm.mjs' : 'together.mjs';
writeFileSync(new URL(entry, tests), together.map((file) => `import './${file}';\n`).join(''));

const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-timeout=600000',
    // Many tests wait for a disk or for another process.
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    ...positionals.map((name) => `--test-name-pattern=${name}`),
    ...[...alone, entry].map((file) => fileURLToPath(new URL(file, tests))),
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, ...(values.wasm && { MEMDIR_WASM: '1' }) },
  },
);
process.exit(status ?? 1);
