// The project's conformance cases (tests/README.md), on one of memdir's stores and on one that is written in JavaScript.
// The core runs them on all of its stores.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { HookError, Memory, Deny, openStore } from 'memdir';
import type { Before, Event, MemoryOptions, Store } from 'memdir';

import { tableStore } from './stores.mjs';
import { PROJECT, temporary } from './support.mjs';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Tree = Map<string, Buffer | null>;

interface Call {
  input: Json;
  content: Json;
  is_error: boolean;
  kind?: string;
  event?: Record<string, Json>;
  expires?: boolean;
}

interface Rule {
  when: Record<string, Json>;
  deny?: Json;
  replace?: [Json, Json];
  fail?: Json;
}

/** A step that is not a tool call. */
interface Upkeep {
  age?: Record<string, number>;
  expire?: { older_than: number; dry_run?: boolean };
  removed?: string[];
  refused?: boolean;
}

/** A write by another program. */
interface Meanwhile {
  meanwhile: Record<string, Json>;
}

interface Case {
  name: string;
  rule: string;
  options?: Record<string, unknown>;
  hooks?: { before: Rule[] };
  given?: Record<string, Json>;
  steps: (Call | Meanwhile | Upkeep)[];
  then?: Record<string, Json>;
}

/** The text that `value` contains or describes. */
function made(value: Json | undefined): string {
  if (typeof value === 'string') {
    return value;
  }
  assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value), `${value}`);
  switch (Object.keys(value).sort().join()) {
    case '$text':
      return (value['$text'] as Json[]).map(made).join('');
    case '$repeat,$times':
      return (value['$repeat'] as string).repeat(value['$times'] as number);
    case '$count,$each': {
      const [first, last] = value['$count'] as [number, number];
      const each = value['$each'] as string;
      return Array.from({ length: last - first + 1 }, (_, at) =>
        each
          .replaceAll('{n}', String(first + at))
          .replaceAll('{n:6}', String(first + at).padStart(6)),
      ).join('');
    }
    default:
      throw new Error(`${JSON.stringify(value)} describes no text`);
  }
}

/** `value` with every description of a text in it replaced by the text. */
function expanded(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(expanded);
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (Object.keys(value).some((key) => key.startsWith('$'))) {
    return made(value);
  }
  // `fromEntries` defines fields, even one named `__proto__`; an assignment would not.
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, expanded(field)]));
}

/** The content of a reply: a text, or the block of an image. */
function answer(value: Json): Json {
  const image = value as { $image?: string; $base64?: string } | null;
  if (!image?.$image) {
    return made(value);
  }
  const source = { type: 'base64', media_type: image.$image, data: image.$base64! };
  return [{ type: 'image', source }];
}

function tree(described: Record<string, Json> = {}): Tree {
  const content = (value: Json): Buffer | null => {
    if (value === null) {
      return null;
    }
    const base64 = typeof value === 'object' && !Array.isArray(value) && value['$base64'];
    return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.from(made(value));
  };
  return new Map(Object.entries(described).map(([path, value]) => [path, content(value)]));
}

async function fill(store: Store, given: Tree, overwrite = false): Promise<void> {
  for (const [path, content] of given) {
    if (content) {
      await store.write(path, content, overwrite);
    } else {
      await store.write(`${path}/inside`, Buffer.alloc(0), overwrite);
      await store.delete(`${path}/inside`);
    }
  }
}

async function all(store: Store, directory = '/memories', found: Tree = new Map()): Promise<Tree> {
  const entries = await store.list(directory);
  if (entries.length === 0 && directory !== '/memories') {
    found.set(directory, null);
  }
  for (const { path, size } of entries) {
    if (size === undefined) {
      await all(store, path, found);
    } else {
      found.set(path, Buffer.from(await store.read(path)));
    }
  }
  return found;
}

/** A tree in a fixed order, to be compared and printed. */
function shown(tree: Tree): [string, string | null][] {
  return [...tree]
    .map(([path, content]): [string, string | null] => [
      path,
      content && content.toString('latin1'),
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function camelCase(options: Record<string, unknown> = {}): MemoryOptions {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      // The cases use seconds.
      name === 'expire_after' ? (value as number) * 1000 : value,
    ]),
  );
}

/** The hook that a case describes. */
function following(rules: Rule[]): Before {
  return async (command) => {
    const fields = command as unknown as Record<string, Json>;
    const rule = rules.find(({ when }) =>
      Object.entries(when).every(([name, wanted]) =>
        isDeepStrictEqual(fields[name], expanded(wanted)),
      ),
    );
    // Other work runs in between, as with a hook that asks a person.
    await new Promise(setImmediate);
    if (rule?.deny !== undefined) {
      throw new Deny(made(rule.deny));
    }
    if (rule?.fail !== undefined) {
      throw new RangeError(made(rule.fail));
    }
    if (rule?.replace) {
      const [old, instead] = rule.replace.map(made) as [string, string];
      const name = ['file_text', 'new_str', 'insert_text'].find((text) => text in fields);
      assert.ok(name);
      return { [name]: (fields[name] as string).replaceAll(old, () => instead) };
    }
    return undefined;
  };
}

