// The option `embedder`: searches by meaning, with an embedder that knows a few meanings.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Memory, memoryTool, searchTool } from 'memdir';
import type { Embedder, MemoryOptions } from 'memdir';

const isWasm = process.env['MEMDIR_WASM'] === '1';
const MEANINGS = [/car|automobile/g, /tea|drink/g];

const vectors = (texts: string[]): number[][] =>
  texts.map((text) => MEANINGS.map((meaning) => text.match(meaning)?.length ?? 0));

/** As WebAssembly an embedder cannot return a promise. */
const later = async (texts: string[]): Promise<number[][]> => {
  await new Promise((resolve) => setImmediate(resolve));
  return vectors(texts);
};

async function filled(embedder: Embedder, options: MemoryOptions = {}): Promise<Memory> {
  const memory = new Memory('memory:', { embedder, embedderName: 'meanings-1', ...options });
  await memory.write('/memories/garage.md', 'The car is old.\n');
  await memory.write('/memories/kitchen.md', 'Anna likes tea.\n');
  return memory;
}

async function paths(memory: Memory, query: string): Promise<string[]> {
  return (await memory.search(query)).hits.map((hit) => hit.path);
}

test('a search finds the meaning', async () => {
  const asked: [string[], boolean][] = [];
  const embedder: Embedder = (texts, { isQuery }) => {
    asked.push([texts, isQuery]);
    return vectors(texts);
  };
  const memory = await filled(embedder);
  assert.deepEqual(await paths(memory, 'an automobile'), ['/memories/garage.md']);
  assert.equal((await memory.search('drink')).wordsOnly, undefined);
  assert.deepEqual(asked, [
    [['an automobile'], true],
    [['garage.md\nThe car is old.', 'kitchen.md\nAnna likes tea.'], false],
    [['drink'], true],
  ]);
  assert.deepEqual(await paths(memory.actingAs('someone'), 'drink'), ['/memories/kitchen.md']);
});

test('vectors are arrays of any kind', async () => {
  for (const kind of [Float32Array, Float64Array, Int8Array]) {
    const memory = await filled((texts) => vectors(texts).map((vector) => kind.from(vector)));
    assert.deepEqual(await paths(memory, 'an automobile'), ['/memories/garage.md']);
  }
});

test('an embedder may return a promise', { skip: isWasm }, async () => {
  const memory = await filled(later);
  const found = await Promise.all([1, 2, 3].map(() => paths(memory, 'drink')));
  assert.deepEqual(
    found,
    [1, 2, 3].map(() => ['/memories/kitchen.md']),
  );
});

test('WebAssembly cannot await an embedder', { skip: !isWasm }, async () => {
  const { hits, wordsOnly } = await (await filled(later)).search('tea');
  assert.deepEqual(
    hits.map((hit) => hit.path),
    ['/memories/kitchen.md'],
  );
  assert.match(wordsOnly!, /which WebAssembly cannot await/);
});

test('the tool of a memory has its embedder', async () => {
  const tool = memoryTool('memory:', { embedder: vectors, embedderName: 'meanings-1' });
  await tool.memory.write('/memories/garage.md', 'The car is old.\n');
  const said = await searchTool(tool.memory).run({ query: 'an automobile' });
  assert.equal(said, '/memories/garage.md\n     1\tThe car is old.');
});

test('an embedder is a function with a name', () => {
  for (const wrong of [5, 'model', {}]) {
    const options = { embedder: wrong, embedderName: 'a' } as unknown as MemoryOptions;
    assert.throws(() => new Memory('memory:', options), {
      name: 'ConfigError',
      option: 'embedder',
    });
  }
  assert.throws(() => new Memory('memory:', { embedder: vectors }), {
    name: 'ConfigError',
    option: 'embedderName',
    message: 'embedderName is required with an embedder: its vectors are kept under this name',
  });
  new Memory('memory:', { embedder: null });
});

test('a failure of the embedder leaves the words', async () => {
  const failures: [Embedder, RegExp][] = [
    [
      () => {
        throw new Error('the service is away');
      },
      /^the embedder failed: the service is away$/,
    ],
    [
      () => {
        throw 'a text';
      },
      /^the embedder failed: 'a text'$/,
    ],
    [() => undefined as never, /it returned undefined and not an array of arrays of numbers$/],
    [() => [5] as never, /it returned 5 as a vector, and not an array of numbers$/],
    [() => [], /it returned 0 vectors for 1 text$/],
    [() => [['a']] as never, isWasm ? /^the embedder failed: / : /a vector has the number NaN$/],
  ];
  if (!isWasm) {
    failures.push([() => Promise.reject(new Error('away')), /^the embedder failed: away$/]);
  }
  for (const [embedder, reason] of failures) {
    const memory = await filled(embedder);
    const { hits, wordsOnly } = await memory.search('tea');
    assert.deepEqual(
      hits.map((hit) => hit.path),
      ['/memories/kitchen.md'],
    );
    assert.match(wordsOnly!, reason);
    const { content, isError } = await memory.executeSearch({ query: 'tea' });
    assert.ok(!isError && content.endsWith('Other words may find more.'), content);
    assert.doesNotMatch(content, /away/);
  }
});

test('a slow embedder leaves the words', { skip: isWasm }, async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow: Embedder = async (texts) => {
    await gate;
    return vectors(texts);
  };
  const memory = await filled(slow, { embedderTimeout: 50 });
  const { hits, wordsOnly } = await memory.search('tea');
  assert.equal(hits.length, 1);
  assert.equal(wordsOnly, 'the embedder took more than 0.05 seconds');
  open();
  while ((await memory.search('drink')).wordsOnly !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test('an embedder may use its memory', { skip: isWasm }, async () => {
  const embedder: Embedder = async (texts) => {
    await memory.write('/memories/log.md', `${texts.length}\n`);
    assert.equal(await memory.exists('/memories/kitchen.md'), true);
    return vectors(texts);
  };
  const memory = await filled(embedder);
  assert.deepEqual(await paths(memory, 'drink'), ['/memories/kitchen.md']);
});
