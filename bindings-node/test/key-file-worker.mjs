// A process of key-file.test.mts: gets the key of each round, and prints its hash. The processes synchronise before each round.

import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';

const [, , memdir, place, me, rounds] = process.argv;
const { keyFromFile } = await import(memdir);
for (let round = 0; round < Number(rounds); round += 1) {
  writeFileSync(`${place}.${round}.${me}`, '');
  while (!['0', '1'].every((each) => existsSync(`${place}.${round}.${each}`)));
  console.log(
    createHash('sha256')
      .update(keyFromFile(`${place}/${round}.key`))
      .digest('hex'),
  );
}
