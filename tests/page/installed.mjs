// Where the program is that the tests of the page run, and what opens its page.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Where the browser's driver, axe and the SDK are installed. */
export const TOOLS = join(PROJECT, '.cache', 'page');
const INSTALLED = join(TOOLS, 'installed');
/** The command line, as npm installs it. */
export const PROGRAM = [process.execPath, join(INSTALLED, 'node_modules', 'memdir', 'bin.cjs')];

const requireInstalled = createRequire(join(INSTALLED, 'package.json'));
/** The package, as a program imports it. */
export const memdir = await import(pathToFileURL(requireInstalled.resolve('memdir')).href);
