// Everything but what follows changes works without a script.

import assert from 'node:assert/strict';

import { agent, temporary, testPage } from './support.mjs';

const plain = temporary();
testPage(
  'without a script a person looks, edits and takes back',
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
    await view.follow('Show it');
    await view.shows('What it changed');
    await view.follow('Side by side');
    await page.locator('.diff .side').first().waitFor();
    await view.follow('Undo this change');
    await view.press('Take back');
    await view.shows('Taken back.');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\ntwo\n');

    await view.follow('Delete');
    await view.press('Delete');
    await view.shows('Deleted.');
    assert.equal(await memory.exists('/memories/team/plan.md'), false);
    await view.go('');
    await page.locator('#deleted').getByRole('link', { name: 'Restore' }).click();
    await view.press('Restore');
    await view.shows('Restored.');
    assert.equal(await memory.read('/memories/team/plan.md'), 'one\ntwo\n');
    await page.locator('#query').fill('two');
    await page.locator('#query').press('Enter');
    await view.shows('plan.md');
  },
  { context: { javaScriptEnabled: false } },
);
