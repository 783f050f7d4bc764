// esbuild, webpack, Rollup and Vite: their bundles run, and the statements of docs/languages/bundlers.md about them
// are true.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  COMMONJS,
  ESM,
  PRINTED,
  PRINTED_WITH_SDK,
  WITH_SDK,
  binary,
  binaryPackage,
  elsewhere,
  install,
  node,
  project,
  tool,
  version,
} from './support.mjs';

const FILES = {
  'agent.mjs': ESM,
  'agent.cjs': COMMONJS,
  'runner.mjs': WITH_SDK,
};

async function prints(file, cwd, expected = PRINTED) {
  assert.deepEqual(await node(file, cwd), { status: 0, output: expected });
}

/** The error if the binary is not found: the cause, the setting, the page. */
async function saysWhy(file, setting) {
  const { status, output } = await node(file, undefined);
  assert.notEqual(status, 0);
  // Node also shows the line of the bundle, which may be the whole bundle.
  const said = output.split('\n').find((line) => line.startsWith('Error: ')) ?? '';
  assert.match(said, /memdir was bundled, and a bundle cannot contain its binary for \S+\. /);
  assert.ok(said.includes(setting), said);
  assert.match(said, /docs\/languages\/bundlers\.md/);
}

async function esbuild(directory, entry, outfile, options = {}) {
  const { build } = await tool('esbuild');
  const entryPoints = [join(directory, entry)];
  const settings = {
    entryPoints,
    outfile: join(directory, outfile),
    bundle: true,
  };
  const { warnings } = await build({
    ...settings,
    platform: 'node',
    absWorkingDir: directory,
    logLevel: 'silent',
    ...options,
  });
  assert.deepEqual(warnings, []);
}

async function webpack(directory, entry, filename, options = {}) {
  const { default: webpack } = await tool('webpack');
  const stats = await new Promise((resolve, reject) =>
    webpack(
      {
        mode: 'production',
        target: 'node',
        context: directory,
        entry: `./${entry}`,
        ...options,
        output: { path: join(directory, 'out'), filename, ...options.output },
      },
      (error, done) => (error ? reject(error) : resolve(done)),
    ),
  );
  const { errors, warnings } = stats.toJson({
    all: false,
    errors: true,
    warnings: true,
  });
  assert.deepEqual(errors, []);
  return warnings.map(({ message }) => message);
}

async function rollup(directory, entry, file, format, options = {}) {
  const { rollup } = await tool('rollup');
  const { default: resolve } = await tool('@rollup/plugin-node-resolve');
  const warnings = [];
  const bundle = await rollup({
    input: join(directory, entry),
    plugins: [resolve()],
    onwarn: ({ message }) => warnings.push(message),
    ...options,
  });
  await bundle.write({
    file: join(directory, file),
    format,
    inlineDynamicImports: true,
  });
  return warnings;
}

async function vite(directory, entry, outDir, ssr) {
  const { build } = await tool('vite');
  await build({
    configFile: false,
    logLevel: 'error',
    root: directory,
    ...(ssr ? { ssr } : {}),
    build: { ssr: entry, outDir: join(directory, outDir), emptyOutDir: false },
  });
}

