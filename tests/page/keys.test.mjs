// The page without a mouse: every key of its list, the order of the tab key, and a visible focus that stays when an agent
// changes something.

import assert from 'node:assert/strict';

import { agent, temporary, testPage } from './support.mjs';

async function filled(store) {
  const memory = agent(store);
  for (const name of ['a.md', 'b.md', 'deep/c.md']) {
    await memory.create({ path: `/memories/${name}`, file_text: `# ${name}\n` });
  }
  await memory.write('/memories/b.md', '# changed\n');
  return memory;
}

/** A description of the focused element. */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    const part = element.closest('#tree, #main, header.top')?.id ?? '';
    return `${part} ${element.id || element.getAttribute('aria-label') || element.innerText}`.trim();
  });

const listed = temporary();
testPage('every key of the list does what it says', [listed], async (view) => {
  const { page } = view;
  await filled(listed);
  await view.go('');
  const press = (key) => page.keyboard.press(key);

  await press('?');
  await page.locator('#key-list[open]').waitFor();
  const keys = await page.locator('#key-list dt').allInnerTexts();
  assert.deepEqual(keys, [
    '/',
    'j  k',
    'Enter',
    'o',
    't',
    'h',
    'e',
    'n',
    '1  2  e',
    'g',
    'Ctrl+S',
    '?',
  ]);
  await view.accessible();
  await press('g');
  assert.ok(await page.locator('#key-list').isVisible(), 'keys do nothing beneath the list');
  await press('Escape');
  await page.locator('#key-list').waitFor({ state: 'hidden' });

  await press('/');
  assert.equal(await focused(page), 'query');
  await page.keyboard.type('ghn');
  assert.equal(await page.locator('#query').inputValue(), 'ghn');
  await press('Escape');

  await press('j');
  const first = await focused(page);
  await press('j');
  assert.notEqual(await focused(page), first);
  await press('k');
  assert.equal(await focused(page), first);
  await press('o');
  await page.locator('#main [data-item] .diff').first().waitFor();
  await press('o');
  await page.locator('#main [data-item] .diff').first().waitFor({ state: 'hidden' });
  await press('Enter');
  await page.waitForURL(/\/file\?path=\/memories\/b\.md/);

  await press('e');
  await page.waitForURL(/\/edit\?/);
  await page.locator('#text').waitFor();
  assert.equal(await focused(page), 'main text');
  await page.locator('#text').fill('# by keys\n');
  await press('Control+s');
  await view.shows('Saved.');
  assert.equal(await agent(listed).read('/memories/b.md'), '# by keys\n');
  await press('h');
  await page.waitForURL(/\/history\?path=\/memories\/b\.md/);
  await press('n');
  await page.waitForURL(/\/new\?/);
  await page.locator('#main h1').click();
  await press('g');
  await page.waitForURL(/\/1\/$/);

  await press('t');
  assert.equal(await focused(page), 'tree /memories');
  await press('ArrowDown');
  assert.equal(await focused(page), 'tree deep');
  await press('ArrowRight');
  await page.locator('#tree').getByRole('link', { name: 'c.md' }).waitFor();
  await press('ArrowDown');
  assert.equal(await focused(page), 'tree c.md');
  await press('ArrowLeft');
  assert.equal(await focused(page), 'tree deep');
  await press('ArrowLeft');
  await page.locator('#tree').getByRole('link', { name: 'c.md' }).waitFor({ state: 'hidden' });
  await press('ArrowDown');
  assert.equal(await focused(page), 'tree a.md');
  await press('ArrowUp');
  assert.equal(await focused(page), 'tree deep');
});

const tabbed = temporary();
testPage(
  'the tab key goes through the page in its order, and is always seen',
  [tabbed],
  async (view) => {
    const { page } = view;
    await filled(tabbed);
    await view.go('file', { path: '/memories/a.md' });
    const order = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const { activeElement: element } = document;
        if (element === document.body) return null;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const { width, height, right, bottom } = element.getBoundingClientRect();
        const part = element.closest('#tree, #main, header.top, .skip');
        return {
          part: part?.id || part?.className,
          name: element.innerText || element.id,
          isSeen:
            outlineStyle !== 'none' &&
            parseFloat(outlineWidth) >= 2 &&
            width > 0 &&
            height > 0 &&
            right > 0 &&
            bottom > 0,
        };
      });
      if (!at) break;
      assert.ok(at.isSeen, `the focus on ${at.name} is not seen`);
      order.push(at);
    }
    const parts = order.map(({ part }) => part).filter((part, at, all) => part !== all[at - 1]);
    assert.deepEqual(parts, ['skip', 'top', 'tree', 'main']);
    const names = order.filter(({ part }) => part === 'main').map(({ name }) => name);
    assert.deepEqual(names, [
      'memories',
      'Timeline',
      'Download',
      'Edit',
      'Rename',
      'Delete',
      'Rendered',
      'Source',
      'Blame',
    ]);

    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'main memories');
  },
);

