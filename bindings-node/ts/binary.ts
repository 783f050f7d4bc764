/**
 * Finds the binary for this machine, and makes the error message if there is none. On a platform without a binary, or with
 * `MEMDIR_WASM=1`, memdir runs as WebAssembly.
 */

import { existsSync, readFileSync } from 'node:fs';
// Not `{ createRequire }`: webpack follows that name.
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';

import { instantiate } from './wasm.js';
import { webAssembly } from './web-assembly.js';

/** The WebAssembly module, which is in the package and may be copied beside a bundle. */
const WASM = 'memdir.wasm';

/** The targets with a published package, as Node and napi-rs name them. */
const TARGETS = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-arm-gnueabihf',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64-msvc',
  'win32-arm64-msvc',
];

/**
 * Loads the binary for this machine.
 *
 * @param places The locations of this code, as files or their URLs. A bundler may leave a location empty, or
 *   give the one from before bundling.
 * @param installed Loads the package of a target that is installed beside this one.
 */
export function loadBinary<Native>(
  places: (string | undefined)[],
  installed?: (target: string) => Native | undefined,
): Native {
  const known = places.filter((place) => place !== undefined);
  if (isWasmWanted()) {
    return loadWasm(known) as Native;
  }
  const targets = targetsHere();
  let broken: unknown;
  let missing: unknown;
  for (const target of targets) {
    for (const attempt of [
      // Built here, or copied beside a bundle.
      ...known.map((place) => () => loadFrom(place, `./memdir.${target}.node`)),
      () => installed?.(target),
      ...known.map((place) => () => loadFrom(place, `memdir-${target}`)),
      // Some package managers, such as pnpm, make dependencies visible only to the package that declares them.
      ...known.map((place) => () => loadFrom(memdirFrom(place), `memdir-${target}`)),
    ]) {
      try {
        const native = attempt() as Native | undefined;
        if (native !== undefined) {
          return native;
        }
      } catch (error) {
        if (isNotThere(error)) {
          missing ??= error;
        } else {
          broken ??= error;
        }
      }
    }
  }
  if (broken === undefined && !targets.some((target) => TARGETS.includes(target))) {
    return loadWasm(known) as Native;
  }
  throw new Error(reason(targets[0]!, known, broken), { cause: broken ?? missing });
}

/** True if the program asked for WebAssembly. Deno asks its user before it reveals a variable. */
function isWasmWanted(): boolean {
  const { Deno } = globalThis as { Deno?: { permissions: DenoPermissions } };
  const variable = 'MEMDIR_WASM';
  if (Deno && Deno.permissions.querySync({ name: 'env', variable }).state !== 'granted') {
    return false;
  }
  return process.env[variable] === '1';
}

interface DenoPermissions {
  querySync(asked: { name: 'env'; variable: string }): { state: string };
}

/** Loads memdir as WebAssembly. */
function loadWasm(places: string[]): unknown {
  const file = wasmFrom(places);
  if (file === undefined) {
    throw new Error(
      `memdir has no binary for ${targetsHere()[0]!}, and ${WASM} is neither in the package memdir nor beside the ` +
        `bundle. There is a binary for ${TARGETS.join(', ')}. Elsewhere, lay ${WASM} out of the package memdir ` +
        `beside the bundle; for a store that is not in the process, build memdir.${targetsHere()[0]!}.node from the ` +
        'sources (npm run build:native in bindings-node) and lay it beside native.cjs in the package memdir.',
    );
  }
  // One instance for all builds of the package, as a binary is loaded once: a store opened by one build works in the other.
  const loaded = ((globalThis as Loaded)[LOADED] ??= new Map());
  if (!loaded.has(file)) {
    loaded.set(file, instantiate(new webAssembly.Module(readFileSync(file))));
  }
  return loaded.get(file);
}

const LOADED = Symbol.for('memdir.wasm');

interface Loaded {
  [LOADED]?: Map<string, unknown>;
}

/** The file of the module. */
function wasmFrom(places: string[]): string | undefined {
  for (const place of places) {
    for (const find of [
      () => nodeModule.createRequire(place).resolve(`./${WASM}`),
      () => join(dirname(memdirFrom(place)), WASM),
    ]) {
      try {
        const file = find();
        if (existsSync(file)) {
          return file;
        }
      } catch {
        // It is not there.
      }
    }
  }
  return undefined;
}

function loadFrom(place: string, specifier: string): unknown {
  const load = nodeModule.createRequire(place);
  return load(specifier);
}

/** True if the file was not found, or the location is not a file. */
function isNotThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_INVALID_ARG_VALUE';
}

/** The package `memdir` that is installed where a bundle is. */
function memdirFrom(place: string): string {
  const load = nodeModule.createRequire(place);
  return load.resolve('memdir/package.json');
}

/** The targets that may run on this machine, the most likely one first. */
export function targetsHere(): string[] {
  const { platform, arch } = process;
  switch (platform) {
    case 'linux': {
      const abi = arch === 'arm' ? 'eabihf' : '';
      const targets = [`linux-${arch}-gnu${abi}`, `linux-${arch}-musl${abi}`];
      return isMusl() ? targets.reverse() : targets;
    }
    case 'win32':
      return [`win32-${arch}-msvc`];
    default:
      return [`${platform}-${arch}`];
  }
}

/** True if this system uses musl. npm installs only the fitting package; this decides if both are installed. */
function isMusl(): boolean {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  // Deno gives the report only with --allow-sys.
  if (!report || 'Deno' in globalThis) {
    return false;
  }
  const { excludeNetwork } = report;
  // Otherwise the report resolves the host names of this process's connections, which may take seconds.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  report.excludeNetwork = excludeNetwork ?? false;
  return !header?.glibcVersionRuntime;
}

function reason(target: string, places: string[], broken: unknown): string {
  if (broken !== undefined) {
    const { message } = broken as Error;
    return `The binary of memdir for ${target} cannot be loaded: ${message}`;
  }
  if (!places.some(isInPackage)) {
    return (
      `memdir was bundled, and a bundle cannot contain its binary for ${target}. Leave memdir out of ` +
      'the bundle (Next.js: serverExternalPackages: ["memdir"]; esbuild: --external:memdir; Bun: ' +
      '--external memdir; Vite: ssr.external; webpack: externals; Rollup: external) and install it ' +
      `where the bundle runs. Or copy memdir.${target}.node out of the package memdir-${target} beside ` +
      'the bundle. https://github.com/memdir/memdir/blob/main/docs/languages/bundlers.md has a section for each tool.'
    );
  }
  return (
    `memdir needs its package memdir-${target}, which is not installed. It is an optional dependency: ` +
    'install again without leaving these out (npm: no --omit=optional), and on this kind of machine ' +
    'rather than by copying node_modules from another.'
  );
}

/** True if this code is still in its package. */
function isInPackage(place: string): boolean {
  try {
    return (loadFrom(place, './package.json') as { name?: unknown }).name === 'memdir';
  } catch {
    return false;
  }
}
