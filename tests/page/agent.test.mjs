// An agent works through the real SDK, in a separate process, while a person watches: its changes appear automatically,
// with their actor.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { PROJECT, run, temporary, testPage } from './support.mjs';

const EXAMPLES = join(PROJECT, 'examples');
const SCRIPT = join(EXAMPLES, 'conversations', 'release-notes.json');
const SESSION = fileURLToPath(new URL('session.mjs', import.meta.url));
const memory = temporary();
const seen = join(temporary(), 'seen');

testPage(
  'a session of the SDK’s runner is followed as it happens',
  [memory, '--as', 'Ann'],
  async (view, t) => {
    const { page } = view;
    await view.live();
    await view.shows('This memory has no history');
    // A mark that a reload of the page removes.
    await page.evaluate(() => (window.isTheSame = true));

    const { sessions } = JSON.parse(readFileSync(SCRIPT, 'utf8'));
    const standin = spawn('python3', [join(EXAMPLES, 'standin', 'standin.py'), SCRIPT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(standin, 'close');
    t.after(() => standin.kill());
    const [url] = await once(createInterface(standin.stdout), 'line');
    const play = (number) => {
      const { user } = sessions[number - 1];
      const env = { ...process.env, NO_PROXY: '127.0.0.1' };
      const session = [SESSION, url, memory, `session ${number}`, user];
      return run(process.execPath, [...session, 'draft.md', seen], { env });
    };

    const first = play(1);
    const tree = page.locator('#tree');
    // The file is created, and later renamed. The session waits until it was seen.
    await tree.getByRole('link', { name: 'draft.md' }).waitFor();
    writeFileSync(seen, '');
    await tree.getByRole('link', { name: 'kettle' }).waitFor();
    assert.equal(await first, 'end_turn\n');
    await tree.getByRole('link', { name: 'draft.md' }).waitFor({ state: 'detached' });
    const timeline = page.locator('#main .change');
    await timeline.locator('.operation', { hasText: 'renamed' }).waitFor();
    await timeline.locator('.actor', { hasText: 'session 1' }).first().waitFor();
    await page.locator('#deleted', { hasText: 'tea-shortlist.md' }).waitFor();

    // An opened branch stays open, and shows the next session's changes in it.
    await tree.getByRole('button', { name: 'Open or close kettle' }).click();
    await tree.getByRole('button', { name: 'Open or close releases' }).click();
    await tree.getByRole('link', { name: '1.2-genmaicha.md' }).waitFor();
    assert.equal(await play(2), 'end_turn\n');
    await tree.getByRole('link', { name: '1.3-hojicha.md' }).waitFor();
    await timeline.locator('.actor', { hasText: 'session 2' }).first().waitFor();
    assert.ok(await page.evaluate(() => window.isTheSame), 'the page was loaded anew');
    await view.accessible();

    const report = await (await fetch(`${url}/standin/finish`, { method: 'POST' })).json();
    assert.deepEqual(report.failures, []);
    assert.ok(report.complete);
    await ended;

    // The actor's name links to all changes by that actor.
    await page.locator('#main .actor', { hasText: 'session 2' }).first().click();
    await page.waitForURL(/actor=session%202/);
    await view.shows('1.3-hojicha.md');
    assert.equal(await page.locator('#main .actor', { hasText: 'session 1' }).count(), 0);
    await view.accessible();
  },
);
