// The API references in a real browser, at their published addresses: `make test-reference`. tests/docs/reference looks at their files.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";

import { browser, closeBrowser } from "../page/browser.mjs";
import { PROJECT } from "../page/places.mjs";

const BUILT = join(PROJECT, "target", "reference");
const LANGUAGES = JSON.parse(
  readFileSync(join(PROJECT, "docs", "api", "languages.json"), "utf8"),
);
const BASE = `${new URL(readFileSync(join(PROJECT, "docs", "mkdocs.yml"), "utf8").match(/^site_url: (\S+)$/m)[1]).pathname}reference/api/`;
const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
/** A page of each language about `Memory`, and a text that it shows. */
const PAGES = {
  python: ["memory/", "acting_as"],
  typescript: ["classes/memdir.Memory.html", "actingAs"],
  kotlin: ["memdir/dev.memdir/-memory/index.html", "actingAs"],
  swift: ["documentation/memdir/memory/", "actingAs"],
  go: ["index.html", "Memory.ActingAs"],
  c: ["index.html", "memdir_acting_as"],
  rust: ["memdir/struct.Memory.html", "acting_as"],
};

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  let file = join(BUILT, decodeURIComponent(pathname.slice(BASE.length)));
  if (!pathname.startsWith(BASE) || !existsSync(file))
    return void response.writeHead(404).end();
  if (statSync(file).isDirectory()) file = join(file, "index.html");
  if (!existsSync(file)) return void response.writeHead(404).end();
  response
    .writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain" })
    .end(readFileSync(file));
});
let host;
before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  await closeBrowser();
  server.close();
  server.closeAllConnections();
});

for (const [language, { name }] of Object.entries(LANGUAGES)) {
  const skip = existsSync(join(BUILT, language))
    ? false
    : `make reference-${language} did not build it`;
  test(`the reference for ${name} asks no other host`, { skip }, async () => {
    const context = await (await browser()).newContext();
    context.setDefaultTimeout(60_000);
    const findings = [];
    context.on("request", (request) => {
      if (!/^data:/.test(request.url()) && !request.url().startsWith(host))
        findings.push(`asks for ${request.url()}`);
    });
    context.on("response", (response) => {
      if (response.status() >= 400 && !response.url().endsWith("/favicon.ico"))
        findings.push(`${response.status()} ${response.url()}`);
    });
    const page = await context.newPage();
    const [about, text] = PAGES[language];
    for (const address of ["", about]) {
      await page.goto(`${host}${BASE}${language}/${address}`);
      await page.waitForLoadState("networkidle");
    }
    await page.getByText(text).first().waitFor({ state: "attached" });
    assert.deepEqual(findings, []);
    await context.close();
  });
}
