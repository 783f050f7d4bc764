// Helpers for the tests of the page: the program from its npm packages, a browser, and monitoring of the page in it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

import { browser, closeBrowser, violations } from './browser.mjs';
import { PROGRAM, memdir } from './installed.mjs';

export * from './browser.mjs';
export * from './installed.mjs';
export * from './places.mjs';

export const { Memory } = memdir;

/** The factor of repetitions compared with `make test`: `MEMDIR_EFFORT`, 1 by default. */
export const EFFORT = Math.max(1, Number.parseInt(process.env.MEMDIR_EFFORT ?? '', 10) || 1);

const made = [];
process.on('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
/** An empty directory, which is removed with the process. */
export function temporary() {
  const directory = mkdtempSync(join(tmpdir(), 'memdir-page-'));
  made.push(directory);
  return directory;
}

/** A memory that an agent changes in this process; the page is in another one. */
export const agent = (store, actor = 'session 1') =>
  new Memory(store, { history: true, actor, durability: 'relaxed' });

/** The output of a program. A failure fails the test. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (errors += data));
    child.on('error', reject);
    child.on('close', (status) => {
      assert.equal(status, 0, `${command} ${args.join(' ')}\n${output}${errors}`);
      resolve(output);
    });
  });
}

/** The output of `memdir`. */
export const cli = (...args) => run(PROGRAM[0], [PROGRAM[1], ...args]);

/** `memdir serve`, until `end` is called. */
export async function serve(args, program = PROGRAM, port = 0) {
  const [command, ...before] = program;
  const always = ['--port', String(port), '--durability', 'relaxed'];
  const server = spawn(command, [...before, 'serve', ...args, ...always], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => server.on('close', resolve));
  const end = async () => {
    server.kill();
    await ended;
  };
  let said = '';
  for await (const line of createInterface({ input: server.stderr })) {
    said += `${line}\n`;
    const address = /^memdir: open (http:\S+)/.exec(line)?.[1];
    if (address) {
      server.stderr.resume();
      return { address, origin: new URL(address).origin, end, pid: server.pid };
    }
  }
  throw new Error(`memdir serve has ended:\n${said}`);
}

/** Records every effect of hostile texts in a page. It runs before the page's own script. */
function watchPage() {
  const found = (what) => console.error(`watched: ${what}`);
  for (const name of ['alert', 'confirm', 'prompt', 'print']) {
    window[name] = (text) => found(`${name}(${text})`);
  }
  window.open = (address) => found(`open(${address})`);
  addEventListener('securitypolicyviolation', (event) =>
    found(`against the policy: ${event.effectiveDirective} ${event.blockedURI}`),
  );
  const check = (element) => {
    const isEntrance = location.pathname.startsWith('/open/');
    if (element.matches('meta[http-equiv]') && !isEntrance)
      found(`an element: ${element.outerHTML}`);
    if (
      /^(iframe|object|embed|base|frame|applet|portal|link|style|script)$/i.test(element.tagName)
    ) {
      // The page's own files.
      const ours = ['/assets/page.js', '/assets/page.css', '/assets/icon.svg'];
      if (!ours.includes(element.getAttribute('src') ?? element.getAttribute('href'))) {
        found(`an element: ${element.outerHTML}`);
      }
    }
    for (const { name, value } of element.attributes ?? []) {
      if (/^on|^style$|^srcdoc$/i.test(name)) found(`an attribute: ${name}="${value}"`);
      if (/^(href|src|action|formaction)$/i.test(name)) {
        const { protocol } = new URL(value, location.href);
        if (!['http:', 'https:', 'mailto:'].includes(protocol)) found(`an address: ${value}`);
      }
    }
  };
  // For texts that a test has parsed without showing them.
  window.checkParsed = (parsed) => parsed.querySelectorAll('*').forEach(check);
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'attributes') check(change.target);
      for (const node of change.addedNodes) {
        if (node.nodeType !== Node.ELEMENT_NODE) continue;
        check(node);
        for (const inner of node.querySelectorAll('*')) check(inner);
      }
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });
}

