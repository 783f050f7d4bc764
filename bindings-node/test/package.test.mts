// The published package: its contents, its types, and its error messages on unsupported systems.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { project, tarballs } from './consumer.mjs';
import { PACKAGE, PROJECT, require, run, temporary } from './support.mjs';

const ESM = `
  import { Memory, memoryTool } from 'memdir';
  const memory = new Memory('memory:');
  console.log((await memory.execute({ command: 'view', path: '/memories' })).isError);
  await memory.delete({ path: '/memories' }).catch((error) => console.log(error.name, error.content));
  console.log(Object.keys(memoryTool('./memory')).join());
`;
const CJS = `
  const { Memory, memoryTool } = require('memdir');
  (async () => {${ESM.replace(/import .*/, '')}})();
`;

const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'));

function node(directory: string, kind: 'module' | 'commonjs', source: string) {
  return run(process.execPath, [`--input-type=${kind}`, '--eval', source], { cwd: directory });
}

/** Runs a program of an installed package. */
function tool(name: string, program: string, args: string[], cwd: string) {
  const path = fileURLToPath(new URL(`node_modules/${name}/${program}`, PACKAGE));
  return run(process.execPath, [path, ...args], { cwd, timeout: 120_000 });
}

test('the versions and the platforms are the same everywhere', () => {
  const cargo = readFileSync(new URL('Cargo.toml', PROJECT), 'utf8');
  assert.equal(manifest.version, /^version = "(.*)"$/m.exec(cargo)?.[1]);
  const packed = JSON.parse(readFileSync(new URL('npm/memdir/package.json', PACKAGE), 'utf8'));
  const packages = Object.keys(packed.optionalDependencies).sort();
  for (const loader of ['native.cjs', 'native.mjs']) {
    const source = readFileSync(new URL(loader, PACKAGE), 'utf8');
    const cases = [...source.matchAll(/case '(.*)':\s+return load\('(.*)'\);/g)];
    assert.deepEqual(cases.map(([, , name]) => name).sort(), packages, loader);
    assert.ok(
      cases.every(([, target, name]) => name === `memdir-${target}`),
      loader,
    );
  }
  const source = readFileSync(new URL('ts/binary.ts', PACKAGE), 'utf8');
  const known = [...source.matchAll(/^ {2}'(.*)',$/gm)].map(([, target]) => `memdir-${target}`);
  assert.deepEqual(known.sort(), packages);
  const platforms = readFileSync(new URL('release/platforms.json', PROJECT), 'utf8');
  const released = Object.values(JSON.parse(platforms) as Record<string, { node?: string }>)
    .map(({ node }) => node)
    .filter((node) => node !== undefined);
  assert.deepEqual(released.map((target) => `memdir-${target}`).sort(), packages);
  assert.ok(Object.values(packed.optionalDependencies).every((one) => one === manifest.version));
  for (const field of ['scripts', 'devDependencies', 'dependencies']) {
    assert.ok(!(field in packed), field);
  }
});

test('a debug build is packed for tests only', async () => {
  const { buildProfile } = (await import(new URL('scripts/build-profile.mjs', PACKAGE).href)) as {
    buildProfile: (file: string) => string | undefined;
  };
  const name = readdirSync(PACKAGE).find((file) => /^memdir\..*\.node$/.test(file)) ?? '';
  const native = require(fileURLToPath(new URL('native.cjs', PACKAGE))) as {
    buildProfile: () => string;
  };
  assert.equal(buildProfile(fileURLToPath(new URL(name, PACKAGE))), native.buildProfile());

  const [place, elsewhere] = [temporary(), temporary()];
  const binary = join(place, name);
  const pack = () =>
    run(process.execPath, [
      fileURLToPath(new URL('scripts/pack.mjs', PACKAGE)),
      ...[place, elsewhere],
    ]);
  const [debug, release] = ['debug', 'release'].map((is) => `\0memdir-build-profile=${is};\0`);
  for (const [content, profile, said] of [
    [debug!, 'debug', /is a debug build/],
    ['', undefined, /does not say how it was built/],
    [debug! + release!, undefined, /does not say/],
    [release!, 'release', undefined],
  ] as const) {
    writeFileSync(binary, content);
    assert.equal(buildProfile(binary), profile);
    if (said) {
      const { status, stderr } = await pack();
      assert.equal(status, 1, stderr);
      assert.match(stderr, said);
      assert.match(stderr, new RegExp(`${name}.*--release.*--debug`));
    }
  }
  assert.deepEqual(readdirSync(elsewhere), []);
  // Nothing was removed.
  assert.equal(tarballs().length, 2);
});

