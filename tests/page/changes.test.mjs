// A person changes files on the page, while an agent changes the same files: nothing is lost, and everything can be undone.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { agent, cli, temporary, testPage } from './support.mjs';

const FILE = '/memories/plan.md';

/** A memory with one file, which is open in the page's editor with unsaved text. */
async function editing(view, memory, text = 'mine\n') {
  await view.live();
  await memory.create({ path: FILE, file_text: 'first\n' });
  // The page has received the event: later events are about later changes.
  await view.page.locator('#tree').getByRole('link', { name: 'plan.md' }).waitFor();
  await view.go('file', { path: FILE });
  await view.live();
  await view.follow('Edit');
  await view.live();
  await view.page.locator('#text').fill(text);
  return view.page.locator('#stale');
}

/** A time after the earlier changes and before the later ones: a Date has whole milliseconds. */
async function between() {
  await pause(2);
  const time = new Date().toISOString();
  await pause(2);
  return time;
}

function testEditing(name, body, options) {
  const store = temporary();
  testPage(name, [store, '--as', 'Ann'], (view) => body(view, agent(store), store), options);
}

testEditing('an edit is saved, shown with who made it, and undone', async (view, memory, store) => {
  await editing(view, memory, 'second\nthird\n');
  await view.accessible();
  await view.press('Save');
  await view.shows('Saved.');
  assert.equal(await memory.read(FILE), 'second\nthird\n');
  await view.accessible();

  await view.follow('Timeline');
  const [change] = await view.page.locator('#main .change').all();
  assert.match(await change.innerText(), /^Ann\b[^]*modified[^]*plan\.md/);
  await change.getByText('What changed').click();
  const diff = change.locator('.diff');
  await diff.locator('tr.removed', { hasText: 'first' }).waitFor();
  await diff.locator('tr.added', { hasText: 'third' }).waitFor();
  await view.accessible();
  await change.getByRole('link', { name: 'Version after the edit of plan.md by Ann' }).click();
  await view.follow('Side by side');
  await view.page.waitForURL(/diff=side/);
  const [left, right] = await view.page
    .locator('#main .diff')
    .first()
    .locator('tr')
    .first()
    .locator('td.text')
    .all();
  assert.deepEqual([await left.innerText(), await right.innerText()], ['first', 'second']);
  await view.accessible();
  await view.follow('Inline');
  await view.page.waitForURL(/diff=inline/);

  await view.follow('Undo this change');
  await view.shows('This will happen');
  await view.accessible();
  await view.press('Undo');
  await view.shows('Undone.');
  assert.equal(await memory.read(FILE), 'first\n');
  // The undo can be undone, with a link in its message.
  await view.follow('Undo the restoration of plan.md by Ann');
  await view.press('Undo');
  await view.shows('Undone.');
  assert.equal(await memory.read(FILE), 'second\nthird\n');
  assert.match(await cli('log', store), /Ann/);
});

testEditing(
  'what the agent writes meanwhile is seen, and is not overwritten by saving',
  async (view, memory) => {
    const stale = await editing(view, memory);
    assert.ok(await stale.isHidden());
    await memory.str_replace({ path: FILE, old_str: 'first', new_str: 'theirs' });
    await stale.waitFor();
    await view.accessible();
    // The unsaved text stays.
    assert.equal(await view.page.locator('#text').inputValue(), 'mine\n');
    await view.press('Save');
    await view.shows('Not saved: the file was changed while you edited it.');
    assert.equal(await memory.read(FILE), 'theirs\n');
    const both = (there) => `<<<<<<< yours\nmine\n=======\n${there}\n>>>>>>> there now\n`;
    assert.equal(await view.page.locator('#text').inputValue(), both('theirs'));
    await view.accessible();
    // A text with conflict marks is not saved without confirmation.
    await view.press('Save the merged text');
    await view.shows('the text still has conflict marks');
    assert.equal(await memory.read(FILE), 'theirs\n');
    await view.accessible();

    // A change during this comparison is not overwritten either.
    await view.live();
    await memory.str_replace({ path: FILE, old_str: 'theirs', new_str: 'theirs again' });
    await view.page.locator('#text').fill('decided\n');
    await view.press('Save');
    await view.shows('theirs again');
    assert.equal(await memory.read(FILE), 'theirs again\n');
    await view.page.locator('#text').fill('both\n');
    await view.press('Save the merged text');
    await view.shows('Saved.');
    assert.equal(await memory.read(FILE), 'both\n');
  },
);

