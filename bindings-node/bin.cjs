#!/usr/bin/env node
// The program `memdir`, which is the core's.
'use strict';

const { runCommandLine } = require('./native.cjs');

process.exitCode = runCommandLine(['memdir', ...process.argv.slice(2)]);