/** An event without its duration, its session and empty fields, with the field names of the cases. */
function told({ duration, newPath, session, ...event }: Event): Record<string, unknown> {
  assert.ok(duration >= 0);
  return saying({ ...event, new_path: newPath });
}

function saying(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value && !isDeepStrictEqual(value, [])),
  );
}

/** Runs a step that is not a tool call. */
async function upkeep(step: Upkeep, store: Store, memory: Memory): Promise<void> {
  if (step.age) {
    for (const [path, seconds] of Object.entries(step.age)) {
      await store.setModified!(path, Date.now() - seconds * 1000);
      await store.recordAccess!(path, Date.now() - seconds * 1000);
    }
    return;
  }
  assert.ok(step.expire);
  const { older_than, dry_run } = step.expire;
  const expiring = memory.expire(older_than * 1000, { dryRun: dry_run });
  if (step.refused) {
    await assert.rejects(expiring, /recordAccess/);
  } else {
    const removed = (await expiring).map(({ path }) => path);
    assert.deepEqual(removed, step.removed);
  }
}

async function runCase(found: Case, store: Store, secret: string | undefined): Promise<void> {
  const given = tree(found.given);
  await fill(store, given);
  let before = shown(await all(store));
  assert.deepEqual(before, shown(given), 'what is given is not what the store holds');

  const events: Event[] = [];
  const hooks = found.hooks && {
    before: following(found.hooks.before),
    after: (event: Event) => events.push(event),
  };
  const memory = new Memory(store, { ...camelCase(found.options), ...hooks });
  for (const step of found.steps) {
    if ('meanwhile' in step) {
      await fill(store, tree(step.meanwhile), true);
      before = shown(await all(store));
      continue;
    }
    if (!('input' in step)) {
      await upkeep(step, store, memory);
      before = shown(await all(store));
      continue;
    }
    const input = expanded(step.input);
    // A string is treated as the JSON text of an input.
    const { cause, ...reply } = await memory.execute(
      typeof input === 'string' ? JSON.stringify(input) : input,
    );
    assert.ok(step.event?.['outcome'] === 'failed' ? cause instanceof HookError : !cause);
    const { kind, ...answered } = reply;
    assert.deepEqual(answered, { content: answer(step.content), isError: step.is_error });
    assert.equal(kind !== undefined, step.is_error);
    if (step.kind !== undefined) {
      assert.equal(kind, step.kind);
    }
    assert.deepEqual(
      events.splice(0).map(told),
      step.event ? [saying(expanded(step.event) as Record<string, Json>)] : [],
    );
    const said = JSON.stringify(reply.content);
    assert.ok(!secret || !said.includes(secret), 'the reply says where the store is');
    const after = shown(await all(store));
    const command = (input as { command?: unknown } | null)?.command;
    if ((step.is_error || command === 'view') && !step.expires) {
      assert.deepEqual(after, before, 'it changed something');
    }
    before = after;
  }
  if (found.then) {
    assert.deepEqual(before, shown(tree(found.then)), 'after the last step');
  }
}

async function runAll(
  runner: string,
  open: () => { store: Store; secret?: string },
): Promise<void> {
  const counts = new URL(`target/conformance/${runner}`, PROJECT);
  mkdirSync(new URL('.', counts), { recursive: true });
  rmSync(counts, { force: true });
  let [cases, steps] = [0, 0];
  const directory = new URL('tests/cases/', PROJECT);
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const parsed = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as { cases: Case[] };
    for (const found of parsed.cases) {
      const { store, secret } = open();
      try {
        await runCase(found, store, secret);
      } catch (error) {
        (error as Error).message = `${file}, case "${found.name}": ${(error as Error).message}`;
        throw error;
      }
      cases += 1;
      steps += found.steps.length;
    }
  }
  assert.ok(cases > 0);
  writeFileSync(counts, `${cases} ${steps}\n`);
  console.log(`conformance: ${runner}: ${cases} cases, ${steps} steps`);
}

const isWasm = process.env['MEMDIR_WASM'] === '1';

test('every case as WebAssembly', { skip: !isWasm && 'make test-wasm runs it' }, async () => {
  await runAll('node-wasm', () => ({ store: openStore('memory:') }));
});

const skip = isWasm && 'WebAssembly has the stores in the process';

test('every case on the local directory', { skip }, async () => {
  const base = temporary();
  await runAll('node-local', () => {
    const secret = mkdtempSync(join(base, 'case-'));
    return { store: openStore(secret, { durability: 'relaxed' }), secret };
  });
});

// This store answers asynchronously, as most do. A store that answers synchronously is tested in store.test.mts.
test('every case on the example of a store of one’s own', { skip }, async () => {
  await runAll('node-table', () => ({ store: tableStore() }));
});
