/** The places that a memory can be opened on: an address, a store, or several of them mounted into one tree. */

import native from '../native.cjs';
import type { Engine, Mounts, NativeStore } from '../native.cjs';

import { ConfigError, withOurErrors, withOurErrorsAsync } from './errors.js';
import { withoutEmbedder } from './embedder.js';
import { withoutHooks } from './hooks.js';
import type { MemoryOptions } from './options.js';
import { optionalMembers, problemOfStore, serve, shown } from './store.js';
import type { Store } from './store.js';

/** A store that can be viewed but not changed. {@link readOnly} creates it. */
export class ReadOnly {
  /** The store, or its address. */
  readonly store: string | Store;

  /** Use {@link readOnly}. */
  constructor(store: string | Store) {
    assertGiven(store);
    this.store = store;
  }
}

/**
 * A store, or the address of one: a directory such as `./memory`; `dir:./notes` for the files of
 * exactly that directory; `sqlite:agent.db`; `memory:`; your own store; any of these read-only.
 */
export type Place = string | Store | ReadOnly;

/**
 * A place, or several by the paths where they are mounted. One of these paths must be `/memories`.
 * For the others, a path without a scheme is that directory itself: with `./docs` at
 * `/memories/handbook`, the files of `./docs` are in `/memories/handbook`.
 */
export type Places = Place | { readonly [path: `/memories${string}`]: Place };

/**
 * Marks a store as read-only: it can be viewed but not changed. A directory or database must exist;
 * nothing is created or changed in it.
 *
 * @example
 * ```ts
 * new Memory({ '/memories': './memory', '/memories/handbook': readOnly('./docs') });
 * ```
 */
export function readOnly(store: string | Store): ReadOnly {
  return new ReadOnly(store);
}

/** The engine on the given place or places. `argument` is its name for messages. */
export function openEngine(places: Places, options?: MemoryOptions, argument?: string): Engine {
  return withOurErrors(() => engine(places, options, argument));
}

function engine(places: Places, options?: MemoryOptions, argument?: string): Engine {
  assertGiven(places, argument);
  if (places instanceof ReadOnly) {
    return engine(places.store, { ...options, readOnly: true }, argument);
  }
  if (typeof places === 'string') {
    return native.Engine.open(places, options);
  }
  if (places instanceof native.NativeStore) {
    return native.Engine.onNativeStore(places, options);
  }
  if (areMounts(places)) {
    return native.Engine.onNativeStore(openMounts(places, options), options);
  }
  assertStore(places, argument);
  return native.Engine.onJsStore(serve(places), optionalMembers(places), options);
}

/**
 * Opens one of memdir's own stores, or several stores mounted into one tree.
 *
 * It accepts a directory such as `./memory`, which is created if it does not exist, `sqlite:agent.db`
 * for an SQLite database, and `memory:` for a new store in this process. Mounts may include your own
 * stores.
 *
 * Share it between memories, write to it directly, or build on it. Opening is synchronous: do it once,
 * at the start. Only the options of a store apply (durability, locks, namespace, limits, encryption);
 * the others have no effect here.
 *
 * @throws {@link ConfigError} if the address or an option is wrong, {@link StoreError} if the store
 *   cannot be opened.
 */
export function openStore(places: Exclude<Places, Store>, given?: MemoryOptions): Store {
  return openNative(places, withoutEmbedder(withoutHooks(given)[0])[0]);
}

/** Any place as a store of the core. `argument` is its name for messages. */
export function openNative(
  places: Places,
  options?: MemoryOptions,
  argument?: string,
): NativeStore {
  return withOurErrors(() => store(places, options, argument));
}

function store(places: Places, options?: MemoryOptions, argument?: string): NativeStore {
  assertGiven(places, argument);
  if (typeof places === 'string') {
    return new native.NativeStore(places, options);
  }
  if (places instanceof native.NativeStore) {
    return places;
  }
  if (places instanceof ReadOnly) {
    return openMounts({ '/memories': places }, options);
  }
  if (areMounts(places)) {
    return openMounts(places, options);
  }
  assertStore(places, argument);
  return native.NativeStore.onJsStore(serve(places), optionalMembers(places));
}

/**
 * Changes the key of an encrypted store: encrypts every file again, and then removes the old key.
 * Resolves to the number of files that were encrypted.
 *
 * The store can be in use meanwhile: both keys open it until the end. If the call is interrupted, both
 * keys stay valid, and the next call continues.
 *
 * @param address The store's address.
 * @param oldKey The present key, and `newKey` the new one: in the forms of `encryptionKey`.
 */
export async function rekey(
  address: string,
  oldKey: Uint8Array | string,
  newKey: Uint8Array | string,
): Promise<number> {
  return withOurErrorsAsync(async () => native.NativeStore.beneath(address).rekey(oldKey, newKey));
}

function openMounts(places: Exclude<Places, Place>, options?: MemoryOptions): NativeStore {
  const mounts = new native.Mounts();
  for (const [path, place] of Object.entries(places)) {
    add(mounts, path, place, false);
  }
  return native.NativeStore.onMounts(mounts, options);
}

function add(mounts: Mounts, path: string, place: Place, readOnly: boolean): void {
  assertGiven(place);
  if (place instanceof ReadOnly) {
    add(mounts, path, place.store, true);
  } else if (typeof place === 'string') {
    mounts.addAddress(path, place, readOnly);
  } else if (place instanceof native.NativeStore) {
    mounts.addNativeStore(path, place, readOnly);
  } else {
    assertStore(place);
    mounts.addJsStore(path, serve(place), optionalMembers(place), readOnly);
  }
}

/**
 * Rejects values that are not a place. A missing address, such as an unset environment variable, does not select the
 * default directory: all users without an address would share it.
 */
function assertGiven(place: unknown, argument?: string): void {
  const isPlace = typeof place === 'string' || typeof place === 'function';
  if (!isPlace && (typeof place !== 'object' || place === null)) {
    const message = `${argument ?? 'store'} must be an address such as "./memory", or a Store, got ${shown(place)}`;
    throw new ConfigError(message, argument);
  }
}

/** Checks that it is a store of your own. `argument` is its name for messages, if it is not `store`. */
export function assertStore(store: unknown, argument?: string): asserts store is Store {
  const problem = problemOfStore(store, argument ?? 'store');
  if (problem !== undefined) {
    throw new ConfigError(problem, argument);
  }
}

/**
 * True if it is an object of mounts: each of its keys is a path, and no method of a store has such a name. An object with other
 * keys and without methods is one, too: the error then names the wrong path.
 */
function areMounts(places: object): places is Exclude<Places, Place> {
  const paths = Object.keys(places);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(places));
  const hasMethods = Object.values(places).some((value) => typeof value === 'function');
  return (
    paths.length > 0 && (paths.every((path) => path.startsWith('/')) || (isPlain && !hasMethods))
  );
}
