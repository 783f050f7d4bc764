// Runs the program in Node. Usage: node run.mjs PROGRAM.wasm
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { WASI } from 'node:wasi';

const directory = (path) => fileURLToPath(new URL(path, import.meta.url)).replace(/\/$/, '');
const wasi = new WASI({
  version: 'preview1',
  args: process.argv.slice(2),
  // The directory of the cases, and the one for the program's counts.
  preopens: {
    [directory('./cases')]: directory('../../cases'),
    [directory('../target')]: directory('../../../target'),
  },
});
const program = await WebAssembly.compile(await readFile(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
