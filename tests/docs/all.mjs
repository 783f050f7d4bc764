// The site of the documents in a real browser, as it is published: `make test-docs`. tests/docs/site looks at its files.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";

import { browser, closeBrowser, violations } from "../page/browser.mjs";
import { PROJECT } from "../page/places.mjs";

const SITE = join(PROJECT, "target", "site");
/** Where it is below its host, as when it is published. */
const BASE = "/memdir/";
const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};
const EFFORT = Math.max(
  1,
  Number.parseInt(process.env.MEMDIR_EFFORT ?? "", 10) || 1,
);
const LOOKS = [
  [1280, "light"],
  [390, "dark"],
  ...(EFFORT > 1
    ? [
        [1280, "dark"],
        [390, "light"],
      ]
    : []),
];
/** Every page, by its address below the site. */
const PAGES = [
  ...readFileSync(join(SITE, "llms.txt"), "utf8").matchAll(
    /\]\(https:\/\/[^/]*\/memdir\/(.*?)\): /g,
  ),
].map(([, page]) => page);
const QUESTIONS = JSON.parse(
  readFileSync(new URL("questions.json", import.meta.url), "utf8"),
);

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  let file = join(SITE, pathname.slice(BASE.length));
  if (!pathname.startsWith(BASE) || !existsSync(file))
    return void response.writeHead(404).end();
  if (statSync(file).isDirectory()) file = join(file, "index.html");
  response
    .writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain" })
    .end(readFileSync(file));
});
let site;
before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${server.address().port}${BASE}`;
});
after(async () => {
  await closeBrowser();
  server.close();
  server.closeAllConnections();
});

/** A page of the browser; `findings` are what it asked another host for, what was not there, and what it complained of. */
async function opened(options) {
  const context = await (
    await browser()
  ).newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(120_000);
  const findings = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(site))
      findings.push(`asks for ${request.url()}`);
  });
  context.on("response", (response) => {
    if (response.status() !== 200)
      findings.push(`${response.status()} ${response.url()}`);
  });
  context.on("console", (message) =>
    findings.push(`console: ${message.text()}`),
  );
  context.on("weberror", (error) =>
    findings.push(`error: ${error.error().stack}`),
  );
  return { page: await context.newPage(), context, findings };
}

test("no page is wider than the screen, or asks another host", async () => {
  const { page, context, findings } = await opened();
  for (const address of PAGES) {
    await page.goto(site + address);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const [wide, shown] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      if (wide > shown)
        findings.push(`${address} is ${wide} pixels wide at ${width}`);
    }
  }
  assert.deepEqual(findings, []);
  await context.close();
});

// axe takes half a second for a page. All pages have the same frame, so it looks at one in four, and at all with more effort.
const LOOKED_AT = PAGES.filter((_, number) => EFFORT > 1 || number % 4 === 0);
for (const [width, colorScheme] of LOOKS) {
  test(`axe finds nothing at ${width} pixels, ${colorScheme}`, async () => {
    const { page, context, findings } = await opened({
      viewport: { width, height: 900 },
      colorScheme,
    });
    for (const address of LOOKED_AT) {
      await page.goto(site + address);
      for (const violation of await violations(page))
        findings.push(`${address}: ${violation}`);
    }
    assert.deepEqual(findings, []);
    await context.close();
  });
}

test("a language that is chosen in one place is chosen in all", async () => {
  const { page, context, findings } = await opened();
  /** Of each group of tabs, its languages and the one that is shown. */
  const groups = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".tabbed-set")].map((set) => {
        const labels = [
          ...set.querySelectorAll(":scope > .tabbed-labels > label"),
        ];
        const at = [...set.querySelectorAll(":scope > input")].findIndex(
          ({ checked }) => checked,
        );
        return {
          languages: labels.map((label) => label.innerText),
          shown: labels[at].innerText,
        };
      }),
    );
  const hold = (found, language, least = 2) => {
    const have = found.filter(({ languages }) => languages.includes(language));
    assert.ok(have.length >= least, language);
    assert.deepEqual(
      new Set(have.map(({ shown }) => shown)),
      new Set([language]),
    );
  };
  await page.goto(`${site}guides/your-own-code/`);
  hold(await groups(), "Python");
  await page
    .locator(".tabbed-labels label", { hasText: "Swift" })
    .first()
    .click();
  await page.waitForFunction(() => localStorage.length > 0);
  hold(await groups(), "Swift");
  // Also on the next page.
  await page.goto(`${site}reference/policies/hooks/`);
  hold(await groups(), "Swift", 1);
  assert.deepEqual(findings, []);
  await context.close();
});

test("it is dark or light as the system is, until a reader chooses", async () => {
  const { page, context } = await opened({ colorScheme: "dark" });
  const scheme = () =>
    page.locator("body").getAttribute("data-md-color-scheme");
  await page.goto(site);
  await page.waitForFunction(
    () => document.body.dataset.mdColorScheme === "slate",
  );
  await page.locator('label[title="Use the light colours"]').click();
  await page.waitForFunction(
    () => document.body.dataset.mdColorScheme === "default",
  );
  await page.goto(`${site}concepts/memory/`);
  assert.equal(await scheme(), "default");
  await context.close();
});

test("an older address leads to the page", async () => {
  const { page, context } = await opened();
  for (const [old, place] of [
    ["behaviour/", "reference/behaviour/"],
    ["names/search/", "reference/older-names/#search-search_each"],
  ]) {
    await page.goto(site + old);
    await page.waitForURL(site + place);
  }
  await context.close();
});

test("the search answers the questions of a newcomer among its first three results", async () => {
  const { page, context, findings } = await opened();
  await page.goto(site);
  await page.locator(".md-search__button").click();
  const input = page.locator("input[role=combobox]");
  const results = page.locator("[role=listbox] a");
  const ask = async (question) => {
    // Otherwise the results of the last question are still there.
    await input.fill("");
    await results.first().waitFor({ state: "detached" });
    await input.fill(question);
    await results.first().waitFor();
  };
  const missed = [];
  for (const { question, page: answer } of QUESTIONS) {
    await ask(question);
    const first = await results.evaluateAll((links) =>
      links.slice(0, 3).map(({ href }) => new URL(href).pathname),
    );
    if (!first.includes(BASE + answer))
      missed.push(`${question}: ${first.join(", ")}`);
  }
  assert.deepEqual(missed, []);
  assert.ok(QUESTIONS.length >= 30);

  // It brings the reader to the section, with the words marked.
  await ask("what does a 409 mean");
  assert.ok((await results.first().locator("mark").count()) > 0);
  await results.first().click();
  await page.waitForURL(/reference\/behaviour\/.*#kinds-of-errors$/);
  assert.deepEqual(findings, []);
  await context.close();
});
