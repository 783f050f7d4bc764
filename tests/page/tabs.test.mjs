// Many tabs share one connection, including tabs of different memories: a browser opens at most six to a server.

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
  // Another tab takes over from the closed one.
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

/** The browser's requests for changes, each with the numbers of the memories. */
function asked(view) {
  const streams = [];
  view.context.on('request', (request) => {
    const [, memories] = /^\/([\d,]+)\/changes$/.exec(new URL(request.url()).pathname) ?? [];
    if (memories) streams.push(memories);
  });
  return streams;
}
const until = async (view, holds) => {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 2400, `it does not hold: ${holds}`);
    await view.page.waitForTimeout(50);
  }
};

const stores = Array.from({ length: 8 }, temporary);
testPage('eight memories in eight tabs follow their changes', stores, async (view) => {
  const streams = asked(view);
  const memories = stores.map((store) => agent(store));
  const numbers = stores.map((_, index) => index + 1);
  const tabs = [view.page];
  await view.live();
  for (const number of numbers.slice(1)) {
    const tab = await view.context.newPage();
    await tab.goto(`${view.server.origin}/${number}/`);
    await tab.locator('#live.on').waitFor();
    tabs.push(tab);
  }
  view.findings.splice(0);
  await until(view, () => streams.at(-1) === numbers.join());

  const tree = (index, name) => tabs[index].locator('#tree').getByRole('link', { name });
  const changed = (name, some) =>
    Promise.all(
      some.map(async (index) => {
        await memories[index].create({ path: `/memories/${name}-${index}.md`, file_text: '' });
        await tree(index, `${name}-${index}.md`).waitFor();
      }),
    );
  await changed('one', [...tabs.keys()]);
  // No tab is notified of another memory's changes.
  for (const [index, tab] of tabs.entries()) {
    assert.deepEqual(await tab.locator('#tree .file a').allInnerTexts(), [`one-${index}.md`]);
  }

  // The first tab has the connection. When it is closed another one takes over, for the memories that are still shown.
  await tabs[0].goto('about:blank');
  await tabs[3].close();
  await until(view, () => streams.at(-1) === '2,3,5,6,7,8');
  await changed('two', [1, 2, 4, 5, 6, 7]);
  // A tab that opens another memory is notified of changes of that memory.
  await tabs[7].goto(`${view.server.origin}/4/`);
  await until(view, () => streams.at(-1) === '2,3,4,5,6,7');
  await tabs[7].locator('#live.on').waitFor();
  await memories[3].create({ path: '/memories/three.md', file_text: '' });
  await tree(7, 'three.md').waitFor();
  assert.deepEqual(
    view.findings.filter((finding) => !finding.includes('about:blank')),
    [],
  );
  view.findings.splice(0);
});

const alone = [temporary(), temporary()];
testPage('a browser that cannot share a connection opens one for each tab', alone, async (view) => {
  const streams = asked(view);
  await view.context.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }),
  );
  await view.go('/2/');
  await view.live();
  const tab = await view.context.newPage();
  await tab.goto(`${view.server.origin}/1/`);
  await tab.locator('#live.on').waitFor();
  view.findings.splice(0);
  await until(view, () => streams.includes('1') && streams.includes('2'));
  for (const [index, page] of [tab, view.page].entries()) {
    await agent(alone[index]).create({ path: '/memories/a.md', file_text: '' });
    await page.locator('#tree').getByRole('link', { name: 'a.md' }).waitFor();
  }
});
