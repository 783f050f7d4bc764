// A real browser, without its windows, and axe, which finds obstacles for people with disabilities.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { TOOLS } from './places.mjs';

const requireTool = createRequire(join(TOOLS, 'package.json'));
const { chromium } = requireTool('playwright-core');
const AXE = readFileSync(requireTool.resolve('axe-core/axe.min.js'), 'utf8');

let started;
/** Chromium without its windows, which takes half the time, or the whole of it. */
const EXECUTABLE = ['chromium-headless-shell', 'chromium']
  .flatMap((name) => process.env.PATH.split(delimiter).map((directory) => join(directory, name)))
  .find((path) => existsSync(path));
/** The browser of this process. */
export function browser(...args) {
  started ??= chromium.launch({
    executablePath: EXECUTABLE,
    // Chromium's sandbox needs a user that is not root. Tests run as root in containers and under tests/harmless; there the
    // file system is read-only, and the only pages that are opened are our own.
    chromiumSandbox: process.getuid?.() !== 0,
    // It keeps fonts' caches and reports of crashes in the home directory.
    env: { ...process.env, HOME: tmpdir() },
    args,
    // A busy machine starts it slowly.
    timeout: 180_000,
  });
  return started;
}
export const closeBrowser = async () => (await started)?.close();

/** The serious and critical violations that axe finds in the open page, a sentence each. `rules` limits the rules that it applies. */
export async function violations(page, rules) {
  // By the debugger's protocol, which the page's policy does not concern.
  await page.evaluate(AXE);
  const found = await page.evaluate((options) => globalThis.axe.run(document, options), {
    resultTypes: ['violations'],
    ...(rules && { runOnly: rules }),
  });
  return found.violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, help, nodes }) => {
      const where = nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html}\n${failureSummary}`);
      return `${id}, ${help}\n${where.join('\n')}`;
    });
}
