// The search below the field of every page: its results while a person types, with and without a mouse.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporary, testPage } from './support.mjs';

/** A directory with notes. */
function notes(files = {}) {
  const store = temporary();
  mkdirSync(join(store, 'memories'));
  const all = {
    'people.md': '# People\n\n- Ben takes the train\n\n## Anna\n\n- Anna prefers green tea\n',
    'tea.md': 'Tea is kept in the kitchen.\n',
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    writeFileSync(join(store, 'memories', name), content);
  }
  return store;
}

const best = (page) => page.locator('#best');
const said = (page) => page.locator('#best').getByRole('status');
const paths = (page) => page.locator('#best li .path').allInnerTexts();

/** Types a text, and waits for this sentence about its results. */
async function type({ page }, text, sentence) {
  await page.locator('#query').fill(text);
  await said(page).filter({ hasText: sentence }).waitFor();
}

testPage('the best files are shown while a person types', [notes()], async (view) => {
  const { page } = view;
  await view.go('history');
  await page.keyboard.press('/');
  await page.keyboard.type('Which tea does Anna prefer?');
  await said(page).filter({ hasText: '2 files were found, the best first.' }).waitFor();
  assert.deepEqual(await paths(page), ['people.md', 'tea.md']);
  const first = best(page).getByRole('listitem').first();
  assert.match(await first.innerText(), /lines 1 to 7/);
  const marks = await first.locator('mark').allInnerTexts();
  assert.ok(marks.includes('prefers') && marks.includes('tea'), marks.join());
  await view.accessible();
  await first.getByRole('link').click();
  await page.waitForURL(/view=source.*&lines=1-7#L5$/);
  assert.equal(await page.locator('.line.passage').count(), 7);
  await page.locator('#L7 mark', { hasText: 'prefers' }).waitFor();
  await view.accessible();

  // The field keeps the question. Without a mouse, the page of the search has all results.
  assert.equal(await page.locator('#query').inputValue(), 'Which tea does Anna prefer?');
  await page.locator('#query').press('Enter');
  await view.shows('2 files were found, the best first.');
  await view.accessible();
  await view.follow('Look for the exact text');
  await view.shows('Nothing was found.');
});

testPage('the results are reached and left by keys', [notes()], async (view) => {
  const { page } = view;
  const focused = () =>
    page.evaluate(() => document.activeElement.id || document.activeElement.innerText);
  await page.keyboard.press('/');
  await type(view, 'tea', '2 files');
  await page.keyboard.press('ArrowDown');
  assert.match(await focused(), /^tea\.md/);
  await page.keyboard.press('ArrowDown');
  assert.match(await focused(), /^people\.md/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'All results');
  for (let key = 0; key < 3; key += 1) await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), 'query');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  assert.equal(await focused(), 'query');
  assert.equal(await best(page).getByRole('link').count(), 0);
  // An arrow brings the results back, and Escape leaves with the text in the field.
  await page.keyboard.press('ArrowDown');
  await said(page).filter({ hasText: '2 files' }).waitFor();
  await page.keyboard.press('Escape');
  assert.notEqual(await focused(), 'query');
  assert.equal(await page.locator('#query').inputValue(), 'tea');
  assert.equal(await said(page).innerText(), '');
  // So does a click elsewhere.
  await type(view, 'train', '1 file was found.');
  await page.mouse.click(100, 780);
  assert.equal(await best(page).getByRole('link').count(), 0);
  // A key opens the best file at its lines.
  await page.keyboard.press('/');
  await type(view, 'train', '1 file was found.');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/people\.md.*#L\d+$/);
  // In an editor it is a character like others.
  await view.go('edit', { path: '/memories/tea.md' });
  await page.locator('#text').press('/');
  assert.match(await page.locator('#text').inputValue(), /\//);
});

const HOSTILE = '<img src=x onerror=alert(1)> <script>alert(2)</script> poison \u202e';
testPage(
  'a hostile text in a result is only read',
  [notes({ '<b>x&y.md': `${HOSTILE}\n` })],
  async (view) => {
    const { page } = view;
    await type(view, 'poison', '1 file was found.');
    const result = best(page).getByRole('listitem');
    const text = await result.innerText();
    assert.ok(text.includes('<b>x&y.md') && text.includes('onerror=alert(1)'), text);
    assert.ok(text.includes('⟨U+202E⟩'), text);
    assert.equal(await result.locator('img, script, b').count(), 0);
    await type(view, `poison "${HOSTILE}`, 'found');
    await page.locator('#query').press('Enter');
    await page.waitForURL(/search\?q=/);
    await view.shows('Look for the exact text');
  },
);

testPage('nothing found, and an empty field', [notes()], async (view) => {
  const { page } = view;
  await type(view, 'samovar', 'Nothing was found.');
  assert.deepEqual(await best(page).getByRole('link').allInnerTexts(), ['Look for the exact text']);
  await view.accessible();
  await type(view, '!?', 'Nothing was found.');
  await page.locator('#query').fill('');
  await said(page).filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  assert.equal(await best(page).getByRole('link').count(), 0);
});

testPage(
  'files that do not fit into the index are counted',
  [notes({ 'large.md': 'word '.repeat(40_000) }), '--search-max-bytes', '50000'],
  async (view) => {
    await type(view, 'green', '1 file was not searched');
    assert.deepEqual(await paths(view.page), ['people.md']);
  },
);

const changing = notes();
testPage('the results follow the files', [changing], async (view) => {
  const { page } = view;
  await view.live();
  await type(view, 'harbour', 'Nothing was found.');
  writeFileSync(join(changing, 'memories', 'boats.md'), 'The harbour is in Boston.\n');
  await said(page).filter({ hasText: '1 file was found.' }).waitFor();
  await page.keyboard.press('ArrowDown');
  writeFileSync(join(changing, 'memories', 'more.md'), 'Another harbour is far away.\n');
  await said(page).filter({ hasText: '2 files' }).waitFor();
  // The focus stays with its file.
  assert.match(await page.evaluate(() => document.activeElement.innerText), /^boats\.md/);
});

testPage(
  'the answer to the last text is shown, with one request at a time',
  [notes()],
  async (view) => {
    const { page } = view;
    let [running, most, total] = [0, 0, 0];
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route('**/best?*', async (route) => {
      running += 1;
      total += 1;
      most = Math.max(most, running);
      if (total === 1) await held;
      const response = await route.fetch();
      running -= 1;
      await route.fulfill({ response });
    });
    await page.locator('#query').fill('kitchen');
    await said(page).filter({ hasText: 'Searching…' }).waitFor();
    for (const text of ['tr', 'tra', 'train']) {
      await page.locator('#query').fill(text);
      await page.waitForTimeout(200);
    }
    release();
    await said(page).filter({ hasText: '1 file was found.' }).waitFor();
    assert.deepEqual(await paths(page), ['people.md']);
    assert.deepEqual([most, total], [1, 2]);
  },
);

testPage(
  'a search that fails says so',
  [notes()],
  async (view) => {
    const { page } = view;
    const answer = { status: 503, contentType: 'text/html' };
    const body = '<main id="main"><h1>Failed</h1><p>The store &lt;is&gt; away.</p></main>';
    await page.route('**/best?*', (route) => route.fulfill({ ...answer, body }));
    await type(view, 'tea', 'The search failed: The store <is> away.');
    await view.accessible();
    await page.unroute('**/best?*');
    await type(view, 'teas', '2 files');
  },
  { refused: ['503 /1/best'] },
);
