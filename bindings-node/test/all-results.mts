// Results of every type, from the methods that return them, and assertions about their types
// (core/results.json).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { HistoryError, Memory, check, copy, openStore } from 'memdir';
import type { CopyProgress, Event, ExpiryProgress, Store, SyncMerge, SyncProgress } from 'memdir';

import { MapStore } from './stores.mjs';
import { PROJECT } from './support.mjs';

interface Schema {
  type?: string | string[];
  format?: string;
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
}

const table = readFileSync(new URL('core/results.json', PROJECT), 'utf8');

/** The types of all results. */
export const TYPES = (JSON.parse(table) as { types: Record<string, Schema> }).types;

/** The fields and enum words that occurred, such as `Version.oldPath` and `Operation`. */
export type Seen = Set<string>;

/** Asserts that a value has the type, and consists of plain objects. */
export function assertIs(name: string, value: unknown, seen: Seen): void {
  matches({ $ref: `#/$defs/${name}` }, value, name, seen);
  const copied: unknown = structuredClone(value);
  assert.ok(isDeepStrictEqual(copied, value), name);
  assert.equal(JSON.stringify(copied), JSON.stringify(value));
}

function matches(schema: Schema, value: unknown, at: string, seen: Seen): void {
  const { $ref, anyOf, items, oneOf } = schema;
  if (anyOf) {
    return matches(
      anyOf.find(({ type }) => type !== 'null')!,
      value,
      at,
      seen,
    );
  }
  if ($ref) {
    const name = $ref.split('/').at(-1)!;
    seen.add(name);
    return matches(TYPES[name]!, value, name, seen);
  }
  if (schema.properties) {
    return isRecord(schema.properties, value, at, seen);
  }
  const words = schema.enum ?? oneOf?.flatMap((one) => one.enum ?? [one.const]);
  if (words) {
    return assert.ok(words.includes(value), `${at}: ${String(value)}`);
  }
  const type = [schema.type].flat().find((one) => one !== 'null');
  if (type === 'array') {
    assert.equal(Object.getPrototypeOf(value), Array.prototype, at);
    return (value as unknown[]).forEach((item) => matches(items!, item, at, seen));
  }
  if (schema.format === 'date-time') {
    assert.equal(Object.getPrototypeOf(value), Date.prototype, at);
    const millis = (value as Date).getTime();
    return assert.ok(Number.isInteger(millis), `${at}: ${millis}`);
  }
  const kind = type === 'integer' ? 'number' : type;
  assert.equal(typeof value, kind, at);
  assert.ok(type !== 'integer' || Number.isSafeInteger(value), `${at}: ${String(value)}`);
}

function isRecord(fields: Record<string, Schema>, value: unknown, at: string, seen: Seen): void {
  assert.equal(Object.getPrototypeOf(value), Object.prototype, at);
  const left = new Map(Object.entries(value as object));
  for (const [name, schema] of Object.entries(fields)) {
    const ours = camel(name);
    const isOptional = [schema.type].flat().includes('null') || schema.anyOf;
    if (left.has(ours) || !isOptional) {
      matches(schema, left.get(ours), `${at}.${ours}`, seen);
      seen.add(`${at}.${ours}`);
    }
    left.delete(ours);
  }
  // A field without a value is absent, and not `undefined`.
  assert.deepEqual([...left.keys()], [], at);
}

