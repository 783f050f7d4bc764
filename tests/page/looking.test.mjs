// Views for a person: searches, sensitive text, images, several memories and mounted ones; and read-only views change nothing.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { agent, serve, temporary, testPage } from './support.mjs';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNgQAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC';

/** A directory with files from another program. */
function written(files) {
  const store = temporary();
  mkdirSync(join(store, 'memories'));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(store, 'memories', name), content);
  }
  return store;
}

const searched = temporary();
testPage('names, contents and past versions are searched', [searched], async (view) => {
  const { page } = view;
  const memory = agent(searched);
  await memory.create({ path: '/memories/teapot.md', file_text: 'one\nA Kettle boils\n' });
  await memory.create({ path: '/memories/old.md', file_text: 'line\nthe samovar is here\n' });
  await memory.write('/memories/old.md', 'moved\n');
  await view.go('');
  await page.locator('#query').fill('kettle');
  await page.locator('#query').press('Enter');
  await view.shows('A Kettle boils');
  const marks = async () => (await page.locator('#main mark').allInnerTexts()).join();
  assert.equal(await marks(), 'Kettle');
  await view.accessible();
  await page.locator('#main').getByRole('link', { name: 'A Kettle boils' }).click();
  await page.waitForURL(/view=source&from=1&q=kettle&lines=\d-2#L2$/);
  await page.locator('#L2', { hasText: 'A Kettle boils' }).waitFor();
  assert.equal(await marks(), 'Kettle');
  assert.equal(await page.locator('#L2').evaluate((line) => line.matches(':target')), true);
  await view.accessible();

  await view.go('search', { q: 'teapot' });
  await page.locator('#main').getByRole('link', { name: 'teapot.md' }).waitFor();
  await view.go('search', { q: 'samovar' });
  await view.shows('Nothing was found.');
  await page.getByLabel('Include past versions').check();
  await view.press('Search');
  await view.shows('Only in the history');
  await view.accessible();
  await page.locator('#main').getByRole('link', { name: 'the samovar is here' }).click();
  await page.waitForURL(/\/version\?id=.*#L2$/);
  await page.locator('#L2 mark', { hasText: 'samovar' }).waitFor();
  await view.accessible();

  await view.go('search', { q: 'k.t+le', regex: '1' });
  await view.shows('A Kettle boils');
  await view.go('search', { q: 'kettle', case: '1' });
  await view.shows('Nothing was found.');
});

// In two parts, so repository scanners do not report it.
const KEY = [
  'sk-ant',
  '-api03-TaHL_E9yTYL_9S4xDQNMAAL5QaDtpc6RzGKXi5Asa6smYgOw9RTEzi1JGLEXa0sO40x9ehcZGvQfZnHg5wplQ70MxrbgPAA',
];
const secret = written({
  'keys.md': `ok\n\nkey: ${KEY.join('')}\n`,
  'clean.md': 'nothing',
});
testPage('sensitive text is found, and marked in the source', [secret], async (view) => {
  const { page } = view;
  await view.go('sensitive');
  const row = page.locator('#main tbody tr').first();
  await row.locator('.rule').waitFor();
  assert.ok(!(await page.locator('#main').innerText()).includes(KEY[1]));
  assert.ok(!(await page.locator('#main').innerText()).includes('clean.md'));
  await view.accessible();
  await row.getByRole('link').click();
  await page.locator('.line.marked .rule').first().waitFor();
  await view.accessible();
});

const drawn = written({ 'dot.png': Buffer.from(PNG, 'base64'), 'see.md': '![a dot](dot.png)\n' });
testPage('pictures are shown, alone and in Markdown', [drawn], async (view) => {
  for (const path of ['/memories/dot.png', '/memories/see.md']) {
    await view.go('file', { path });
    const picture = view.page.locator('#main img');
    await picture.waitFor();
    await view.page.waitForFunction(() => document.querySelector('#main img').naturalWidth === 3);
    await view.accessible();
  }
});

const [one, two] = [written({ 'first.md': '1' }), written({ 'second.md': '2' })];
testPage('several memories are beside each other', [one, two], async (view) => {
  const { page } = view;
  await page.locator('#tree').getByRole('link', { name: 'first.md' }).waitFor();
  await view.accessible();
  await page.locator('.memories').getByRole('link', { name: two }).click();
  await page.waitForURL(/\/2\/$/);
  await page.locator('#tree').getByRole('link', { name: 'second.md' }).waitFor();
  assert.equal(await page.locator('#tree').getByText('first.md').count(), 0);
  await view.live();
  writeFileSync(join(two, 'memories', 'new.md'), '');
  await page.locator('#tree').getByRole('link', { name: 'new.md' }).waitFor();
});

const [root, mounted] = [written({ 'own.md': 'own' }), written({ 'rules.md': '# Rules' })];
testPage(
  'a memory that is mounted is a directory of the other',
  [root, '--mount', `/memories/team=${join(mounted, 'memories')}`],
  async (view) => {
    const { page } = view;
    await page.locator('#tree').getByRole('button', { name: 'Open or close team' }).click();
    await page.locator('#tree').getByRole('link', { name: 'rules.md' }).click();
    await page.getByRole('heading', { name: 'Rules' }).waitFor();
    await view.live();
    writeFileSync(join(mounted, 'memories', 'more.md'), '');
    await page.locator('#tree').getByRole('link', { name: 'more.md' }).waitFor();
  },
);

const crowded = temporary();
const LONG = 'an-actor-with-a-name-that-is-longer-than-a-narrow-window-is-wide-and-has-no-space';
testPage('forms fit a narrow window and one that is magnified', [crowded], async (view) => {
  const { page } = view;
  const memory = agent(crowded, LONG);
  const path = `/memories/${'directory-of-some-length/'.repeat(4)}notes.md`;
  await memory.create({ path, file_text: 'one\n' });
  await memory.write(path, 'two\n');
  const places = [
    ['history', { path }],
    ['history', { path, actor: LONG, since: 'yesterday 9:00' }],
    ['history', { since: 'tomorrow' }],
    ['undo', { actor: LONG, since: '2h' }],
    ['undo', { actor: LONG, since: 'tomorrow' }],
    ['search', { q: 'o', past: '1' }],
    ['file', { path, view: 'source', q: 't' }],
  ];
  // A phone, and a window of 1,280 pixels at 200 %.
  for (const [width, height] of [
    [390, 844],
    [640, 400],
  ]) {
    await page.setViewportSize({ width, height });
    const fits = async () => {
      const wide = await page.evaluate(() => {
        const inner = [
          ...document.querySelectorAll('#main :is(a, button, input, select, label, p)'),
        ];
        const beyond = inner.filter((element) => {
          const { left, right, width } = element.getBoundingClientRect();
          return element.type !== 'hidden' && width > 0 && (left < 0 || right > innerWidth);
        });
        return [
          document.documentElement.scrollWidth - innerWidth,
          ...beyond.map((each) => each.outerHTML),
        ];
      });
      assert.deepEqual(wide, [0], page.url());
      await view.accessible();
    };
    for (const [place, parameters] of places) {
      await view.go(place, parameters);
      await fits();
    }
    await view.go('history', { path });
    await view.press('Compare');
    await page.waitForURL(/compare/);
    await fits();
    await view.follow('Timeline');
    await page.getByRole('radio').last().focus();
    await page.keyboard.press('g');
    await page.waitForURL(/\/1\/$/);
  }
});

const WORDS = /edit|rename|delete|restore|redact|undo|new|save|create/i;
const shown = temporary();
testPage(
  'a memory that is only shown has no way to be changed',
  async () => {
    const memory = agent(shown);
    await memory.create({ path: '/memories/a.md', file_text: 'one' });
    await memory.write('/memories/a.md', 'two');
    await memory.create({ path: '/memories/gone.md', file_text: '' });
    await memory.delete({ path: '/memories/gone.md' });
    return [shown, '--read-only'];
  },
  async (view) => {
    const { page } = view;
    const memory = agent(shown);
    const before = (await memory.history()).map(({ id }) => id);
    const ids = before.map((id) => `version?id=${id}`);
    const places = [
      '',
      'file',
      'file?path=/memories/a.md',
      'history',
      'search?q=o',
      'sensitive',
      ...ids,
    ];
    for (const place of places) {
      await page.goto(`${view.server.origin}/1/${place}`);
      assert.equal(await page.locator('form[method="post"]').count(), 0, place);
      const ways = page.locator('#main :is(a.button, button, .quiet, .links a), #tree .new');
      for (const way of await ways.allInnerTexts()) assert.doesNotMatch(way, WORDS, place);
    }
    await view.accessible();
    await view.go('');
    await view.shows('gone.md');
    await page.locator('.memory', { hasText: 'read-only' }).waitFor();

    // With handmade requests, as this browser and with its cookie; and with a token that a page of the same program has
    // for another memory.
    const forms = {
      edit: { path: '/memories/a.md', text: 'x', base: '' },
      new: { to: '/memories/x.md', text: 'x' },
      rename: { path: '/memories/a.md', to: '/memories/x.md' },
      delete: { path: '/memories/a.md' },
      restore: { id: before.at(-1), overwrite: '1' },
      undo: { id: before[0] },
      redact: { id: before.at(-1), reason: 'x' },
    };
    const post = ([address, fields]) =>
      fetch(address, { method: 'POST', body: new URLSearchParams(fields) }).then(
        ({ status }) => status,
      );
    for (const [place, fields] of Object.entries(forms)) {
      assert.equal(await page.evaluate(post, [`/1/${place}`, fields]), 403, place);
      const asked = new URLSearchParams(fields).toString();
      assert.equal(
        (await page.goto(`${view.server.origin}/1/${place}?${asked}`)).status(),
        403,
        place,
      );
      await view.go('');
    }
    assert.deepEqual(
      (await memory.history()).map(({ id }) => id),
      before,
    );
    assert.equal(await memory.read('/memories/a.md'), 'two');
  },
  {
    refused: ['edit', 'new', 'rename', 'delete', 'restore', 'undo', 'redact'].flatMap((place) =>
      Array(2).fill(`403 /1/${place}`),
    ),
  },
);

const [open, closed] = [temporary(), temporary()];
testPage(
  'the token of a memory that may be changed changes none that is only shown',
  [open],
  async (view) => {
    const { page } = view;
    await agent(closed).create({ path: '/memories/a.md', file_text: 'one' });
    // Another program, whose cookie this browser gets as well.
    const other = await serve([closed, '--read-only']);
    await view.go('new');
    const token = await page.locator('[name="token"]').inputValue();
    try {
      const opened = await fetch(other.address);
      const cookie = opened.headers.get('set-cookie').split(';')[0];
      const response = await fetch(`${other.origin}/1/delete`, {
        method: 'POST',
        headers: { cookie, origin: other.origin },
        body: new URLSearchParams({ token, path: '/memories/a.md' }),
      });
      assert.equal(response.status, 403);
    } finally {
      await other.end();
    }
    assert.ok(await agent(closed).exists('/memories/a.md'));
  },
);
