// Loads the binary for this machine, for the ESM build. `native.cjs` is the same for CommonJS, `native.bundled.mjs` for bundles,
// and `ts/binary.ts` says where it is looked for.
//
// Each package is named in a literal, and what loads it is made by `module.createRequire(import.meta.url)`. That is what
// tools look for that trace which files a program needs: Next.js for what it does not bundle, Vercel's nft.
import * as module from 'node:module';

import { loadBinary } from './esm/binary.js';

/** What a package has, or an error if it is not installed beside this one. */
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
