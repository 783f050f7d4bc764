// Conflicts of a sync: both contents side by side, and a key for each way out.

import assert from 'node:assert/strict';

import { Memory, agent, temporary, testPage } from './support.mjs';

const FILE = '/memories/tea.md';

/** Two memories whose sync has left a conflict. */
async function conflicted(store, memory = agent(store)) {
  const other = new Memory('memory:');
  await memory.write(FILE, '# Tea\n\ngreen\n');
  await other.write(FILE, '# Tea\n\nblack\n');
  const { conflicts } = await memory.sync(other, { names: ['desktop', 'laptop'] });
  assert.equal(conflicts.length, 1);
  return { memory, other };
}

/** From the overview to the page of the conflict, with the keyboard. */
async function open(view) {
  const { page } = view;
  await view.go('');
  await view.follow('1 conflict');
  await view.shows('Two memories changed the same lines');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await view.shows('The file has the content at the left');
  return page;
}

const files = async (memory) => (await memory.list('/memories')).map(({ path }) => path);

for (const [key, left] of [
  ['1', 'green'],
  ['2', 'black'],
]) {
  const store = temporary();
  testPage(`the key ${key} keeps ${left}, and it can be undone`, [store], async (view) => {
    const { memory, other } = await conflicted(store);
    const before = await files(memory);
    assert.equal(before.length, 2);
    const page = await open(view);
    await page.locator('#main .diff td.removed', { hasText: 'green' }).waitFor();
    await page.locator('#main .diff td.added', { hasText: 'black' }).waitFor();
    await view.accessible();
    await page.keyboard.press(key);
    await view.shows('Resolved.');
    await view.shows('There are no conflicts.');
    await view.accessible();
    assert.equal(await memory.read(FILE), `# Tea\n\n${left}\n`);
    assert.deepEqual(await files(memory), [FILE]);
    await memory.sync(other);
    assert.equal(await other.read(FILE), `# Tea\n\n${left}\n`);

    await page.locator('#main .banner a').click();
    await view.press('Undo');
    await view.shows('Undone.');
    assert.deepEqual(await files(memory), before);
  });
}

const merged = temporary();
testPage('the key e opens both texts in an editor', [merged], async (view) => {
  const { memory } = await conflicted(merged);
  const page = await open(view);
  await page.keyboard.press('e');
  await page.locator('#text').waitFor();
  assert.match(
    await page.locator('#text').inputValue(),
    /<<<<<<<[^]*green[^]*=======[^]*black[^]*>>>>>>>/,
  );
  await view.accessible();
  await page.keyboard.press('Control+s');
  await view.shows('the text still has conflict marks');
  await page.locator('#text').fill('# Tea\n\ngreen and black\n');
  // An agent changes the copy at the same time: the text stays.
  const [copy] = (await files(memory)).filter((path) => path !== FILE);
  await memory.write(copy, '# Tea\n\nwhite\n');
  await page.keyboard.press('Control+s');
  await view.shows('Nothing was changed');
  await view.shows('white');
  assert.equal(await page.locator('#text').inputValue(), '# Tea\n\ngreen and black\n');
  await page.keyboard.press('Control+s');
  await view.shows('Resolved.');
  assert.equal(await memory.read(FILE), '# Tea\n\ngreen and black\n');
  assert.deepEqual(await files(memory), [FILE]);
});

const plain = temporary();
testPage('without a history, a key asks for Enter', [plain], async (view) => {
  const { memory } = await conflicted(plain, new Memory(plain));
  const page = await open(view);
  await view.shows('you cannot undo this');
  await view.accessible();
  await page.keyboard.press('2');
  const chosen = () => page.evaluate(() => document.activeElement.value);
  assert.equal(await chosen(), 'copy');
  assert.equal(await memory.read(FILE), '# Tea\n\ngreen\n');
  await page.keyboard.press('Enter');
  await view.shows('There are no conflicts.');
  assert.equal(await memory.read(FILE), '# Tea\n\nblack\n');
});

const known = temporary();
testPage('partners are shown with when they agreed, and stay current', [known], async (view) => {
  const memory = agent(known);
  await view.go('sync');
  await view.live();
  await view.shows('This memory has no partners');
  await view.accessible();
  await memory.write(FILE, 'green\n');
  await memory.sync(new Memory('memory:'), { names: ['desktop', 'laptop'] });
  await view.go('sync');
  const row = view.page.locator('#partners tbody tr');
  assert.match(await row.innerText(), /^laptop\s+just now\s+1\s+0$/);
  await view.accessible();
});