testEditing('changes at different lines are merged', async (view, memory) => {
  await memory.create({ path: '/memories/list.md', file_text: 'a\nb\nc\nd\ne\n' });
  await view.go('edit', { path: '/memories/list.md' });
  await view.page.locator('#text').fill('a\nb\nc\nd\nmine\n');
  await memory.str_replace({ path: '/memories/list.md', old_str: 'a\n', new_str: 'theirs\n' });
  await view.press('Save');
  await view.shows('the text below has both');
  await view.accessible();
  await view.press('Save the merged text');
  await view.shows('Saved.');
  assert.equal(await memory.read('/memories/list.md'), 'theirs\nb\nc\nd\nmine\n');
  // The message appears once.
  await view.page.reload();
  await view.shows('theirs');
  assert.equal(await view.page.locator('.banner').count(), 0);
});

testEditing('a text that came second is kept beside the other', async (view, memory) => {
  const stale = await editing(view, memory);
  await memory.str_replace({ path: FILE, old_str: 'first', new_str: 'theirs' });
  await stale.waitFor();
  await view.press('Save');
  await view.page.getByText('Your text', { exact: true }).click();
  await view.press('Save it as /memories/plan.mine.md');
  await view.shows('Created.');
  assert.equal(await memory.read(FILE), 'theirs\n');
  assert.equal(await memory.read('/memories/plan.mine.md'), 'mine\n');
});

testEditing('what is there is kept, if a person says so', async (view, memory) => {
  const stale = await editing(view, memory);
  await memory.str_replace({ path: FILE, old_str: 'first', new_str: 'theirs' });
  await stale.waitFor();
  await view.press('Save');
  // The browser asks before the person leaves an unsaved text; this one was sent.
  await view.follow('Keep the current text');
  await view.page.waitForURL(/\/1\/file/);
  await view.shows('theirs');
  assert.equal(await memory.exists('/memories/plan.mine.md'), false);
});

testEditing(
  'a file that is deleted meanwhile is made again, if a person says so',
  async (view, memory) => {
    const stale = await editing(view, memory);
    await memory.delete({ path: FILE });
    await stale.waitFor();
    await view.press('Save');
    await view.shows('the file was deleted or moved while you edited it');
    assert.equal(await memory.exists(FILE), false);
    await view.accessible();
    await view.press('Create the file again');
    await view.shows('Created.');
    assert.equal(await memory.read(FILE), 'mine\n');
    // The page may have requested the file itself before it followed changes.
    const looked = view.refusals.splice(0);
    assert.deepEqual(
      looked.filter((refusal) => refusal !== '404 /1/edit'),
      [],
    );
  },
);

testEditing('line endings, and a first empty line, are as they were', async (view, memory) => {
  await memory.create({ path: '/memories/dos.txt', file_text: '\r\none\r\n' });
  await view.go('edit', { path: '/memories/dos.txt' });
  await view.page.locator('#text').press('Control+End');
  await view.page.keyboard.type('two\n');
  await view.press('Save');
  await view.shows('Saved.');
  assert.equal(await memory.read('/memories/dos.txt'), '\r\none\r\ntwo\r\n');
});

testEditing(
  'a file is created, renamed, deleted and restored by a person',
  async (view, memory) => {
    const { page } = view;
    await memory.actingAs('Ann').create({ path: FILE, file_text: '' });
    await view.go('file');
    await view.follow('New file');
    await view.accessible();
    await page.getByLabel('Path', { exact: true }).fill('/memories/team/tea & cake.md');
    await page.locator('#text').fill('# Cake\n');
    await view.press('Create');
    await view.shows('Created.');
    await view.follow('Rename');
    await view.accessible();
    await page.getByLabel('New path').fill('/memories/team/cake.md');
    await view.press('Rename');
    await view.shows('Renamed.');
    assert.equal(await memory.read('/memories/team/cake.md'), '# Cake\n');
    await view.follow('Delete');
    await view.shows('This deletes 1 file:');
    await view.accessible();
    await view.press('Delete');
    await view.shows('Deleted.');
    assert.equal(await memory.exists('/memories/team/cake.md'), false);

    await view.go('');
    await page
      .locator('#deleted')
      .getByRole('link', { name: 'Restore team/cake.md as it was before the deletion by Ann' })
      .click();
    await view.shows('which is created again at its former path');
    await view.accessible();
    await view.press('Restore');
    await view.shows('Restored.');
    assert.equal(await memory.read('/memories/team/cake.md'), '# Cake\n');
    assert.ok((await memory.history()).every(({ actor }) => actor === 'Ann'));
  },
);

