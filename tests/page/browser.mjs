// A headless real browser, and an accessibility checker for pages.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { TOOLS } from './places.mjs';

const requireTool = createRequire(join(TOOLS, 'package.json'));
const { chromium } = requireTool('playwright-core');
const AXE = readFileSync(requireTool.resolve('axe-core/axe.min.js'), 'utf8');

let started;
/** Headless Chromium, which takes half the time, or complete Chromium. */
const EXECUTABLE = ['chromium-headless-shell', 'chromium']
  .flatMap((name) => process.env.PATH.split(delimiter).map((directory) => join(directory, name)))
  .find((path) => existsSync(path));
/** The browser of this process. */
export function browser(...args) {
  started ??= chromium.launch({
    executablePath: EXECUTABLE,
    // Chromium's sandbox needs a user other than root. Tests run as root in containers and under tests/harmless. There the
    // file system is read-only, and only our own pages are opened.
    chromiumSandbox: process.getuid?.() !== 0,
    // It keeps font caches and crash reports in the home directory.
    env: { ...process.env, HOME: tmpdir() },
    args,
  });
  return started;
}
export const closeBrowser = async () => (await started)?.close();

/** The serious or critical problems that axe finds in the open page. `rules` limits the rules to check. */
export async function violations(page, rules) {
  // With the debugger's protocol, to which the page's policy does not apply.
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