test('the lock file names no registry', () => {
  const lock = readFileSync(new URL('package-lock.json', PACKAGE), 'utf8');
  assert.doesNotMatch(lock, /"resolved"|https?:\/\/[^"]*\/-\//);
});

for (const [page, code, says] of [
  ['README.md', 'quickstart', 'printed'],
  ['docs/start/typescript.md', 'quickstart', 'printed'],
  ['docs/guides/your-own-code.md', 'typescript', 'printed'],
  ['docs/guides/your-own-code.md', 'typescript-watch', 'watch-printed'],
  ['docs/guides/search.md', 'typescript', 'printed'],
  ['docs/guides/search.md', 'tool-typescript', 'tool-printed'],
  ['docs/guides/sync.md', 'typescript', 'printed-typescript'],
  ['docs/languages/typescript.md', 'typescript', 'printed'],
  ['bindings-node/README.md', 'quickstart', 'printed'],
] as const) {
  test(`the example ${code} of ${page} prints what it says`, async () => {
    const text = readFileSync(new URL(page, PROJECT), 'utf8');
    const example =
      new RegExp(`<!-- ${code} -->\\n\`\`\`ts\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? '';
    const stdout = new RegExp(`<!-- ${says} -->\\n\`\`\`text\\n(.*?)\`\`\``, 's').exec(text)?.[1];
    const directory = project();
    assert.deepEqual(await node(directory, 'module', example), { status: 0, stdout, stderr: '' });
  });
}

test('the recipe for an embedder in docs/guides/search.md runs, with a stand-in for the service', async () => {
  const text = readFileSync(new URL('docs/guides/search.md', PROJECT), 'utf8');
  const recipe = /<!-- hosted-typescript -->\n```ts\n(.*?)```/s.exec(text)?.[1] ?? '';
  const program = `
    process.env.VOYAGE_API_KEY = 'a key';
    globalThis.fetch = async (url, { headers, body }) => {
      const { model, input, input_type } = JSON.parse(body);
      console.log(url, headers.Authorization, model, input_type);
      const data = input.map((text) => ({ embedding: [Number(/car|vehicle/.test(text)), 0.5] }));
      return new Response(JSON.stringify({ data }));
    };
    ${recipe}
    await memory.write('/memories/a.md', 'The car is red.');
    const { hits, wordsOnly } = await memory.search('a vehicle');
    console.log(hits[0].path, wordsOnly);
  `;
  const asked = 'https://api.voyageai.com/v1/embeddings Bearer a key voyage-3.5';
  const stdout = `${asked} query\n${asked} document\n/memories/a.md undefined\n`;
  assert.deepEqual(await node(project(), 'module', program), { status: 0, stdout, stderr: '' });
});

test('it works without any SDK, as ESM and as CommonJS', async () => {
  const directory = project();
  const stdout =
    'false\nToolError Cannot delete the /memories directory itself\ntype,name,run,parse\n';
  assert.deepEqual(await node(directory, 'module', ESM), { status: 0, stdout, stderr: '' });
  assert.deepEqual(await node(directory, 'commonjs', CJS), { status: 0, stdout, stderr: '' });
  const installed = readdirSync(join(directory, 'node_modules', 'memdir'));
  for (const file of ['README.md', 'LICENSE', 'LICENSE-APACHE', 'LICENSE-MIT']) {
    assert.ok(installed.includes(file), file);
  }
});

test('it brings the pages of man and the completions', () => {
  const installed = join(project(), 'node_modules', 'memdir');
  const packed = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  assert.ok(packed.man.includes('./share/man/man1/memdir-grep.1'));
  const completions = ['bash-completion/completions/memdir', 'zsh/site-functions/_memdir'];
  const files = [...completions, 'fish/vendor_completions.d/memdir.fish'].map(
    (name) => `share/${name}`,
  );
  for (const file of [...packed.man, ...files]) {
    assert.ok(readFileSync(join(installed, file)).length > 100, file);
  }
});

test('it brings the program memdir', async () => {
  const directory = project();
  const installed = join(directory, 'node_modules', '.bin', 'memdir');
  const program = (...args: string[]) => run(installed, args, { cwd: directory });
  const version = { status: 0, stdout: `memdir ${manifest.version}\n`, stderr: '' };
  assert.deepEqual(await program('--version'), version);

  const large = 'a line of a large file\n'.repeat(200_000);
  const root = join(directory, 'memory', 'memories', 'notes');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'large.md'), large);
  const silent = { status: 0, stdout: '', stderr: '' };
  assert.deepEqual(await program('copy', 'memory', 'sqlite:agent.db'), silent);
  const tree = await program('tree', 'sqlite:agent.db', '--json');
  assert.equal(tree.status, 0, tree.stderr);
  const entries = tree.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  assert.equal(entries.length, 4);
  const stderr =
    'memdir: there is no memory at none: check the address, or create a memory there with `memdir put`\n';
  const missing = { status: 3, stdout: '', stderr };
  assert.deepEqual(await program('tree', 'none'), missing);

  // npm prints warnings on some machines, and passes on a non-blocking pipe.
  const show = ['memdir', 'show', 'sqlite:agent.db', '/memories/notes/large.md'];
  const shown = await run('npx', ['--offline', '--no-install', ...show], { cwd: directory });
  assert.equal(shown.status, 0, shown.stderr);
  assert.ok(shown.stdout === large, `${shown.stdout.length} of ${large.length}`);
});