testEditing(
  'a path that cannot be is refused, and nothing that was typed is lost',
  async (view, memory) => {
    const { page } = view;
    for (const [path, why] of [
      ['/memories/../x', /Not created/],
      ['x.md', /Not created/],
      ['/memories/taken.md', /already exists/],
    ]) {
      await memory.write('/memories/taken.md', 'taken');
      await view.go('new');
      await page.getByLabel('Path', { exact: true }).fill(path);
      await page.locator('#text').fill('\nkept\n');
      await view.press('Create');
      await page.locator('[role="alert"]', { hasText: why }).waitFor();
      assert.equal(await page.getByLabel('Path', { exact: true }).inputValue(), path);
      assert.equal(await page.locator('#text').inputValue(), '\nkept\n');
    }
    await view.accessible();
  },
);

testEditing('all that an actor did since a time is undone, and no more', async (view, memory) => {
  const { page } = view;
  await memory.create({ path: '/memories/before.md', file_text: 'before' });
  const since = await between();
  await memory.write('/memories/before.md', 'after');
  await memory.create({ path: '/memories/new.md', file_text: 'new' });
  await memory.actingAs('session 2').create({ path: '/memories/other.md', file_text: 'other' });
  await view.go('history');
  const who = page.getByLabel('Who');
  assert.deepEqual(await who.locator('option').allInnerTexts(), [
    'Anyone',
    'session 2',
    'session 1',
  ]);
  await who.selectOption('session 1');
  await page.getByLabel('Since', { exact: true }).fill(since);
  await view.press('Show');
  await page.waitForURL(/since=/);
  assert.equal(await page.locator('#main .version').count(), 2);
  await view.press('Undo everything since then…');
  await view.shows('Everything that session 1 changed since');
  await view.accessible();
  await view.press('Undo');
  await view.shows('Undone.');
  assert.equal(await memory.read('/memories/before.md'), 'before');
  assert.equal(await memory.exists('/memories/new.md'), false);
  assert.equal(await memory.read('/memories/other.md'), 'other');
});

testEditing(
  'a time is typed as a person says it, in the zone of the browser, and a wrong one stays beside what is wrong',
  async (view, memory) => {
    const { page } = view;
    await memory.create({ path: '/memories/a.md', file_text: 'a' });
    await view.go('undo');
    const since = page.getByLabel('Since', { exact: true });
    await view.shows(', UTC+05:30.');
    await view.accessible();
    await view.press('Preview');
    await page.locator('#since-problem', { hasText: 'Enter a time.' }).waitFor();
    for (const wrong of ['noon', '25:00', 'yesterday 9']) {
      await page.getByLabel('Who').selectOption('session 1');
      await since.fill(wrong);
      await since.press('Enter');
      await page.locator('#since-problem', { hasText: 'This is not a time' }).waitFor();
      assert.equal(await since.inputValue(), wrong);
      assert.equal(await since.getAttribute('aria-invalid'), 'true');
      assert.equal(await page.getByLabel('Who').inputValue(), 'session 1');
      assert.equal(await page.locator('#main form[method="post"]').count(), 0);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'since');
    }
    await view.accessible();
    for (const [typed, said] of [
      ['2001-02-03 4:05', '2001-02-03 04:05:00 UTC+05:30'],
      ['2001-02-03T04:05Z', '2001-02-03 09:35:00 UTC+05:30'],
      ['yesterday 9:00', ' 09:00:00 UTC+05:30'],
      ['14:30', ' 14:30:00 UTC+05:30'],
    ]) {
      await since.fill(typed);
      await since.press('Enter');
      await view.shows(said);
      assert.equal(await since.inputValue(), typed);
    }
    // Every change of today in a zone that is ahead, even just after midnight, is a change since yesterday.
    for (const [preset, typed] of [
      ['Last hour', '1h'],
      ['Today', 'today'],
      ['Last 7 days', '7d'],
      ['Since yesterday', 'yesterday'],
    ]) {
      await view.press(preset);
      await page.waitForURL(new RegExp(`preset=${typed}`));
      assert.equal(await since.inputValue(), typed);
    }
    await view.shows('This will happen');
    await view.accessible();
    await view.follow('Cancel');
    await page.waitForURL(/\/history\?actor=session%201&since=yesterday&zone=%2B05%3A30$/);
    assert.equal(await memory.exists('/memories/a.md'), true);
    await view.press('Last hour');
    await page.waitForURL(/\/history\?.*preset=1h/);
    await view.shows('a.md');
  },
  { context: { timezoneId: 'Asia/Kolkata' } },
);

