// Unsaved text survives: a server that stops or restarts, a missing cookie, and leaving the page.

import assert from 'node:assert/strict';

import { agent, serve, temporary, testPage } from './support.mjs';

const FILE = '/memories/plan.md';

/** An editor with unsaved text. */
async function typed(view, memory, text = 'mine\n') {
  await memory.create({ path: FILE, file_text: 'first\n' });
  await view.go('edit', { path: FILE });
  await view.live();
  await view.page.locator('#text').fill(text);
  return view.page.locator('#trouble');
}

/** Messages of the browser while a server is unavailable are expected. */
const forget = (view) => {
  view.findings.splice(0);
  view.refusals.splice(0);
};

const restarted = temporary();
testPage(
  'a text outlives a server that is started again',
  [restarted, '--as', 'Ann'],
  async (view) => {
    const { page, server } = view;
    const memory = agent(restarted);
    const trouble = await typed(view, memory);
    await server.end();
    await view.press('Save');
    await trouble.getByText('Not saved. memdir serve does not answer').waitFor();
    assert.equal(await page.locator('#text').inputValue(), 'mine\n');
    await view.accessible();

    const next = await serve([restarted, '--as', 'Ann'], undefined, new URL(server.origin).port);
    try {
      const again = trouble.getByRole('button', { name: 'Try again' });
      await again.click();
      await trouble.getByText('This browser is signed out').waitFor();
      assert.equal(await memory.read(FILE), 'first\n');
      // As another tab would.
      await page.request.get(next.address);
      await again.click();
      await view.shows('Saved.');
      assert.equal(await memory.read(FILE), 'mine\n');
      assert.equal(await page.locator('#drafts').isVisible(), false);
    } finally {
      await next.end();
    }
    forget(view);
  },
);

const out = temporary();
testPage('a text outlives a cookie that is gone', [out], async (view) => {
  const { page } = view;
  const memory = agent(out);
  const trouble = await typed(view, memory);
  await view.context.clearCookies();
  await view.press('Save');
  await trouble.getByText('Not saved. This browser is signed out').waitFor();
  await page.request.get(view.server.address);
  await trouble.getByRole('button', { name: 'Try again' }).click();
  await view.shows('Saved.');
  assert.equal(await memory.read(FILE), 'mine\n');
  forget(view);
});

const left = temporary();
testPage('a draft is offered when the editor is opened again', [left], async (view) => {
  const { page } = view;
  const memory = agent(left);
  await typed(view, memory);
  await page.waitForFunction(() =>
    Object.keys(sessionStorage).some((key) => key.startsWith('memdir-draft')),
  );
  view.leaves = true;
  await view.go('');
  forget(view);
  await page.locator('#drafts').getByRole('link', { name: 'plan.md' }).waitFor();
  await memory.str_replace({ path: FILE, old_str: 'first', new_str: 'first\nsecond' });
  await page.locator('#drafts').getByRole('link', { name: 'plan.md' }).click();
  await view.shows('There is a draft of');
  await view.accessible();
  await view.press('Use it');
  assert.equal(await page.locator('#text').inputValue(), 'mine\n');
  // It is based on the content that was opened then: later changes are not overwritten.
  await view.press('Save');
  await view.shows('Not saved: the file was changed');
  assert.equal(await memory.read(FILE), 'first\nsecond\n');
  await page.locator('#text').fill('both\n');
  await view.press('Save the merged text');
  await view.shows('Saved.');
  assert.deepEqual(
    await page.evaluate(() =>
      Object.keys(sessionStorage).filter((key) => key.startsWith('memdir-draft')),
    ),
    [],
  );
  forget(view);
});

const thrown = temporary();
testPage('a draft is thrown away, by a person and by a redaction', [thrown], async (view) => {
  const { page } = view;
  const memory = agent(thrown);
  const drafts = () =>
    page.evaluate(
      () => Object.keys(sessionStorage).filter((key) => key.startsWith('memdir-draft')).length,
    );
  await typed(view, memory);
  view.leaves = true;
  await page.reload();
  await view.shows('There is a draft of');
  await view.press('Discard it');
  assert.equal(await drafts(), 0);
  assert.equal(await page.locator('#text').inputValue(), 'first\n');

  await page.locator('#text').fill('again\n');
  await memory.write(FILE, 'second\n');
  const [, first] = await memory.history(FILE);
  await view.go('redact', { id: first.id });
  assert.equal(await drafts(), 1);
  await page.getByLabel('Reason').fill('held a password');
  await view.press('Redact');
  await view.shows('The content was redacted');
  assert.equal(await drafts(), 0);
  forget(view);
});
