// The location of the project, and of the tools for tests in a browser.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** The directory of the browser's driver, axe and the SDK. */
export const TOOLS = join(PROJECT, '.cache', 'page');