/** A field's name in TypeScript. */
export function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Results of every type that a store in the process can return, each with the name of its type. */
export async function allResults(): Promise<[name: string, result: unknown][]> {
  const results: [string, unknown][] = [];
  const add = (name: string, found: unknown) => {
    for (const result of [found].flat()) {
      results.push([name, result]);
    }
  };
  const [tea, pot, code] = ['/memories/tea.md', '/memories/pots/pot.md', '/memories/code.md'];
  const store = openStore('memory:');
  const events: Event[] = [];
  const memory = new Memory(store, {
    history: true,
    recordAccess: true,
    eventContent: true,
    sensitiveRules: { code: 'blue-[0-9]+' },
    after: (event) => void events.push(event),
  });
  const watch = memory.watch();
  await watch.changes(0);

  await memory.create({ path: tea, file_text: 'green\nblack\nwater\n' });
  await memory.execute({ command: 'view', path: tea, view_range: ['1', '2'] });
  await memory.execute({ command: 'view', path: 'elsewhere' });
  await memory.execute({ command: 'none' });
  const input = { command: 'view', path: tea };
  const block = JSON.stringify({ type: 'tool_use', id: 'toolu_1', name: 'memory', input });
  await memory.actingAs('Ann').execute(block);
  await memory.actingAs('Ann').str_replace({ path: tea, old_str: 'green', new_str: 'white' });
  await memory.actingAs('Ben').str_replace({ path: tea, old_str: 'water', new_str: 'milk' });
  await memory.create({ path: pot, file_text: 'a pot\n' });
  await memory.rename({ old_path: '/memories/pots', new_path: '/memories/tools' });
  await memory.write(code, 'blue-5\n');
  await memory.write(code, 'none\n');
  add('Event', events);
  add('Change', await watch.changes(0));
  watch.close();

  add('GrepMatch', await memory.grep('pot', { limit: 2 }));
  add('HistoryMatch', await memory.grepHistory('pot'));
  add('HistoryMatch', await memory.grepHistory('green'));
  add('PastFile', await memory.filesAt(new Date()));
  add('BlamedLine', await memory.actingAs('Eve').blame(tea));
  add('Stats', await memory.stats());
  await memory.write('/memories/more.md', 'a\nblue-7\n');
  const searched = await memory.search('pot');
  add('SearchResults', searched);
  // An embedder that fails.
  const failing = new Memory('memory:', { embedder: () => [], embedderName: 'none' });
  add('SearchResults', await failing.search('pot'));
  add('SearchHit', searched.hits[0]);
  add('SearchPassage', searched.hits[0]?.passages[0]);
  add('SearchMatch', searched.hits[0]?.passages[0]?.matches[0]);
  add('SensitiveMatch', await memory.findSensitive());

  const [ben, ann] = (await memory.history(tea)).map(({ change }) => change);
  await assert.rejects(memory.undo({ change: ann! }), (error) => {
    assert.ok(error instanceof HistoryError);
    add('Conflict', [...error.conflicts]);
    return error.conflicts.length > 0;
  });
  add('Restored', await memory.undo({ change: ann! }, { skipConflicts: true }));
  add('Restored', await memory.undo({ change: ann! }, { merge: true }));
  add('Restored', await memory.undo({ since: new Date(0) }, { dryRun: true }));
  const [renamed] = await memory.history('/memories/tools');
  add('Restored', await memory.undo({ change: renamed!.change }));
  add('RedactedText', await memory.redactText('blue-5', 'a secret'));
  add('RedactedText', await memory.redactText('pot', 'a name', { dryRun: true }));
  add('Version', await memory.history());
  assert.equal(await memory.redact(ben!, 'no more'), (await memory.history())[0]!.change);

  add('Checked', await check(store));
  const read = () => {
    throw new RangeError('broken');
  };
  const broken = Object.assign(new MapStore(), { read });
  broken.write('/memories/a', Buffer.from('x'), false);
  add('Checked', await check(broken as Store));
  const copying: CopyProgress[] = [];
  const onProgress = (progress: CopyProgress) => void copying.push(progress);
  add('Copied', await copy(store, openStore('memory:'), { onProgress }));
  add('CopyProgress', copying);
  const expiring: ExpiryProgress[] = [];
  await new Promise((resolve) => setTimeout(resolve, 5));
  const watched = (progress: ExpiryProgress) => void expiring.push(progress);
  add('Expired', await memory.expire(0, { dryRun: true, onProgress: watched }));
  add('ExpiryProgress', expiring);
  add('Erased', await memory.erase({ dryRun: true }));
  for (const [name, synced] of await syncs()) {
    add(name, synced);
  }
  return results;
}

/** Results of syncs, in which each field of their types occurs. */
async function syncs(): Promise<[name: string, result: unknown][]> {
  const [tea, pot] = ['/memories/tea.md', '/memories/pot.md'];
  const [one, other] = [1, 2].map(() => new Memory('memory:', { history: true })) as [
    Memory,
    Memory,
  ];
  await one.write(tea, 'green\nblack\nwater\n');
  await one.write(pot, 'a pot\n');
  const first = await one.sync(other);
  await one.write(tea, 'white\nblack\nwater\n');
  await other.write(tea, 'red\nblack\nwater\n');
  await one.rename({ old_path: pot, new_path: '/memories/jug.md' });
  await one.write('/memories/large.md', 'x'.repeat(100));
  const [progress, merges]: [SyncProgress[], SyncMerge[]] = [[], []];
  const onProgress = (at: SyncProgress) => void progress.push(at);
  const onConflict = (file: SyncMerge) => void merges.push(file);
  await one.sync(other, { dryRun: true, onConflict });
  const second = await one.sync(other, { maxFileBytes: 99, onProgress });
  const [version] = (await one.history(tea)).slice(-1);
  await one.redact(version!.id, 'wrong');
  await one.write(pot, 'another\n');
  const [named] = (await one.sync(other)).redactions;
  const [redacted] = (await one.sync(other, { redactions: true })).redactions;
  const [change, conflict, leftOut] = [second.changes[0], second.conflicts[0], second.leftOut[0]];
  return [
    ['Synced', [first, second]],
    ['SyncChange', change],
    ['SyncConflict', conflict],
    ['SyncLeftOut', leftOut],
    ['SyncMerge', merges],
    ['SyncRedaction', [named, redacted]],
    ['SyncProgress', progress],
    ['Version', await other.history()],
  ];
}
