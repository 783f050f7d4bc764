// Bun and Deno run a program with memdir, and Bun bundles it.

import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  COMMONJS,
  ESM,
  PRINTED,
  PRINTED_WITH_SDK,
  TOOLS,
  WITH_SDK,
  binary,
  binaryPackage,
  elsewhere,
  install,
  node,
  project,
  run,
  version,
} from './support.mjs';

const FILES = {
  'agent.mjs': ESM,
  'agent.cjs': COMMONJS,
  'runner.mjs': WITH_SDK,
};

/** The program of a runtime, which npm has installed for this machine. */
function runtime(scope, file) {
  const [name] = readdirSync(join(TOOLS, 'node_modules', scope));
  return join(TOOLS, 'node_modules', scope, name, file);
}
const bun = (args, cwd) => run(runtime('@oven', 'bin/bun'), args, { cwd });
const deno = (args, cwd) => run(runtime('@deno', 'deno'), args, { cwd });

const printed = { status: 0, output: PRINTED };

test(`Bun ${version('bun')} runs it`, async () => {
  const directory = await project('bun', FILES, { sdk: true });
  for (const entry of ['agent.mjs', 'agent.cjs']) {
    assert.deepEqual(await bun([entry], directory), printed);
  }
  const ran = await bun(['runner.mjs'], directory);
  assert.deepEqual(ran, { status: 0, output: PRINTED_WITH_SDK });
});

test('Bun bundles it, for itself and for Node', async () => {
  const directory = await project('bun-build', FILES);
  for (const entry of ['agent.mjs', 'agent.cjs']) {
    for (const target of ['bun', 'node']) {
      const outfile = `out/${target}.mjs`;
      const start = target === 'bun' ? (file, cwd) => bun([file], cwd) : node;
      const build = (...flags) =>
        bun(['build', entry, `--target=${target}`, `--outfile=${outfile}`, ...flags], directory);
      const built = await build();
      assert.equal(built.status, 0, built.output);
      assert.deepEqual(await start(outfile, directory), printed);

      const external = await build('--external', 'memdir');
      assert.equal(external.status, 0, external.output);
      const place = elsewhere();
      copyFileSync(join(directory, outfile), join(place, 'agent.mjs'));
      await install(place);
      assert.deepEqual(await start('agent.mjs', place), printed);
    }
  }

  // Without the binary it reports why it does not work, and with the binary next to it, it works.
  const place = elsewhere();
  const file = join(place, 'agent.mjs');
  const built = await bun(['build', 'agent.mjs', '--target=bun', `--outfile=${file}`], directory);
  assert.equal(built.status, 0, built.output);
  rmSync(join(directory, 'node_modules'), { recursive: true });
  const { status, output } = await bun([file], place);
  assert.notEqual(status, 0);
  assert.match(output, /memdir was bundled, and .*Bun: --external memdir.*docs\/bundlers\.md/);
  await install(directory);
  copyFileSync(join(directory, 'node_modules', binaryPackage(), binary()), join(place, binary()));
  assert.deepEqual(await bun([file], place), printed);
});

test(`Deno ${version('deno')} runs it with --allow-ffi, and names that permission without it`, async () => {
  const directory = await project('deno', FILES, { sdk: true });
  const without = await deno(['run', '--no-prompt', 'agent.mjs'], directory);
  assert.notEqual(without.status, 0);
  assert.match(without.output, /The binary of memdir for \S+ cannot be loaded: .*--allow-ffi/);

  for (const entry of ['agent.mjs', 'agent.cjs']) {
    const ran = await deno(['run', '--no-prompt', '--allow-ffi', entry], directory);
    assert.deepEqual(ran, printed);
    // A store in a directory needs no other permissions: the binary reads and writes.
    const local = await deno(['run', '--no-prompt', '--allow-ffi', entry, './memory'], directory);
    assert.deepEqual(local, printed);
  }
  const flags = ['run', '--no-prompt', '--allow-ffi', '--allow-env', '--allow-read'];
  const ran = await deno([...flags, 'runner.mjs'], directory);
  assert.deepEqual(ran, { status: 0, output: PRINTED_WITH_SDK });
});
