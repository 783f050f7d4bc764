// Texts that try to attack the person who views them (attacks.json): as the names and contents of files, as actors, as reasons of
// redactions, as partners and conflicts of a sync, as search terms, and in addresses. None of them runs, is loaded, or navigates the page.
//
// Every text is opened in the lists as a name and as an actor. Each is also parsed by the browser and checked in one of its
// other places, and a few are opened there. With MEMDIR_EFFORT=50 each is opened in all places, which takes many minutes.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { EFFORT, Memory, agent, temporary, testPage } from './support.mjs';

const { texts, repeated } = JSON.parse(
  readFileSync(new URL('attacks.json', import.meta.url), 'utf8'),
);
const ATTACKS = [...texts, ...repeated.map(([text, times]) => text.repeat(times))];
/** One in `of` of them; with more effort more, up to all. */
const some = (list, of, first = 0) => {
  const step = Math.max(1, Math.floor(of / EFFORT));
  return list.filter((_, number) => number % step === first % step);
};

/** Whether a call succeeds; a refused attack is not tested further. */
const isTaken = async (call) => {
  try {
    await call();
    return true;
  } catch {
    return false;
  }
};

const [store, second] = [temporary(), temporary()];
const taken = { names: 0, actors: 0, reasons: 0, partners: 0, conflicts: 0 };
/** A directory for each group of them, because a long tree is slow. */
const group = (number) => Math.floor(number / 80);
/** These are opened one by one, with a tree in which their directory is open. */
const content = (number, extension) =>
  `/memories/c${Math.floor(number / 20)}/${number}.${extension}`;
/** A conflict copy, whose origin is the text as far as a name can have it. */
const copy = (number) =>
  `/memories/k${group(number)}/${number} (conflict from ${ATTACKS[number].slice(0, 100)} 1).md`;
const named = (number) => `/memories/n${group(number)}/${ATTACKS[number]}`;

