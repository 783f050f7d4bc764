// Texts that try to reach the person who looks at them (attacks.json): as the names and contents of files, as actors, as reasons of
// redactions, as what is searched for, and in addresses. Nothing of them runs, is loaded, or moves the page around.
//
// Every text is opened as Markdown, and in every list; what is left is read by the browser and judged there, and every sixth of it
// is opened as well. With MEMDIR_ATTACKS=all everything is opened, which takes minutes.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { agent, temporary, testPage } from './support.mjs';

const { texts, repeated } = JSON.parse(readFileSync(new URL('attacks.json', import.meta.url), 'utf8'));
const ATTACKS = [...texts, ...repeated.map(([text, times]) => text.repeat(times))];
const STEP = process.env.MEMDIR_ATTACKS === 'all' ? 1 : 6;
const some = (list) => list.filter((_, number) => number % STEP === 0);

/** Whether a call is refused; what an attack cannot become is of no further interest. */
const isTaken = async (call) => {
  try {
    await call();
    return true;
  } catch {
    return false;
  }
};

const [store, second] = [temporary(), temporary()];
const taken = { names: 0, actors: 0, reasons: 0 };
/** A directory for each forty of them: a tree that is long takes long. */
const group = (number) => Math.floor(number / 40);
const content = (number, extension) => `/memories/c${group(number)}/${number}.${extension}`;
const named = (number) => `/memories/n${group(number)}/${ATTACKS[number]}`;

async function written() {
  const memory = agent(store);
  for (const [number, text] of ATTACKS.entries()) {
    mkdirSync(join(store, 'memories', `c${group(number)}`), { recursive: true });
    for (const extension of ['md', 'txt']) writeFileSync(join(store, content(number, extension)), text);
    // A few are no names, and a few no actors.
    taken.names += await isTaken(() => memory.create({ path: named(number), file_text: text }));
    const path = `/memories/a${group(number)}/${number}`;
    taken.actors += await isTaken(() => agent(store, text).create({ path, file_text: '' }));
  }
  const [other, redacted] = [agent(second), '/memories/r.md'];
  await other.create({ path: redacted, file_text: '' });
  for (const number of some(ATTACKS).keys()) await other.write(redacted, `${number}`);
  const versions = await other.history(redacted, { limit: 10_000 });
  for (const [number, text] of some(ATTACKS).entries()) {
    taken.reasons += await isTaken(() => other.redact(versions[number + 1].id, text));
  }
  return [store, second];
}

/** Where the parts of the frame are. */
const frame = (page) =>
  page.evaluate(() => {
    const boxes = ['header.top', '.places', '.search', '#tree', '#main'].map((part) => {
      const { x, y, width, height } = document.querySelector(part).getBoundingClientRect();
      return [part, ...[x, y, width, height].map(Math.round)].join(' ');
    });
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [...boxes, `${scrollWidth} ${scrollHeight}`];
  });

testPage('no text of an attack does anything but to be read', written, async (view) => {
  const { page, findings, refusals, server } = view;
  assert.ok(ATTACKS.length >= 200);
  assert.ok(taken.names > 200 && taken.actors > 200 && taken.reasons > 50, JSON.stringify(taken));
  const wanted = await frame(page);

  /** Opens a page of an attack; what is wrong is noted with its address. */
  async function open(address, isFramed = true) {
    const before = findings.length;
    await page.goto(server.origin + address, { waitUntil: 'domcontentloaded' });
    if (isFramed) {
      const found = await frame(page);
      if (found.some((box, part) => box !== wanted[part])) {
        findings.push(`the page is not where it was: ${found.filter((box, part) => box !== wanted[part])}`);
      }
    }
    for (let at = before; at < findings.length; at += 1) findings[at] += `\n  at ${address.slice(0, 300)}`;
  }
  const query = (place, parameters) => `/1/${place}?${new URLSearchParams(parameters)}`;

  // In lists: the tree, a directory, timelines.
  const groups = Array.from({ length: group(ATTACKS.length - 1) + 1 }, (_, number) => number);
  const lists = groups.flatMap((number) => [`/memories/n${number}`, `/memories/a${number}`]);
  for (const path of lists) {
    await open(query('file', { path }));
    await open(query('history', { path }));
  }
  {
    let next = '/2/history';
    while (next) {
      await open(next);
      next = await page.evaluate(() => document.querySelector('a[rel="next"]')?.getAttribute('href'));
    }
  }

  // As Markdown.
  for (const number of ATTACKS.keys()) await open(query('file', { path: content(number, 'md') }));

  // Everything else: what is in a frame, and what is refused in a few words.
  const others = (number, text) => [
    query('file', { path: content(number, 'txt') }),
    query('file', { path: named(number) }),
    query('search', { q: text, path: `/memories/n${group(number)}` }),
    query('search', { q: text, path: `/memories/n${group(number)}`, regex: '1' }),
    query('history', { actor: text }),
    query('history', { since: text, before: text }),
    query('version', { id: text, diff: text }),
    query('file', { path: text, view: text, from: text, done: text, id: text }),
    query('new', { path: named(number) }),
    query('delete', { path: named(number) }),
    query('rename', { path: named(number) }),
    query('edit', { path: content(number, 'txt') }),
  ];
  const isShort = (address) => address.length < 8_000;
  const all = ATTACKS.flatMap((text, number) => others(number, text)).filter(isShort);
  await open('/1/');
  const read = (addresses) =>
    Promise.all(
      addresses.map(async (address) => {
        const response = await fetch(address);
        window.checkParsed(new DOMParser().parseFromString(await response.text(), 'text/html'));
        return response.status;
      }),
    );
  for (let at = 0; at < all.length; at += 60) {
    const statuses = await page.evaluate(read, all.slice(at, at + 60));
    statuses.forEach((status, number) => {
      if (![200, 400, 404].includes(status)) findings.push(`${status} for ${all[at + number]}`);
    });
  }
  // By a number that has nothing in common with that of the addresses of a text.
  for (const address of all.filter((_, number) => number % (STEP * 7) === 0)) {
    await open(address, !/\/1\/(?:version|file\?path=(?!%2Fmemories))|since=/.test(address));
  }

  // Narrow, nothing is wider than the window.
  await page.setViewportSize({ width: 360, height: 640 });
  const contents = some([...ATTACKS.keys()]).map((number) => content(number, 'md'));
  for (const path of [...lists, ...contents]) {
    for (const place of path.endsWith('.md') ? ['file'] : ['file', 'history']) {
      await page.goto(server.origin + query(place, { path }), { waitUntil: 'domcontentloaded' });
      const isWider = () => document.documentElement.scrollWidth > innerWidth;
      if (await page.evaluate(isWider)) findings.push(`wider than the window: ${place} ${path}`);
    }
  }
  refusals.splice(0);
});