test('where no binary fits it says so', async () => {
  const directory = project();
  const modules = join(directory, 'node_modules');
  const name = readdirSync(modules).find((one) => one.startsWith('memdir-')) ?? '';
  const binary = join(modules, name, `memdir.${name.slice('memdir-'.length)}.node`);

  rmSync(binary);
  writeFileSync(binary, 'not a library');
  const broken = await node(directory, 'module', ESM);
  assert.notEqual(broken.status, 0);
  assert.match(broken.stderr, /Error: The binary of memdir for \S+ cannot be loaded: \S/);

  renameSync(join(modules, name), join(directory, 'elsewhere'));
  const missing = await node(directory, 'module', ESM);
  assert.notEqual(missing.status, 0);
  assert.match(missing.stderr, new RegExp(`Error: memdir needs its package ${name}, which is not`));

  const windows = `Object.defineProperty(process, 'platform', { value: 'win32' });`;
  const there = await node(directory, 'commonjs', windows + CJS);
  assert.match(there.stderr, /Error: memdir needs its package memdir-win32-\w+-msvc, which is not/);

  // On a machine without a binary, WebAssembly would be used instead.
  rmSync(join(modules, 'memdir', 'memdir.wasm'), { force: true });
  const elsewhere = `Object.defineProperty(process, 'arch', { value: 'sparc' });`;
  const unknown = await node(directory, 'commonjs', elsewhere + CJS);
  assert.notEqual(unknown.status, 0);
  assert.match(
    unknown.stderr,
    /Error: memdir has no binary for \S+-sparc\S*, and memdir\.wasm is n/,
  );
});

/** A bundle of an ESM program, in the given format. */
async function bundle(directory: string, format: 'esm' | 'cjs'): Promise<string> {
  const outfile = join(directory, 'out', format === 'esm' ? 'agent.mjs' : 'agent.cjs');
  const contents = ESM.replace(/(const memory[^]*)$/, 'void (async () => {$1})();');
  const { warnings } = await build({
    stdin: { contents, resolveDir: directory },
    outfile,
    format,
    bundle: true,
    platform: 'node',
    logLevel: 'silent',
  });
  assert.deepEqual(warnings, []);
  return outfile;
}

test('what esbuild bundles without a setting runs, and says why where it finds no binary', async () => {
  const directory = project();
  const modules = join(directory, 'node_modules');
  const name = readdirSync(modules).find((one) => one.startsWith('memdir-')) ?? '';
  const binary = `memdir.${name.slice('memdir-'.length)}.node`;
  for (const format of ['esm', 'cjs'] as const) {
    const outfile = await bundle(directory, format);
    const ran = await run(process.execPath, [outfile], { cwd: directory });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /ToolError Cannot delete/);

    const place = temporary();
    const moved = join(place, basename(outfile));
    copyFileSync(outfile, moved);
    const lacking = await run(process.execPath, [moved], { cwd: place });
    assert.notEqual(lacking.status, 0);
    assert.match(
      lacking.stderr,
      /Error: memdir was bundled, .* --external:memdir;.*\/docs\/languages\/bundlers\.md/,
    );

    copyFileSync(join(modules, name, binary), join(place, binary));
    assert.equal((await run(process.execPath, [moved], { cwd: place })).status, 0);
  }
});