testEditing(
  'any two versions of a file are chosen and compared, at an address that can be passed on',
  async (view, memory) => {
    const { page } = view;
    for (let count = 0; count < 53; count += 1) await memory.write(FILE, `kept\n${count}\n`);
    await view.go('history', { path: FILE });
    await view.live();
    await page.getByRole('radio', { name: /^from/ }).nth(4).check();
    // The selection stays when the page follows a change.
    await memory.write(FILE, 'kept\n53\n');
    await page.locator('#main .version').nth(50).waitFor({ state: 'detached' });
    await page.waitForFunction(
      () =>
        document.querySelectorAll('#main [name="id"]:checked, #main [name="other"]:checked')
          .length === 2,
    );
    await view.accessible();
    await page.locator('#main').getByRole('button', { name: 'Older changes' }).click();
    await view.shows('chosen on another page');
    await view.accessible();
    await page.getByRole('radio', { name: /^from/ }).last().check();
    await view.press('Compare');
    await page.waitForURL(/\/compare\?/);
    const sides = () =>
      Promise.all(
        ['removed', 'added'].map((kind) => page.locator(`#main .diff tr.${kind}`).innerText()),
      );
    assert.deepEqual(
      (await sides()).map((line) => line.trim().split(/\s+/).at(-1)),
      ['0', '52'],
    );
    await view.accessible();
    await view.follow('Side by side');
    await page.locator('#main .diff .side').waitFor();
    await view.accessible();
    // Another tab shows the same.
    const shared = await page.evaluate(async () => (await fetch(location.href)).text());
    assert.ok(shared.includes('class="side"'));
    // The key of the timeline leads back.
    await page.keyboard.press('h');
    await page.waitForURL(/\/history\?path=/);

    await view.go('compare', { id: 'nonsense', other: 'x' });
    await view.shows('is not the id of a version or a change');
    await view.accessible();
  },
  { refused: ['404 /1/compare'] },
);

testEditing(
  'a change on which a later one stands is not undone, and the reason stays while a person reads it',
  async (view, memory) => {
    await memory.create({ path: FILE, file_text: 'one\n' });
    await memory.str_replace({ path: FILE, old_str: 'one', new_str: 'two' });
    const changes = await memory.history(FILE);
    await view.go('undo', { id: changes.at(-1).change });
    await view.shows('Nothing was changed');
    await view.accessible();
    await view.live();
    await memory.create({ path: '/memories/else.md', file_text: '' });
    await view.page.locator('#tree', { hasText: 'else.md' }).waitFor();
    await view.shows('Nothing was changed');
    await view.page.locator('#main').getByRole('link', { name: 'plan.md' }).waitFor();
  },
);

testEditing('a redacted version is nowhere any more', async (view, memory, store) => {
  const { page } = view;
  const SECRET = 'kettle-hunter2-lid';
  await memory.create({ path: FILE, file_text: `the password is ${SECRET}\n` });
  await memory.str_replace({ path: FILE, old_str: SECRET, new_str: 'elsewhere' });
  assert.ok((await cli('log', '-p', store)).includes(SECRET));
  await view.go('history', { path: FILE });
  await page.locator('#main').getByRole('link', { name: 'Redact plan.md' }).last().click();
  await view.shows('You cannot undo this');
  await view.accessible();
  await page.getByLabel('Reason').fill('held a password');
  await view.press('Redact');
  await view.shows('The content was redacted: held a password');
  await view.accessible();
  assert.ok(!(await cli('log', '-p', store)).includes(SECRET));
  for (const { id } of await memory.history()) {
    for (const place of ['version', 'diff', 'restore']) {
      const answer = (at) => fetch(at).then((response) => response.text());
      assert.ok(!(await page.evaluate(answer, `/1/${place}?id=${id}`)).includes(SECRET), place);
    }
  }
  await view.go('search', { q: SECRET, past: '1' });
  await view.shows('Nothing was found.');
  await view.go('history');
  await view.shows('redacted: held a password');
});
