// Loads the native library that was built with a sanitizer instead of the one in the packages: see tests/sanitize.
'use strict';

const { basename } = require('node:path');
const Module = require('node:module');

const load = Module._extensions['.node'];
Module._extensions['.node'] = (module, file) =>
  load(module, basename(file).startsWith('memdir.') ? process.env.MEMDIR_NATIVE : file);
