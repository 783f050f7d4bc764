#!/usr/bin/env node
// The program `memdir`. It is implemented in Rust, in `program`.
'use strict';

const { runCommandLine } = require('./native.cjs');

process.exitCode = runCommandLine(['memdir', ...process.argv.slice(2)]);