/** A page in the browser, and its observed problems. */
export class View {
  constructor(page, context, server) {
    this.page = page;
    this.context = context;
    this.server = server;
    /** Whether a page with unsaved text may be left. */
    this.leaves = false;
    /** Unexpected events. */
    this.findings = [];
    /** Answers other than 200 to requests of the test. */
    this.refusals = [];
  }

  static async open(args, options = {}) {
    const server = await serve(args, options.program);
    const context = await (
      await browser()
    ).newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...options.context,
    });
    context.setDefaultTimeout(60_000);
    await context.addInitScript(watchPage);
    const view = new View(await context.newPage(), context, server);
    view.#watch();
    await view.page.goto(server.address);
    await view.page.waitForURL(`${server.origin}/1/`);
    return view;
  }

  #watch() {
    const { context, findings, refusals, server } = this;
    context.on('console', (message) => {
      const { url } = message.location();
      // The browser itself reports a refused page; the test states which ones it expects.
      const refused = /^Failed to load resource: .* status of (\d+)/.exec(message.text());
      if (refused && url.startsWith(server.origin)) {
        refusals.push(`${refused[1]} ${new URL(url).pathname}`);
      } else {
        findings.push(`console ${message.type()}: ${message.text()} ${url}`);
      }
    });
    context.on('weberror', (error) => findings.push(`error: ${error.error().stack}`));
    context.on('dialog', (dialog) => {
      findings.push(`dialog: ${dialog.type()} ${dialog.message()}`);
      // Leaving a page needs a person's consent; a test states whether it expects this.
      if (this.leaves) {
        dialog.accept();
      } else {
        dialog.dismiss();
      }
    });
    context.on('request', (request) => {
      if (!request.url().startsWith(`${server.origin}/`))
        findings.push(`request: ${request.url()}`);
    });
    context.on('page', () => findings.push('another page was opened'));
  }

  /** Opens a page of the first memory, or of another one. */
  async go(place, parameters = {}) {
    const path = place.startsWith('/') ? place : `/1/${place}`;
    const query = new URLSearchParams(parameters).toString();
    await this.page.goto(this.server.origin + path + (query && `?${query}`));
  }

  /** The page shows this text in its main part, and not only in the frame around it. */
  async shows(text) {
    await this.page.locator('#main', { hasText: text }).first().waitFor();
  }

  async press(name) {
    await this.page.locator('#main').getByRole('button', { name, exact: true }).click();
  }

  async follow(name) {
    await this.page.locator('#main').getByRole('link', { name, exact: true }).first().click();
  }

  /** Waits until the page follows changes. */
  async live() {
    await this.page.locator('#live.on').waitFor();
  }

  /** The open page is accessible, in both colour schemes: axe finds no serious or critical problem. */
  async accessible() {
    for (const colorScheme of ['light', 'dark']) {
      await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Only the colours differ in the dark scheme.
      const rules = colorScheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined;
      for (const violation of await violations(this.page, rules)) {
        this.findings.push(`axe, ${colorScheme}, ${this.page.url()}: ${violation}`);
      }
    }
  }

  async close() {
    await this.context.close();
    await this.server.end();
  }
}

let isEnding = false;
/**
 * A test of the page that `memdir serve ...args` shows. It also fails if the page did anything that our pages never do:
 * see `findings`. `refused` are the pages that the test was refused, in order.
 */
export function testPage(name, args, body, { refused = [], ...options } = {}) {
  isEnding ||= (after(closeBrowser), true);
  test(name, async (t) => {
    const view = await View.open(typeof args === 'function' ? await args() : args, options);
    try {
      await body(view, t);
      assert.deepEqual(view.findings, []);
      assert.deepEqual(view.refusals, refused);
    } catch (error) {
      t.diagnostic(`at ${view.page.url()}: ${[...view.findings, ...view.refusals].join('; ')}`);
      t.diagnostic(
        (
          await view.page
            .locator('body')
            .innerText()
            .catch(() => '')
        ).slice(0, 3000),
      );
      throw error;
    } finally {
      await view.close();
    }
  });
}
