// The location of the program for the tests of the page.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { TOOLS } from './places.mjs';

const INSTALLED = join(TOOLS, 'installed');
/** The command line, as npm installs it. */
export const PROGRAM = [process.execPath, join(INSTALLED, 'node_modules', 'memdir', 'bin.cjs')];

const requireInstalled = createRequire(join(INSTALLED, 'package.json'));
/** The package, as a program imports it. */
export const memdir = await import(pathToFileURL(requireInstalled.resolve('memdir')).href);
