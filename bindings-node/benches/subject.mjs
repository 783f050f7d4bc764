// Executes commands for `tests/bench/run`, which measures them.
//
// Usage: node benches/subject.mjs memdir|sdk DIRECTORY
//
// `memdir` is memdir's tool, `sdk` is the SDK's own file tool. `tests/bench/src/protocol.rs` describes the requests.
// MEMDIR_BENCH_PACKAGE is the directory of an installed package, instead of this one.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';

const [kind, directory] = process.argv.slice(2);
const tool = await toolOf(kind);

async function toolOf(kind) {
  if (kind === 'sdk') {
    return betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(directory));
  }
  const installed = process.env.MEMDIR_BENCH_PACKAGE;
  const { memoryTool } = await import(
    installed === undefined ? 'memdir' : pathToFileURL(`${installed}/esm/index.js`).href
  );
  return memoryTool(directory);
}

async function refused(command) {
  const succeeded = await tool.run(command).then(
    () => true,
    () => false,
  );
  if (succeeded) throw new Error(`not refused: ${JSON.stringify(command)}`);
}

async function repeated(call, commands, seconds) {
  const times = commands.map(() => []);
  const until = performance.now() + seconds * 1000;
  do {
    for (const [at, command] of commands.entries()) {
      const begun = process.hrtime.bigint();
      await call(command);
      times[at].push(Number(process.hrtime.bigint() - begun));
    }
  } while (performance.now() < until);
  return times;
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

for await (const line of createInterface({ input: process.stdin })) {
  const { callers, seconds, fails } = JSON.parse(line);
  const call = fails ? refused : (command) => tool.run(command);
  const begun = performance.now();
  const times = await Promise.all(callers.map((commands) => repeated(call, commands, seconds)));
  const elapsed = (performance.now() - begun) / 1000;
  const ofCommand = (times[0] ?? []).map((_, at) => times.flatMap((lists) => lists[at]));
  const calls = ofCommand.reduce((sum, measured) => sum + measured.length, 0);
  console.log(JSON.stringify({ calls, seconds: elapsed, medians: ofCommand.map(median) }));
}