test('docs/languages/bundlers.md names the versions that are tested', () => {
  const page = readFileSync(new URL('../../docs/languages/bundlers.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| \[/.test(line));
  for (const [start, ...names] of [
    ['Next.js', 'next'],
    ['esbuild', 'esbuild'],
    ['webpack', 'webpack'],
    ['Rollup', 'rollup'],
    ['Vite', 'vite'],
    ['Jest', 'jest', 'vitest'],
    ['Electron', '@electron/asar'],
    ['Bun', 'bun'],
    ['Deno', 'deno'],
    ['Cloudflare Workers', 'workerd'],
  ]) {
    const row = rows.find((line) => line.startsWith(`| [${start}`)) ?? '';
    for (const name of names) {
      assert.ok(row.includes(version(name)), `${name} ${version(name)}: ${row}`);
    }
  }
});

test(`esbuild ${version('esbuild')}, without a setting`, async () => {
  const directory = await project('esbuild', FILES);
  for (const [entry, format, outfile] of [
    ['agent.mjs', 'esm', 'out/from-esm.mjs'],
    ['agent.mjs', 'cjs', 'out/from-esm.cjs'],
    ['agent.cjs', 'cjs', 'out/from-commonjs.cjs'],
  ]) {
    await esbuild(directory, entry, outfile, { format });
    await prints(outfile, directory);
  }
});

test('esbuild: a bundle by itself says why, works with the binary beside it, and with memdir left out', async () => {
  const directory = await project('esbuild-moved', FILES);
  for (const [entry, format, name] of [
    ['agent.mjs', 'esm', 'agent.mjs'],
    ['agent.mjs', 'cjs', 'agent.cjs'],
    ['agent.cjs', 'cjs', 'commonjs.cjs'],
  ]) {
    const place = elsewhere();
    await esbuild(directory, entry, `out/${name}`, { format });
    copyFileSync(join(directory, 'out', name), join(place, name));
    await saysWhy(join(place, name), '--external:memdir');

    const from = join(directory, 'node_modules', binaryPackage(), binary());
    copyFileSync(from, join(place, binary()));
    await prints(name, place);
  }

  // As in the recipes for functions: memdir is external, and installed next to the bundle.
  for (const format of ['esm', 'cjs']) {
    const place = elsewhere();
    const name = format === 'esm' ? 'agent.mjs' : 'agent.cjs';
    await esbuild(directory, 'agent.mjs', `out/${name}`, {
      format,
      external: ['memdir'],
    });
    copyFileSync(join(directory, 'out', name), join(place, name));
    await install(place);
    await prints(name, place);
  }
});

test('esbuild: what is bundled with the SDK gives its runner errors that it knows', async () => {
  const directory = await project('esbuild-sdk', FILES, { sdk: true });
  for (const format of ['esm', 'cjs']) {
    const name = `out/runner.${format === 'esm' ? 'mjs' : 'cjs'}`;
    await esbuild(directory, 'runner.mjs', name, { format });
    await prints(name, directory, PRINTED_WITH_SDK);
    await esbuild(directory, 'runner.mjs', name, { format, packages: 'external' });
    await prints(name, directory, PRINTED_WITH_SDK);
    // The runner does not recognize the class of an SDK outside the bundle.
    await esbuild(directory, 'runner.mjs', name, { format, external: ['memdir'] });
    await prints(name, directory, PRINTED_WITH_SDK.replace('Cannot', 'Error: Cannot'));
  }
});

test(`webpack ${version('webpack')}, without a setting and with an external`, async () => {
  const directory = await project('webpack', FILES);
  const asModule = {
    experiments: { outputModule: true },
    output: { module: true },
  };
  const missing = /Can't resolve '@anthropic-ai\/sdk/;
  for (const [entry, filename, options] of [
    ['agent.mjs', 'from-esm.cjs'],
    ['agent.mjs', 'from-esm.mjs', asModule],
    ['agent.cjs', 'from-commonjs.cjs'],
  ]) {
    // Only that the SDK is missing.
    const warnings = await webpack(directory, entry, filename, options);
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0], missing);
    await prints(`out/${filename}`, directory);
  }

  const alias = { '@anthropic-ai/sdk/lib/tools/ToolError': false };
  assert.deepEqual(await webpack(directory, 'agent.mjs', 'alias.cjs', { resolve: { alias } }), []);
  await prints('out/alias.cjs', directory);

  const externals = { memdir: 'commonjs memdir' };
  assert.deepEqual(await webpack(directory, 'agent.mjs', 'external.cjs', { externals }), []);
  await prints('out/external.cjs', directory);

  const place = elsewhere();
  copyFileSync(join(directory, 'out', 'from-commonjs.cjs'), join(place, 'agent.cjs'));
  await saysWhy(join(place, 'agent.cjs'), 'webpack: externals');
  copyFileSync(join(directory, 'out', 'external.cjs'), join(place, 'agent.cjs'));
  await install(place);
  await prints('agent.cjs', place);
});

