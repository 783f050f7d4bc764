// Loads the binary for this machine, for code that a bundler made of the ESM build: bundlers choose this file by their
// condition `module` (`imports` in package.json).
//
// No package is named in a literal, so no bundler tries to read a binary as JavaScript. At run time the binary is searched
// for from the bundle's location, and from this file's original location.
import { loadBinary } from './esm/binary.js';

/** The location of this code in a CommonJS bundle. Not with `typeof`, which webpack evaluates while bundling. */
function filename() {
  try {
    return __filename;
  } catch {
    return undefined;
  }
}

export default loadBinary([import.meta.url, filename()]);