test('a bundle finds the binary where only memdir can, as with pnpm', async () => {
  const directory = project();
  const modules = join(directory, 'node_modules');
  const store = join(modules, '.store', 'node_modules');
  mkdirSync(store, { recursive: true });
  for (const name of readdirSync(modules).filter((one) => one.startsWith('memdir'))) {
    renameSync(join(modules, name), join(store, name));
  }
  symlinkSync(join(store, 'memdir'), join(modules, 'memdir'));
  for (const format of ['esm', 'cjs'] as const) {
    const outfile = await bundle(directory, format);
    const ran = await run(process.execPath, [outfile], { cwd: directory });
    assert.equal(ran.status, 0, ran.stderr);
  }
});

test('its types hold for strict users, in every kind of project', async () => {
  const directory = project('@anthropic-ai/sdk');
  const source = readFileSync(new URL('test/types.ts', PACKAGE), 'utf8');
  writeFileSync(join(directory, 'types.mts'), source);
  writeFileSync(join(directory, 'types.cts'), source);
  writeFileSync(join(directory, 'types.ts'), source);
  const strict = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--types',
    'node',
    '--typeRoots',
    fileURLToPath(new URL('node_modules/@types', PACKAGE)),
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--ignoreConfig',
  ];
  for (const args of [
    ['--module', 'nodenext', 'types.mts', 'types.cts'],
    // The libraries' own types are the ESM types that were checked before.
    ['--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck', 'types.ts'],
  ]) {
    const ran = await tool('typescript', 'bin/tsc', [...strict, ...args], directory);
    assert.deepEqual(ran, { status: 0, stdout: '', stderr: '' });
  }

  // A user without the SDK does not use its types, and must not need them.
  rmSync(join(directory, 'node_modules', '@anthropic-ai'), { recursive: true });
  writeFileSync(
    join(directory, 'alone.mts'),
    `import { Memory, type Reply } from 'memdir';
     export const reply: Promise<Reply> = new Memory('memory:').execute({});`,
  );
  const alone = ['--module', 'nodenext', 'alone.mts'];
  const ran = await tool('typescript', 'bin/tsc', [...strict, ...alone], directory);
  assert.deepEqual(ran, { status: 0, stdout: '', stderr: '' });
});

test('attw and publint have nothing to say', async () => {
  const tarball = tarballs().find((path) => path.endsWith(`memdir-${manifest.version}.tgz`)) ?? '';
  const cwd = fileURLToPath(PACKAGE);
  const attw = await tool('@arethetypeswrong/cli', 'dist/index.js', [tarball, '--no-emoji'], cwd);
  assert.equal(attw.status, 0, attw.stdout + attw.stderr);
  assert.match(attw.stdout, /No problems found/);
  const publint = await tool('publint', 'src/cli.js', [tarball, '--strict'], cwd);
  assert.equal(publint.status, 0, publint.stdout + publint.stderr);
  assert.match(publint.stdout, /All good!/);
});

test('everything that the types name is described', () => {
  for (const kind of ['esm', 'cjs']) {
    for (const file of readdirSync(new URL(`${kind}/`, PACKAGE))) {
      if (!file.endsWith('.d.ts')) {
        continue;
      }
      const lines = readFileSync(new URL(`${kind}/${file}`, PACKAGE), 'utf8').split('\n');
      lines.forEach((line, at) => {
        const named =
          /^(?:export (?:declare )?(?:interface|class|type|function) \w|    (?!private|readonly name)[\w]+\??[(:])/;
        if (named.test(line) && !/^export type \{|^    command: '/.test(line)) {
          assert.match(lines[at - 1] ?? '', /\*\/$/, `${kind}/${file}:${at + 1} ${line}`);
        }
      });
    }
  }
  assert.ok(require.resolve('memdir'));
});