test('webpack: a bundle that moved finds memdir where it is then', async () => {
  const directory = await project('webpack-moved', FILES);
  await webpack(directory, 'agent.mjs', 'agent.cjs');
  const place = elsewhere();
  mkdirSync(join(place, 'out'));
  copyFileSync(join(directory, 'out', 'agent.cjs'), join(place, 'out', 'agent.cjs'));
  rmSync(join(directory, 'node_modules'), { recursive: true });
  await saysWhy(join(place, 'out', 'agent.cjs'), 'webpack: externals');
  await install(place);
  await prints('out/agent.cjs', place);
});

test('webpack: what is bundled with the SDK gives its runner errors that it knows', async () => {
  const directory = await project('webpack-sdk', FILES, { sdk: true });
  assert.deepEqual(await webpack(directory, 'runner.mjs', 'runner.cjs'), []);
  await prints('out/runner.cjs', directory, PRINTED_WITH_SDK);
});

test(`Rollup ${version('rollup')}, without a setting and with an external`, async () => {
  const directory = await project('rollup', FILES);
  const missing = /"@anthropic-ai\/sdk\S*" is imported by .*, but could not be resolved/;
  for (const [format, file] of [
    ['es', 'out/agent.mjs'],
    ['cjs', 'out/agent.cjs'],
  ]) {
    const warnings = await rollup(directory, 'agent.mjs', file, format);
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0], missing);
    await prints(file, directory);

    const place = elsewhere();
    const name = file.slice('out/'.length);
    copyFileSync(join(directory, file), join(place, name));
    await saysWhy(join(place, name), 'Rollup: external');

    assert.deepEqual(
      await rollup(directory, 'agent.mjs', file, format, {
        external: ['memdir'],
      }),
      [],
    );
    copyFileSync(join(directory, file), join(place, name));
    await install(place);
    await prints(name, place);
  }
});

test(`Vite ${version('vite')}, without a setting, with everything bundled, and with an external`, async () => {
  const directory = await project('vite', FILES);
  for (const [outDir, ssr] of [
    ['default', undefined],
    ['bundled', { noExternal: true }],
    ['external', { noExternal: true, external: ['memdir'] }],
  ]) {
    await vite(directory, 'agent.mjs', outDir, ssr);
    await prints(`${outDir}/agent.mjs`, directory);
  }
  const place = elsewhere();
  copyFileSync(join(directory, 'bundled', 'agent.mjs'), join(place, 'agent.mjs'));
  await saysWhy(join(place, 'agent.mjs'), 'Vite: ssr.external');
  copyFileSync(join(directory, 'external', 'agent.mjs'), join(place, 'agent.mjs'));
  await install(place);
  await prints('agent.mjs', place);
});

test('Vite: what is bundled with the SDK gives its runner errors that it knows', async () => {
  const directory = await project('vite-sdk', FILES, { sdk: true });
  await vite(directory, 'runner.mjs', 'bundled', { noExternal: true });
  await prints('bundled/runner.mjs', directory, PRINTED_WITH_SDK);
});

test(`nft ${version('@vercel/nft')} traces the binary`, async () => {
  const directory = await project('nft', FILES);
  const { nodeFileTrace } = await tool('@vercel/nft');
  for (const entry of ['agent.mjs', 'agent.cjs']) {
    const { fileList } = await nodeFileTrace([join(directory, entry)], {
      base: directory,
    });
    const place = elsewhere();
    for (const file of fileList) {
      mkdirSync(join(place, file, '..'), { recursive: true });
      copyFileSync(join(directory, file), join(place, file));
    }
    await prints(entry, place);
  }
});
