// Everything except following changes works without a script.

import assert from 'node:assert/strict';

import { agent, temporary, testPage } from './support.mjs';

const plain = temporary();
testPage(
  'without a script a person looks, edits and undoes',
  [plain, '--as', 'Ann'],
  async (view) => {
    const { page } = view;
    const memory = agent(plain);
    await memory.create({ path: '/memories/team/plan.md', file_text: 'one\ntwo\n' });
    await view.go('');
    await page.locator('#tree').getByRole('link', { name: 'team' }).click();
    await page.locator('#tree').getByRole('link', { name: 'plan.md' }).click();
    await view.follow('Source');
    await view.follow('Edit');
    await page.locator('#text').fill('one\nthree\n');
    await view.press('Save');
    await view.shows('Saved.');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\nthree\n');

    await view.follow('Timeline');
    await page.locator('details summary').first().click();
    await view.follow('Show it: the edit of team/plan.md by Ann');
    await view.shows('What it changed');
    await view.follow('Side by side');
    await page.locator('.diff .side').first().waitFor();
    await view.follow('Undo this change');
    await view.press('Undo');
    await view.shows('Undone.');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\ntwo\n');

    await view.follow('Delete');
    await view.press('Delete');
    await view.shows('Deleted.');
    assert.equal(await memory.exists('/memories/team/plan.md'), false);
    await view.go('');
    await page
      .locator('#deleted')
      .getByRole('link', { name: /^Restore team\/plan.md/ })
      .click();
    await view.press('Restore');
    await view.shows('Restored.');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\ntwo\n');
    await page.locator('#query').fill('two');
    await page.locator('#query').press('Enter');
    await view.shows('plan.md');
    await page.locator('#main mark', { hasText: 'two' }).click();
    await page.locator('#L2 mark', { hasText: 'two' }).waitFor();

    // Comparing two versions and undoing changes also work without a script.
    await view.follow('Timeline');
    await page.getByRole('radio', { name: /^from the version after the creation/ }).check();
    await page.getByRole('radio', { name: /^to the version after the edit/ }).check();
    await view.press('Compare');
    await page.locator('.diff .added', { hasText: 'three' }).waitFor();
    await view.go('history');
    await page.getByLabel('Who').selectOption('Ann');
    await view.press('Undo everything since then…');
    await view.shows('Enter a time.');
    await view.shows('Its zone is UTC.');
    await page.getByLabel('Since', { exact: true }).fill('1h');
    await view.press('Preview');
    await view.shows('Everything that Ann changed since');
    await view.press('Last 7 days');
    await view.shows('Nothing to undo');
    assert.equal(await page.getByLabel('Who').inputValue(), 'Ann');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\ntwo\n');
  },
  { context: { javaScriptEnabled: false } },
);
