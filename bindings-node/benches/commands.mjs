// Measures the duration of a call: in the core alone, through this package, and with the SDK's own
// file tool.
//
// `npm run bench` builds with optimisation first. The numbers are medians of one run on one machine.
// The three take turns, so other load on the machine affects all of them. The directories are on
// tmpfs if there is one, because the flushes of a disk would hide all differences.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import { memoryTool } from 'memdir';

const { timeCore } = createRequire(import.meta.url)('../test/native/memdir.node');

const ROUNDS = 12;
const CALLS = 400;
const LINE = '- a remembered fact of sixty-four characters, give or take one.\n';

const place = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'memdir-bench-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

const directories = {
  core: join(place, 'core'),
  memdir: join(place, 'memdir'),
  sdk: join(place, 'sdk'),
};
const tools = {
  memdir: memoryTool(directories.memdir),
  sdk: betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(directories.sdk)),
};
const filler = memoryTool(directories.core);

for (const tool of [filler, tools.memdir, tools.sdk]) {
  const create = (path, file_text) => tool.run({ command: 'create', path, file_text });
  await create('/memories/small.md', 'colour: blue\n');
  await create('/memories/notes.md', LINE.repeat(64));
  await create('/memories/accents.md', 'café, naïve, 記憶\n'.repeat(200));
  for (let directory = 0; directory < 5; directory += 1) {
    for (let file = 0; file < 10; file += 1) {
      await create(`/memories/tree/d${directory}/f${file}`, 'x');
    }
  }
}

const path = '/memories/small.md';
const edit = (old_str, new_str) => ({ command: 'str_replace', path, old_str, new_str });
const benchmarks = [
  ['view a line', [{ command: 'view', path }]],
  ['view 4 KiB', [{ command: 'view', path: '/memories/notes.md' }]],
  ['view 4 KiB, not ASCII', [{ command: 'view', path: '/memories/accents.md' }]],
  ['view 55 entries', [{ command: 'view', path: '/memories/tree' }]],
  ['str_replace', [edit('blue', 'green'), edit('green', 'blue')]],
  [
    'create and delete',
    [
      { command: 'create', path: '/memories/new.md', file_text: LINE },
      { command: 'delete', path: '/memories/new.md' },
    ],
  ],
];

async function timeTool(tool, commands) {
  const times = [];
  for (let call = 0; call < CALLS; call += 1) {
    for (const command of commands) {
      const begun = process.hrtime.bigint();
      await tool.run(command);
      times.push(Number(process.hrtime.bigint() - begun) / 1000);
    }
  }
  return times;
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

const columns = ['core', 'memdir', 'binding', "SDK's tool"];
console.log(`${'µs, median'.padEnd(26)}${columns.map((name) => name.padStart(12)).join('')}`);
for (const [name, commands] of benchmarks) {
  const times = { core: [], memdir: [], sdk: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.core.push(...(await timeCore(directories.core, commands, CALLS)));
    times.memdir.push(...(await timeTool(tools.memdir, commands)));
    // The SDK's tool is an order of magnitude slower, so fewer samples are enough.
    if (round % 6 === 0) {
      times.sdk.push(...(await timeTool(tools.sdk, commands)));
    }
  }
  const [core, memdir, sdk] = [median(times.core), median(times.memdir), median(times.sdk)];
  const row = [core, memdir, memdir - core, sdk].map((time) => time.toFixed(1).padStart(12));
  console.log(`${name.padEnd(26)}${row.join('')}`);
}
