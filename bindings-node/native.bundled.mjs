// Loads the binary for this machine, for code that a bundler made of the ESM build: bundlers choose this file by their
// condition `module` (`imports` in package.json).
//
// It names no package in a literal, so no bundler tries to read a binary as JavaScript. When the bundle runs, the binary is
// looked for from where the bundle is, and from where this file was.
import { loadBinary } from './esm/binary.js';

/** Where this is in a bundle that is CommonJS. Not by `typeof`, which webpack answers when it bundles. */
function filename() {
  try {
    return __filename;
  } catch {
    return undefined;
  }
}

export default loadBinary([import.meta.url, filename()]);
