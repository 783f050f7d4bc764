// Loads the binary for this machine, for the CommonJS build and the program `memdir`: see `native.mjs`.
'use strict';

const { createRequire } = require('node:module');

const { loadBinary } = require('./cjs/binary.js');

/** Loads the package of a target. Throws an error if it is not installed beside this one. */
function installed(target) {
  const load = createRequire(__filename);
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

module.exports = loadBinary([__filename], installed);