async function written() {
  const memory = agent(store);
  for (const [number, text] of ATTACKS.entries()) {
    for (const extension of ['md', 'txt']) {
      const file = join(store, content(number, extension));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    // A few are invalid as names, and a few as actors.
    taken.names += await isTaken(() => memory.create({ path: named(number), file_text: text }));
    const path = `/memories/a${group(number)}/${number}`;
    taken.conflicts += await isTaken(() => memory.create({ path: copy(number), file_text: text }));
    taken.actors += await isTaken(() => agent(store, text).create({ path, file_text: '' }));
  }
  const [other, redacted] = [agent(second), '/memories/r.md'];
  await other.create({ path: redacted, file_text: '' });
  for (const number of some(ATTACKS, 6).keys()) await other.write(redacted, `${number}`);
  const versions = await other.history(redacted, { limit: 10_000 });
  for (const [number, text] of some(ATTACKS, 6).entries()) {
    taken.reasons += await isTaken(() => other.redact(versions[number + 1].id, text));
  }
  for (const text of some(ATTACKS, 12)) {
    const names = ['laptop', text];
    taken.partners += await isTaken(() => other.sync(new Memory('memory:'), { names }));
  }
  return [store, second];
}

/** The positions of the parts of the frame. A page without a frame, which only shows a refusal, has none. */
const frame = (page) =>
  page.evaluate(() => {
    if (document.body.matches('.alone')) return [];
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
  assert.ok(taken.conflicts > 100 && taken.partners > 20, JSON.stringify(taken));
  const wanted = await frame(page);

  /** Opens a page of an attack, and records problems with its address. */
  async function open(address) {
    const before = findings.length;
    await page.goto(server.origin + address, { waitUntil: 'domcontentloaded' });
    const moved = (await frame(page)).filter((box, part) => box !== wanted[part]);
    if (moved.length > 0) findings.push(`the page is not where it was: ${moved}`);
    for (let at = before; at < findings.length; at += 1)
      findings[at] += `\n  at ${address.slice(0, 300)}`;
  }
  const query = (place, parameters) => `/1/${place}?${new URLSearchParams(parameters)}`;

  // In lists: the tree, a directory, timelines.
  const groups = Array.from({ length: group(ATTACKS.length - 1) + 1 }, (_, number) => number);
  const lists = groups.flatMap((number) => [
    query('file', { path: `/memories/n${number}` }),
    query('history', { path: `/memories/n${number}` }),
    query('history', { path: `/memories/a${number}` }),
  ]);
  lists.push('/1/sync', '/2/sync');
  for (const address of lists) await open(address);
  {
    let next = '/2/history';
    while (next) {
      await open(next);
      next = await page.evaluate(() =>
        document.querySelector('a[rel="next"]')?.getAttribute('href'),
      );
    }
  }

  // As Markdown.
  const numbers = [...ATTACKS.keys()];
  /** Those with repeated texts, which may be wide. */
  const long = some(numbers.slice(texts.length), 3);
  for (const number of some(numbers, 40)) {
    await open(query('file', { path: content(number, 'md') }));
  }

  // All others: those in a frame, and those that are refused with a short message.
  const others = (number, text) => [
    query('file', { path: content(number, 'md') }),
    query('file', { path: content(number, 'txt') }),
    query('file', { path: named(number) }),
    query('search', { q: text, path: `/memories/n${group(number)}` }),
    query('search', { q: text, path: `/memories/n${group(number)}`, regex: '1' }),
    query('search', { q: text, path: `/memories/n${group(number)}`, exact: '1' }),
    query('best', { q: text }),
    query('file', { path: content(number, 'txt'), view: 'source', q: text, lines: '1-1' }),
    query('history', { actor: text }),
    query('history', { since: text, before: text, zone: text }),
    query('undo', { since: text, actor: text }),
    query('compare', { id: text, other: text, path: named(number) }),
    query('file', { path: content(number, 'txt'), q: text, case: '1' }),
    query('search', { q: text, past: '1', path: `/memories/c${Math.floor(number / 20)}` }),
    query('version', { id: text, diff: text }),
    query('file', { path: text, view: text, from: text, done: text, id: text }),
    query('new', { path: named(number) }),
    query('delete', { path: named(number) }),
    query('rename', { path: named(number) }),
    query('edit', { path: content(number, 'txt') }),
    query('conflict', { path: copy(number) }),
    query('conflict', { path: copy(number), view: 'edit' }),
    query('file', { path: copy(number) }),
  ];
  const isShort = (address) => address.length < 8_000;
  const all = ATTACKS.flatMap((text, number) => some(others(number, text), 13, number)).filter(
    isShort,
  );
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
  // A part of a page has no frame.
  const pages = all.filter((address) => !address.startsWith('/1/best?'));
  for (const address of some(pages, 31)) {
    await open(address);
  }

  // In a narrow window, no element is wider than the window.
  await page.setViewportSize({ width: 360, height: 640 });
  const contents = [...some(numbers, 40, 20), ...long].map((number) =>
    query('file', { path: content(number, 'md') }),
  );
  for (const address of [...lists, ...contents]) {
    await page.goto(server.origin + address, { waitUntil: 'domcontentloaded' });
    const isWider = () => document.documentElement.scrollWidth > innerWidth;
    if (await page.evaluate(isWider)) findings.push(`wider than the window: ${address}`);
  }
  refusals.splice(0);
});

testPage('an attack that came through would be seen', [temporary()], async (view) => {
  await view.page.evaluate(() => {
    const html =
      '<img src="http://127.0.0.1:1/" onerror="alert(1)"><a href="javascript:alert(1)">x</a>';
    document.body.insertAdjacentHTML(
      'beforeend',
      `${html}<iframe></iframe><meta http-equiv="refresh">`,
    );
    alert('x');
  });
  const seen = ['alert(x)', 'img-src', 'onerror=', 'an address: javascript:', '<iframe', '<meta'];
  for (const what of seen) {
    for (let tries = 0; tries < 1200 && !view.findings.join().includes(what); tries += 1) {
      await view.page.waitForTimeout(50);
    }
    assert.ok(
      view.findings.join('\n').includes(what),
      `${what} is not in ${view.findings.join('\n')}`,
    );
  }
  view.findings.splice(0);
});
