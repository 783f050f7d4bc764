// Where the project is, and what is installed for tests in a browser.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Where the browser's driver, axe and the SDK are installed. */
export const TOOLS = join(PROJECT, '.cache', 'page');
