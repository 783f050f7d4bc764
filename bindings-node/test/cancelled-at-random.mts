// A program that cancels calls at random moments, while hooks and a store may wait forever. It checks that each reply is
// true, and that the process ends by itself. Usage: node cancelled-at-random.mjs CALLS SEED HISTORY

import { Deny, Memory, check } from 'memdir';
import type { CallContext, Edit, Entry, MemoryOptions } from 'memdir';

import { MapStore } from './stores.mjs';

const [calls, seed, history] = process.argv.slice(2).map((argument) => JSON.parse(argument));

/** A random number from 0 to 1, the same for the same seed (mulberry32). */
let state: number = seed;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const isOneIn = (count: number) => random() * count < 1;

/** While this is set, no call waits forever, and nothing fails. */
let calm = true;
/** The number of current pauses that will end. */
let pauses = 0;

/** Waits briefly or forever, or until the signal is aborted, and then throws the abort reason. */
async function pause({ signal }: CallContext): Promise<void> {
  if (calm) {
    return;
  }
  const isEndless = isOneIn(60);
  const listens = isOneIn(3);
  pauses += isEndless ? 0 : 1;
  let timer: NodeJS.Timeout | undefined;
  let end: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = isEndless ? undefined : setTimeout(resolve, random() * 2);
      if (listens) {
        end = () => reject(signal.reason);
        signal.addEventListener('abort', end);
      }
    });
  } finally {
    pauses -= isEndless ? 0 : 1;
    clearTimeout(timer);
    signal.removeEventListener('abort', end!);
  }
  if (isOneIn(100)) {
    throw new RangeError('erratic');
  }
}

/** Answers late, or never, or fails, before or after it has done its work. */
class ErraticStore {
  readonly map = new MapStore();

  async #slowly<T>(call: CallContext, work: () => T): Promise<T> {
    await pause(call);
    const done = work();
    await pause(call);
    return done;
  }

  read(path: string, call: CallContext): Promise<Uint8Array> {
    return this.#slowly(call, () => this.map.read(path));
  }

  list(path: string, call: CallContext): Promise<Entry[]> {
    return this.#slowly(call, () => this.map.list(path));
  }

  write(path: string, content: Uint8Array, overwrite: boolean, call: CallContext): Promise<void> {
    return this.#slowly(call, () => this.map.write(path, content, overwrite));
  }

  update(path: string, edit: Edit, call: CallContext): Promise<void> {
    return this.#slowly(call, () => this.map.update(path, edit));
  }

  delete(path: string, call: CallContext): Promise<void> {
    return this.#slowly(call, () => this.map.delete(path));
  }

  rename(from: string, to: string, call: CallContext): Promise<void> {
    return this.#slowly(call, () => this.map.rename(from, to));
  }
}

const store = new ErraticStore();

function content(path: string): string | undefined {
  try {
    return Buffer.from(store.map.read(path)).toString();
  } catch {
    return undefined;
  }
}

/**
 * For each command, its input, and a check that its work on the file `path` is done. The file held `old`
 * before, unless the command creates it.
 */
const COMMANDS: Record<string, [(path: string) => object, (path: string) => boolean]> = {
  view: [(path) => ({ path }), () => false],
  create: [(path) => ({ path, file_text: 'new' }), (path) => content(path) === 'new'],
  insert: [
    (path) => ({ path, insert_line: 0, insert_text: 'new' }),
    (path) => content(path) === 'new\nold\n',
  ],
  delete: [(path) => ({ path }), (path) => content(path) === undefined],
  rename: [
    (path) => ({ old_path: path, new_path: `${path}-moved` }),
    (path) => content(path) === undefined && content(`${path}-moved`) === 'old\n',
  ],
};
const NAMES = Object.keys(COMMANDS);

const hooks: MemoryOptions = {
  before: async (_, call) => {
    if (isOneIn(2)) {
      await pause(call);
    }
    if (isOneIn(50)) {
      throw new Deny('Not today. Nothing was changed.');
    }
  },
  after: (_, call) => (isOneIn(2) ? pause(call) : undefined),
};
const memory = new Memory(store, { history });
const hooked = new Memory(store, { history, ...hooks });
const tally = { changed: 0, unchanged: 0, unknown: 0 };
const aborted = { before: 0, meanwhile: 0, after: 0 };

