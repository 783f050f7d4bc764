// Many tabs share one connection: a browser opens six to a server at most.

import assert from 'node:assert/strict';

import { agent, temporary, testPage } from './support.mjs';

const many = temporary();
testPage('more tabs than a browser has connections follow changes', [many], async (view) => {
  const memory = agent(many);
  const tabs = [view.page];
  await view.live();
  for (let count = 0; count < 8; count += 1) {
    const tab = await view.context.newPage();
    await tab.goto(`${view.server.origin}/1/`);
    await tab.locator('#live.on').waitFor();
    tabs.push(tab);
  }
  view.findings.splice(0);
  const seen = (name) =>
    Promise.all(tabs.map((tab) => tab.locator('#tree').getByRole('link', { name }).waitFor()));
  await memory.create({ path: '/memories/one.md', file_text: '' });
  await seen('one.md');
  // Another tab takes over from the one that is closed.
  await tabs[1].close();
  tabs.splice(1, 1);
  await tabs[0].goto('about:blank');
  tabs.splice(0, 1);
  await tabs[0].locator('#live.on').waitFor();
  await memory.create({ path: '/memories/two.md', file_text: '' });
  await seen('two.md');
  assert.deepEqual(
    view.findings.filter((finding) => !finding.includes('about:blank')),
    [],
  );
  view.findings.splice(0);
});
