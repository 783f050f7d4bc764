// Makes docs/pictures: the page of memdir serve, as shown in the documentation. `make pictures`.
//
// The memory, the window and the clock are always the same, so a picture changes only with the page. With a directory as
// its argument it writes additional ones there for review: wide and narrow, dark and light.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { Memory, PROJECT, View, closeBrowser, temporary } from './support.mjs';

const PLAN = `# Release 1.3 "Hojicha"

Goes out **today**, after [the rules](kettle/house-rules.md) were read again.

- [x] Ask Ada how she wants to be thanked
- [x] Redirects keep their method
- [ ] Name a tea for 1.4

| tea | taken by |
|---|---|
| Genmaicha | 1.2 |
| Hojicha | 1.3 |
`;
const RULES = `# House rules for kettle's release notes

- Breaking changes come first.
- Everybody's first contribution gets a welcome by name.
- No exclamation marks.
- Every release is named after a tea that was not used before.
`;
// In two parts, so repository scanners do not report it.
const KEY = [
  'sk-ant',
  '-api03-TaHL_E9yTYL_9S4xDQNMAAL5QaDtpc6RzGKXi5Asa6smYgOw9RTEzi1JGLEXa0sO40x9ehcZGvQfZnHg5wplQ70MxrbgPAA',
];

/** The memory in the pictures, with changes by an agent and a person. */
async function remembered(store) {
  const by = (actor) => new Memory(store, { history: true, actor });
  const [first, second, ann] = ['session 41', 'session 42', 'Ann'].map(by);
  await first.create({ path: '/memories/kettle/house-rules.md', file_text: RULES });
  await first.create({
    path: '/memories/kettle/teas.md',
    file_text: '# Teas that are taken\n\n- 1.0 Assam\n- 1.1 Sencha\n',
  });
  await first.create({
    path: '/memories/kettle/people.md',
    file_text:
      '# People\n\n- Jun: first contribution in 1.2 (retries).\n- Mo: knows everything about connections.\n',
  });
  await first.create({ path: '/memories/draft.md', file_text: 'Hojicha: something smoky.\n' });
  await second.create({
    path: '/memories/deploy.md',
    file_text: `# How kettle is released\n\n1. \`cargo publish\`\n2. Tell the channel.\n\nThe key of the bot: ${KEY.join('')}\n`,
  });
  await second.str_replace({
    path: '/memories/kettle/people.md',
    old_str: '- Jun: first contribution in 1.2 (retries).',
    new_str:
      '- Jun: retries (1.2), redirects (1.3). An old hand by now.\n- Ada: first contribution in 1.3 (proxies).',
  });
  await second.delete({ path: '/memories/draft.md' });
  await second.create({ path: '/memories/plan.md', file_text: PLAN });
  await ann.write(
    '/memories/kettle/teas.md',
    '# Teas that are taken\n\n- 1.0 Assam\n- 1.1 Sencha\n- 1.2 Genmaicha\n- 1.3 Hojicha\n',
  );
}

const store = join(temporary(), 'agent-memory');
await remembered(store);
const view = await View.open([store, '--as', 'Ann'], { context: { deviceScaleFactor: 1 } });
const { page, server } = view;
// Parts that depend on the time, the machine or the program.
const STILL = () => {
  for (const time of document.querySelectorAll('time')) {
    time.textContent = time.classList.contains('short') ? '4m' : '4 min ago';
  }
  const name = document.querySelector('.memory bdi');
  if (name) name.textContent = './agent-memory';
};

async function picture(path, size = { width: 1100, height: 780 }, colorScheme = 'light') {
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.waitForFunction(
    () => document.querySelector('#live.on') || document.body.matches('.alone'),
  );
  // The first check for earlier changes is complete.
  await page.waitForTimeout(300);
  await page.evaluate(STILL);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
}

/** The pages, each opened by a function. */
const shown = {
  overview: () => view.go(''),
  timeline: async () => {
    await view.go('history');
    const details = page.locator('#main .version', { hasText: 'people.md' }).first();
    await details.locator('summary').click();
    await details.locator('.diff').waitFor();
  },
  file: () => view.go('file', { path: '/memories/plan.md' }),
  source: () => view.go('file', { path: '/memories/deploy.md', view: 'source' }),
  conflict: async () => {
    await view.go('edit', { path: '/memories/kettle/people.md' });
    await page
      .locator('#text')
      .fill(
        '# People\n\n- Jun: retries, redirects.\n- Ada: proxies.\n- Mo: knows everything about connections.\n',
      );
    await new Memory(store, { history: true, actor: 'session 43' }).insert({
      path: '/memories/kettle/people.md',
      insert_line: 5,
      insert_text: '- Kim: wrote in to say hello.\n',
    });
    await page.locator('#stale').waitFor();
    await view.press('Save');
    await view.shows('Not saved');
  },
  search: () => view.go('search', { q: 'jun', past: '1' }),
};
// The pages in the documentation.
const KEPT = ['overview', 'timeline', 'source', 'conflict'];

const [directory] = process.argv.slice(2);
const target = directory ?? join(PROJECT, 'docs', 'pictures');
mkdirSync(target, { recursive: true });
if (directory) {
  Object.assign(shown, {
    side: async () => {
      await view.go('history', { path: '/memories/kettle/people.md' });
      await page
        .locator('#main')
        .getByRole('link', { name: /^Version/ })
        .last()
        .click();
      await page.waitForURL(/version/);
      await page.goto(`${page.url()}&diff=side`);
    },
    directory: () => view.go('file', { path: '/memories/kettle' }),
    editor: () => view.go('edit', { path: '/memories/plan.md' }),
    sensitive: () => view.go('sensitive'),
    restore: async () => {
      await view.go('');
      await page
        .locator('#deleted')
        .getByRole('link', { name: /^Restore/ })
        .click();
      await page.waitForURL(/restore/);
    },
    found: () =>
      view.go('file', { path: '/memories/kettle/people.md', view: 'source', q: 'retries' }),
    choice: () => view.go('history', { path: '/memories/kettle/people.md' }),
    compare: async () => {
      await view.go('history', { path: '/memories/kettle/teas.md' });
      await view.press('Compare');
      await page.waitForURL(/compare/);
    },
    since: () => view.go('undo', { actor: 'session 42', since: 'yesterday 9:00' }),
    wrong: () => view.go('undo', { actor: 'session 42', since: 'tomorrow' }),
    undo: async () => {
      await view.go('history');
      await page.locator('#main').getByRole('link', { name: /^Undo/ }).first().click();
      await page.waitForURL(/undo/);
    },
    keys: async () => {
      await view.go('');
      await page.keyboard.press('?');
    },
    nothing: () => page.goto(`${server.origin}/1/nothing`),
  });
}
for (const [name, open] of Object.entries(shown)) {
  if (!directory && !KEPT.includes(name)) continue;
  await open();
  if (!directory) {
    await picture(join(target, `${name}.png`));
    continue;
  }
  for (const colours of ['light', 'dark']) {
    for (const [kind, size] of [
      ['wide', { width: 1280, height: 800 }],
      ['narrow', { width: 390, height: 844 }],
    ]) {
      await picture(join(target, `${name}-${kind}-${colours}.png`), size, colours);
    }
  }
}
await view.close();
await closeBrowser();