function effect(name: string, said: string, isError: boolean): keyof typeof tally {
  if (!isError) {
    return name === 'view' ? 'unchanged' : 'changed';
  }
  if (/may or may not have been saved/.test(said)) {
    return 'unknown';
  }
  if (/Nothing was changed/.test(said) || (name === 'view' && /Try again later/.test(said))) {
    return 'unchanged';
  }
  throw new Error(`${name}: ${said}`);
}

async function call(path: string, name: string): Promise<() => void> {
  const controller = new AbortController();
  const { signal } = controller;
  let when: keyof typeof aborted = 'before';
  const abort = () => {
    if (!signal.aborted) {
      aborted[when] += 1;
      controller.abort();
    }
  };
  if (isOneIn(20)) {
    abort();
  } else if (isOneIn(2)) {
    setTimeout(abort, random() * 40);
  }
  // Aborted at the latest when the call has ended, or when no call makes progress.
  aborts.push(abort);
  when = 'meanwhile';
  const input = { command: name, ...COMMANDS[name]![0](path) };
  const on = isOneIn(2) ? hooked : memory;
  const { content: said, isError } = await on.execute(input, { signal });
  when = 'after';
  abort();
  // The check runs later, when the store has finished its late work.
  return () => {
    const reported = effect(name, String(said), isError);
    tally[reported] += 1;
    const isChanged = COMMANDS[name]![1](path);
    const isTrue =
      reported === 'unknown' || name === 'view' || (reported === 'changed') === isChanged;
    if (!isTrue) {
      throw new Error(`${name} ${path}: ${said}, and the file holds ${content(path)}`);
    }
  };
}

/** Functions that abort the calls of a batch. */
const aborts: (() => void)[] = [];

/** Waits until all remaining calls wait forever. */
async function untilIdle(): Promise<void> {
  for (let idle = 0; idle < 20; idle += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (pauses > 0) {
      idle = 0;
    }
  }
}

const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
// The hook `after` fails in some calls.
process.on('warning', ({ name, message }) => name === 'MemdirWarning' || unhandled.push(message));

const AT_ONCE = 100;
// On a busy machine all calls at once may be aborted before they begin.
const isWanting = () =>
  [tally.changed, tally.unchanged, ...Object.values(aborted)].includes(0) ||
  (!history && tally.unknown === 0);
for (
  let begun = 0;
  begun < calls || (begun < calls + 20 * AT_ONCE && isWanting());
  begun += AT_ONCE
) {
  calm = true;
  const named = Array.from({ length: AT_ONCE }, (_, n) => {
    const name = NAMES[(begun + n) % NAMES.length]!;
    return [`/memories/${begun + n}`, name] as const;
  });
  for (const [path] of named.filter(([, name]) => name !== 'create')) {
    await memory.create({ path, file_text: 'old\n' });
  }
  calm = false;
  const called = named.map(([path, name]) => call(path, name));
  await untilIdle();
  aborts.splice(0).forEach((abort) => abort());
  const checks = await Promise.all(called);
  // A write that a call gave up may still be executed.
  await untilIdle();
  checks.forEach((isTrue) => isTrue());
}
calm = true;

const { problems } = await check(store);
const there = (await new Memory(store).list('/memories')).map(({ path }) => path);
let known = there;
if (history) {
  // A new memory reads the files to resolve changes whose result was unknown.
  const fresh = new Memory(store, { history });
  known = (await fresh.filesAt(new Date(Date.now() + 1000))).map(({ path }) => path);
  for (const path of there) {
    const [newest] = await fresh.history(path, { limit: 1 });
    const held = newest && Buffer.from(await fresh.readVersion(newest.id)).toString();
    if (held !== content(path)) {
      throw new Error(`${path} holds ${content(path)}, and its newest version ${held}`);
    }
  }
}
const isSame = JSON.stringify(known.sort()) === JSON.stringify(there.sort());
console.log(JSON.stringify({ tally, aborted, problems, isSame, unhandled: unhandled.map(String) }));
