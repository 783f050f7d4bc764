// Loads the binary for this machine, for the ESM build. `native.cjs` does the same for CommonJS, `native.bundled.mjs` for
// bundles. `ts/binary.ts` defines the search order.
//
// Each package is named in a literal, and loaded with `module.createRequire(import.meta.url)`. Tools that trace a program's
// files look for exactly this pattern: Next.js for packages that it does not bundle, and Vercel's nft.
import * as module from 'node:module';

import { loadBinary } from './esm/binary.js';

/** Loads the package of a target. Throws an error if it is not installed beside this one. */
function installed(target) {
  const load = module.createRequire(import.meta.url);
  switch (target) {
    case 'linux-x64-gnu':
      return load('memdir-linux-x64-gnu');
    case 'linux-arm64-gnu':
      return load('memdir-linux-arm64-gnu');
    case 'linux-arm-gnueabihf':
      return load('memdir-linux-arm-gnueabihf');
    case 'linux-x64-musl':
      return load('memdir-linux-x64-musl');
    case 'linux-arm64-musl':
      return load('memdir-linux-arm64-musl');
    case 'darwin-x64':
      return load('memdir-darwin-x64');
    case 'darwin-arm64':
      return load('memdir-darwin-arm64');
    case 'win32-x64-msvc':
      return load('memdir-win32-x64-msvc');
    case 'win32-arm64-msvc':
      return load('memdir-win32-arm64-msvc');
  }
}

export default loadBinary([import.meta.url], installed);