const followed = temporary();
testPage(
  'what has the focus, and what is typed, stays when the page follows a change',
  [followed],
  async (view) => {
    const { page } = view;
    const memory = await filled(followed);
    let count = 0;
    const change = async () => {
      const name = `new-${(count += 1)}.md`;
      await memory.create({ path: `/memories/${name}`, file_text: '' });
      await page.locator('#tree').getByRole('link', { name }).waitFor();
      await page.locator('#main', { hasText: name }).waitFor();
    };
    await view.go('history');
    await view.live();
    const tree = page.locator('#tree');
    await tree.getByRole('button', { name: 'Open or close deep' }).click();
    for (const link of ['c.md', 'b.md']) {
      await tree.getByRole('link', { name: link }).focus();
      await change();
      assert.equal(await focused(page), `tree ${link}`);
      await tree.getByRole('link', { name: 'c.md' }).waitFor();
    }
    const item = page.locator('#main .version', { hasText: 'overwritten' }).last();
    await item.locator('summary').click();
    await item.locator('.diff').waitFor();
    await change();
    await item.locator('.diff').waitFor();
    assert.equal(await focused(page), 'main What changed: the overwriting of b.md by session 1');
    assert.ok(
      await item.locator('summary').evaluate((summary) => summary === document.activeElement),
    );

    const since = page.getByLabel('Since', { exact: true });
    await since.pressSequentially('yester');
    await change();
    assert.equal(await since.inputValue(), 'yester');
    await page.keyboard.type('day');
    assert.equal(await since.inputValue(), 'yesterday');

    // An open list stays open; changes meanwhile are shown after it is left.
    const who = page.getByLabel('Who');
    await who.focus();
    const list = await who.elementHandle();
    await agent(followed, 'session 2').create({ path: '/memories/else.md', file_text: '' });
    await tree.getByRole('link', { name: 'else.md' }).waitFor();
    assert.ok(await list.evaluate((element) => element === document.activeElement));
    await page.keyboard.press('ArrowDown');
    assert.equal(await who.inputValue(), 'session 1');
    await since.focus();
    await page.locator('#main', { hasText: 'else.md' }).waitFor();
    assert.equal(await who.inputValue(), 'session 1');
    await who.selectOption('session 2');
    assert.equal(await since.inputValue(), 'yesterday');

    // Existing elements are not built again while a person selects a part of them.
    await view.go('file', { path: '/memories/a.md' });
    await view.live();
    await page.evaluate(() =>
      getSelection().selectAllChildren(document.querySelector('.rendered h1')),
    );
    await memory.create({ path: '/memories/last.md', file_text: '' });
    await tree.getByRole('link', { name: 'last.md' }).waitFor();
    assert.equal(await page.evaluate(() => getSelection().toString()), 'a.md');
  },
);

const left = temporary();
testPage('a text that was typed is not left without a question', [left], async (view) => {
  const { page } = view;
  await filled(left);
  await view.go('edit', { path: '/memories/a.md' });
  await page.locator('#text').fill('mine');
  await page.locator('#query').fill('b');
  const asked = page.waitForEvent('dialog');
  await page.locator('#query').press('Enter', { noWaitAfter: true });
  await asked;
  while (view.findings.length === 0) await page.waitForTimeout(20);
  await page.locator('#text').waitFor();
  assert.match(page.url(), /\/edit/);
  assert.deepEqual(view.findings.splice(0), ['dialog: beforeunload ']);
  assert.equal(await page.locator('#text').inputValue(), 'mine');
});

const narrow = temporary();
testPage(
  'keys work while capitals are locked, and a narrow window has no tree if nobody wants it',
  [narrow],
  async (view) => {
    const { page } = view;
    await filled(narrow);
    await page.setViewportSize({ width: 390, height: 800 });
    await view.go('file', { path: '/memories/a.md' });
    const files = page.getByRole('button', { name: 'Files' });
    await files.click();
    assert.equal(await page.locator('#tree').isVisible(), false);
    assert.equal(await files.getAttribute('aria-expanded'), 'false');
    await view.accessible();
    await page.reload();
    assert.equal(await page.locator('#tree').isVisible(), false);
    await page.keyboard.press('t');
    assert.ok(await page.locator('#tree').isVisible());
    await page.locator('#main').focus();
    await page.evaluate(() =>
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'E', bubbles: true }),
      ),
    );
    await page.waitForURL(/\/edit\?/);
    await page.locator('#text').fill('a\u200b\nb\u00a0\n');
    await view.shows('⟨U+200B⟩ in line 1, ⟨U+00A0⟩ in line 2');
    await view.accessible();
    await page.locator('#text').fill('# a.md\n');
    assert.equal(await page.locator('#hidden-characters').isVisible(), false);
  },
);
