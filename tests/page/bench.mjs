// The time for a page of `memdir serve`: `make bench-page`. It is a measurement and not a test: nothing fails.
//
// The memory has 10,000 files, a history of 1,000 versions, and a directory of 10,000 entries. Each page is fetched like a
// browser's request, and then opened in a browser. In the same run a Node server sends the same bytes from memory, and the
// difference is the cost of memdir.

import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';

import { PROJECT, agent, browser, closeBrowser, serve, temporary } from './support.mjs';

const FILES = 10_000;
const VERSIONS = 1_000;
const ROUNDS = 15;

const store = temporary();
const flat = join(store, 'memories', 'flat');
mkdirSync(flat, { recursive: true });
for (let number = 0; number < FILES; number += 1) {
  writeFileSync(
    join(flat, `note-${String(number).padStart(5, '0')}.md`),
    `# Note ${number}\n\nSome words.\n`,
  );
}
const memory = agent(store);
const LINES = Array.from(
  { length: 400 },
  (_, line) => `Line ${line} of a file that is edited often.\n`,
);
await memory.create({ path: '/memories/log.md', file_text: LINES.join('') });
for (let number = 1; number < VERSIONS; number += 1) {
  const line = number % LINES.length;
  const before = LINES[line];
  LINES[line] = `Line ${line}, as of version ${number}.\n`;
  await memory.str_replace({ path: '/memories/log.md', old_str: before, new_str: LINES[line] });
}
const versions = await memory.history('/memories/log.md', { limit: VERSIONS });
const program = [join(PROJECT, 'target', 'release', 'memdir')];
const server = await serve([store], program);

const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
const cookie = (await fetch(server.address)).headers.get('set-cookie').split(';')[0];

async function fetched(address) {
  const times = [];
  let body;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    body = await (await fetch(address, { headers: { cookie } })).text();
    times.push(performance.now() - begun);
  }
  return [median(times), body];
}

const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
await page.goto(server.address);
await page.waitForURL(/\/1\/$/);

/** The time until the browser has the document, and until it has painted it. */
async function opened(address) {
  const [loaded, painted] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.goto(address, { waitUntil: 'domcontentloaded' });
    const paint = () =>
      new Promise((resolve) => {
        const read = (list) => {
          const entry = list.find(({ name }) => name === 'first-contentful-paint');
          if (entry) resolve(entry.startTime);
        };
        new PerformanceObserver((list) => read(list.getEntries())).observe({
          type: 'paint',
          buffered: true,
        });
      });
    painted.push(await page.evaluate(paint));
    const { domContentLoadedEventStart } = await page.evaluate(() =>
      performance.getEntriesByType('navigation')[0].toJSON(),
    );
    loaded.push(domContentLoadedEventStart);
  }
  return [median(loaded), median(painted)];
}

const { id } = versions[Math.floor(VERSIONS / 2)];
const pages = [
  ['overview', '/1/'],
  ['the root with the tree', '/1/file'],
  ['a directory of 10,000 files', '/1/file?path=/memories/flat'],
  ['a file', '/1/file?path=/memories/flat/note-05000.md'],
  ['timeline of 1,000 versions', '/1/history?path=/memories/log.md'],
  ['a diff', `/1/diff?id=${id}`],
  ['a version, with both its diffs', `/1/version?id=${id}`],
  ['search of 10,000 files', '/1/search?q=nowhere&exact=1'],
];
const title = ['milliseconds, medians', 'KiB', 'server', 'ratio', 'document', 'painted'];
const row = (cells) =>
  console.log(cells.map((cell, at) => (at ? `${cell}`.padStart(10) : cell.padEnd(32))).join(''));
row(title);
for (const [name, path] of pages) {
  const [ours, body] = await fetched(server.origin + path);
  const plain = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  });
  await once(plain.listen(0, '127.0.0.1'), 'listening');
  const [theirs] = await fetched(`http://127.0.0.1:${plain.address().port}/`);
  plain.close();
  plain.closeAllConnections();
  const [loaded, painted] = await opened(server.origin + path);
  const [size, ratio] = [(body.length / 1024).toFixed(0), (ours / theirs).toFixed(1)];
  row([name, size, ours.toFixed(1), `${ratio}x`, loaded.toFixed(0), painted.toFixed(0)]);
}
console.log('ratio: to a server of Node that sends the same bytes from memory');
await context.close();
await closeBrowser();
await server.end();
