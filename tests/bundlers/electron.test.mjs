// Electron's archive. npm does not contain Electron itself, so the test checks that the binary is in the archive where
// Electron looks for it, and that the app runs with the packaged files.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  ESM,
  elsewhere,
  PRINTED,
  binary,
  binaryPackage,
  node,
  project,
  tool,
  version,
} from './support.mjs';

test(`asar ${version('@electron/asar')}: the binary is beside the archive, and the app is whole`, async () => {
  const directory = await project('electron', { 'main.mjs': ESM });
  const place = elsewhere();
  const archive = join(place, 'app.asar');
  const { default: asar } = await tool('@electron/asar');
  await asar.createPackageWithOptions(directory, archive, { unpack: '*.node' });

  const path = join('node_modules', binaryPackage(), binary());
  assert.equal(asar.statFile(archive, path).unpacked, true);
  assert.ok(existsSync(join(place, 'app.asar.unpacked', path)));

  const app = join(place, 'app');
  asar.extractAll(archive, app);
  assert.deepEqual(await node('main.mjs', app), { status: 0, output: PRINTED });
});
