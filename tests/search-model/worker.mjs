// A process with a memory that it keeps open: it reads one JSON command a line, and answers with one line.

import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [address, installed, ...flags] = process.argv.slice(2);
const { Memory } = createRequire(pathToFileURL(`${installed}/`))('memdir');
const memory = new Memory(address, { searchKeep: flags.includes('--keep') });
for await (const line of createInterface({ input: process.stdin })) {
  const [name, given] = JSON.parse(line);
  let answer;
  try {
    if (name === 'search') {
      const { hits } = await memory.search(given, { limit: 1000 });
      answer = hits.map(({ path, score, passages }) => [
        path,
        Number(score.toFixed(9)),
        passages.map(({ text }) => text),
      ]);
    } else {
      answer = !(await memory.execute({ command: name, ...given })).isError;
    }
  } catch (error) {
    answer = String(error);
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
