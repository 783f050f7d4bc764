/** The interface {@link Store}, and its errors. */

import { inspect } from 'node:util';

import type { StoreRequest } from '../native.cjs';
import type { ErrorKind } from '../results.cjs';

import { contextOf } from './cancellation.js';
import type { CallContext } from './cancellation.js';

/** An entry of a directory. */
export interface Entry {
  /** The whole path, from `/memories` on. */
  path: string;
  /** A file's length in bytes; a directory has none. */
  size?: number | undefined;
  /**
   * When a file was last written, in milliseconds since 1970, like `mtimeMs` of `node:fs`; exact to
   * the microsecond. Absent for a directory, or if the store keeps no times.
   */
  modified?: number | undefined;
  /** The last recorded access of a file, likewise. Also absent if the store does not include it in its listings. */
  accessed?: number | undefined;
}

/** Returns the new content of a file; `null` leaves the file as it is. */
export type Edit = (content: Uint8Array) => Uint8Array | null | undefined;

/**
 * A place that keeps files and directories under `/memories`. Implement it to keep memories in a storage system of your own. Every
 * method may return a promise.
 *
 * Paths are valid and canonical (`/memories/notes.md`); the root always exists. Each method either succeeds completely, or throws and
 * changes nothing. Throw an error with the `code` that Node's `fs` uses, such as a {@link StoreError}. Any other error means that the
 * store is broken, and the model reads only that the memory is out of reach. You find that error as the `cause` of the reply's
 * `cause`. If a method returns something else than it should, that is a `TypeError` that says so.
 *
 * The last argument of each method is the call that it works for, with its signal. A cancelled call does not wait for the store: a
 * read ends at once, and the reply to a write says that the change may or may not have been saved. A store that passes the signal on
 * (to `fetch`, to a driver) also ends its own work early, and may throw the resulting error. In a cancelled call `edit` returns
 * `null`.
 */
export interface Store {
  /** The whole content of a file. Throws `ENOENT`, `EISDIR`. */
  read(path: string, call?: CallContext): Uint8Array | Promise<Uint8Array>;

  /**
   * The entries of a directory, one level deep, in any order, hidden ones included. Throws
   * `ENOENT`, `ENOTDIR`.
   */
  list(path: string, call?: CallContext): Entry[] | Promise<Entry[]>;

  /**
   * A file's content, or a directory's entries `depth` levels deep, without hidden ones (names that
   * start with a dot, and `node_modules`) and everything below them. Throws `ENOENT`.
   *
   * For a store that can answer this in one round trip. Without it, memdir calls `read` and `list`.
   */
  open?(
    path: string,
    depth: number,
    call?: CallContext,
  ): Uint8Array | Entry[] | Promise<Uint8Array | Entry[]>;

  /**
   * Writes a whole file, and makes missing parents. Throws `EEXIST` if something is already there,
   * unless it is a file and `overwrite` is true: then its content is replaced. If two calls without
   * `overwrite` come at once, exactly one succeeds. Throws `ENOTDIR` if a parent is a file.
   */
  write(
    path: string,
    content: Uint8Array,
    overwrite: boolean,
    call?: CallContext,
  ): void | Promise<void>;

  /**
   * Changes a file atomically: reads it, calls `edit` with the content, and writes the result,
   * without another writer in between. If there was one, the store calls `edit` again with the
   * newer content; the last call counts. Throws `ENOENT`, `EISDIR`.
   *
   * `edit` returns at once, so it can be called within a transaction. Do not call it after the
   * method has returned or its promise is settled.
   */
  update(path: string, edit: Edit, call?: CallContext): void | Promise<void>;

  /** Deletes a file, or a directory with everything in it. Throws `ENOENT`. */
  delete(path: string, call?: CallContext): void | Promise<void>;

  /**
   * Moves a file or directory, and makes the destination's missing parents. Never overwrites.
   *
   * Throws, in this order:
   *
   * - `ENOENT` if `from` does not exist,
   * - `EEXIST` if `to` exists, also if both are the same,
   * - `EINVAL` if `to` is below the directory `from`,
   * - `ENOTDIR` if a parent of `to` is a file,
   * - `ENAMETOOLONG` if a path below `from` would have more than 64 levels below `/memories` or more
   *   than 4,096 bytes.
   */
  rename(from: string, to: string, call?: CallContext): void | Promise<void>;

  /**
   * When a file was last written, as in an {@link Entry}. Throws `ENOENT`, `EISDIR`.
   *
   * For a store that knows this without listing the file's directory. Without it, memdir calls
   * `list`.
   */
  modified?(path: string, call?: CallContext): number | undefined | Promise<number | undefined>;

  /**
   * Sets when a file was last written, for a copy that keeps its original's time. Throws `ENOENT`,
   * `EISDIR`.
   *
   * For a store that keeps times. Without it, copies have the time at which they were made.
   */
  setModified?(path: string, time: number, call?: CallContext): void | Promise<void>;

  /**
   * True if the store treats names that differ only in case, or in how letters are composed, as the
   * same name. File systems of macOS and Windows do. A memory then compares paths in the same way,
   * so another spelling cannot evade a policy. Default: false. The memory reads this once, when it
   * is opened.
   */
  readonly foldsCase?: boolean | undefined;

  /**
   * Records that a file was accessed at `time`. This is not a change of the file, and the time
   * moves with the file. Throws `ENOENT`, `EISDIR`.
   *
   * Implement it, together with `deleteUnused`, if the store keeps times of access, so unused files
   * can expire. Its listings then have the `accessed` of each file.
   */
  recordAccess?(path: string, time: number, call?: CallContext): void | Promise<void>;

  /**
   * Deletes a file if it was neither written nor accessed at `since` or later, and returns whether
   * it did. The check and the deletion are one atomic step. Returns false also if there is no file
   * at the path.
   */
  deleteUnused?(path: string, since: number, call?: CallContext): boolean | Promise<boolean>;
}

/**
 * The codes of the conditions that a {@link Store} can report, as in Node. `EAGAIN` means that
 * other writers kept it locked for too long, `ECANCELED` that the call was cancelled; in both cases
 * nothing was changed.
 */
export type StoreErrorCode =
  | 'ENOENT'
  | 'EEXIST'
  | 'EISDIR'
  | 'ENOTDIR'
  | 'EINVAL'
  | 'ELOOP'
  | 'ENXIO'
  | 'ENAMETOOLONG'
  | 'EACCES'
  | 'EROFS'
  | 'EBUSY'
  | 'ENOSPC'
  | 'EFBIG'
  | 'EAGAIN'
  | 'ECANCELED'
  | 'EIO';

/** An error with a `code`, for a {@link Store} to throw. `EIO` means that the store is broken. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** The condition. */
  readonly code: StoreErrorCode;
  /** The kind of error, if a memory threw it. */
  readonly kind?: ErrorKind;

  /** The message is for you. The model never reads it. */
  constructor(code: StoreErrorCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error with its kind. */
export function ofKind(error: StoreError, kind?: ErrorKind): StoreError {
  return kind === undefined ? error : Object.assign(error, { kind });
}

/**
 * The codes that any error may have to report a condition. Every other code of an error that is not ours says nothing about the
 * tree: `EAGAIN` of a socket does not mean that nothing was changed.
 */
const CONDITIONS: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'EEXIST',
  'EISDIR',
  'ENOTDIR',
  'EINVAL',
  'ENAMETOOLONG',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
]);

/** Says what is missing in `store`, if it is not a store: each has the required methods. */
export function problemOfStore(store: unknown, argument: string): string | undefined {
  const methods = ['read', 'list', 'write', 'update', 'delete', 'rename'];
  const missing = methods.filter(
    (method) => typeof (store as Record<string, unknown> | null)?.[method] !== 'function',
  );
  if (missing.length > 0) {
    return `${argument} must be an address such as "./memory", or an object with the methods of a Store; it lacks ${missing.join(', ')}`;
  }
  const { foldsCase } = store as Store;
  if (foldsCase !== undefined && typeof foldsCase !== 'boolean') {
    return `foldsCase of a store must be true or false, got ${shown(foldsCase)}`;
  }
  return undefined;
}

/** The optional methods of a store. */
const OPTIONAL = ['open', 'modified', 'setModified', 'recordAccess', 'deleteUnused'] as const;

/** The optional members that a store has, for the core. */
export function optionalMembers(store: Store): string[] {
  const members: string[] = OPTIONAL.filter((method) => typeof store[method] === 'function');
  return store.foldsCase ? [...members, 'foldsCase'] : members;
}

/** True if the store does not have this optional method. */
function lacks(store: Store, operation: string): boolean {
  return OPTIONAL.some((method) => method === operation && !store[method]);
}

/**
 * Answers the core's requests with the methods of `store`: synchronously, unless a method returns a promise. WebAssembly
 * cannot wait for promises.
 */
export function serve(store: Store): (request: StoreRequest) => void {
  return (request) => {
    // The call may have been cancelled before this runs.
    if (!request.begins()) {
      return;
    }
    try {
      if (lacks(store, request.operation)) {
        request.absent();
        return;
      }
      const returned = call(store, request);
      if (isPromise(returned)) {
        answerLater(request, returned);
      } else {
        request.succeed(checked(request, returned));
      }
    } catch (error) {
      request.fail(...told(request.operation, error));
    }
  };
}

async function answerLater(request: StoreRequest, returned: PromiseLike<Returned>): Promise<void> {
  try {
    request.succeed(checked(request, await returned));
  } catch (error) {
    request.fail(...told(request.operation, error));
  }
}

/** Returns whether a method has returned a promise, of any realm or library. */
export function isPromise<T>(returned: T | PromiseLike<T>): returned is PromiseLike<T> {
  return typeof (returned as PromiseLike<T> | null | undefined)?.then === 'function';
}

/** The code and message of a thrown value, and the value itself. It may be of any type. */
function told(
  operation: string,
  error: unknown,
): [code: string | null, message: string, thrown: unknown] {
  try {
    const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
    const message = error instanceof Error ? String(error.message) : inspect(error);
    // Compared by name, because the CommonJS build and the ESM build have different classes.
    const isCondition = name === 'StoreError' || CONDITIONS.has(code);
    // Every method can throw `EINVAL`, but it is a condition only for a rename.
    const isOther = code === 'EINVAL' && operation !== 'rename';
    return [typeof code === 'string' && isCondition && !isOther ? code : null, message, error];
  } catch {
    return [null, 'it threw something that cannot be read', error];
  }
}

type Returned = Uint8Array | Entry[] | number | boolean | undefined;

/** The result of a method, if it is one. */
function checked({ operation, path }: StoreRequest, returned: Returned): Returned {
  switch (operation) {
    case 'read':
      return isBytes(returned) ? returned : unexpected(returned, 'a Uint8Array');
    case 'list':
      return listed(path, returned, false, 'an array of entries');
    case 'open':
      return isBytes(returned)
        ? returned
        : listed(path, returned, true, 'a Uint8Array or an array of entries');
    case 'modified':
      // Checked as a time by the core.
      return returned === null || returned === undefined || typeof returned === 'number'
        ? (returned ?? undefined)
        : unexpected(returned, 'a number or undefined');
    case 'deleteUnused':
      return typeof returned === 'boolean' ? returned : unexpected(returned, 'a boolean');
    default:
      return returned;
  }
}

/** The entries of a directory, if each is one. The core leaves out names that no path can contain. */
function listed(directory: string, returned: unknown, isDeep: boolean, expected: string): Entry[] {
  if (!Array.isArray(returned)) {
    return unexpected(returned, expected);
  }
  return returned.map((entry: unknown) => {
    const { path, size, modified, accessed } = (entry ?? {}) as { [Name in keyof Entry]: unknown };
    if (typeof path !== 'string') {
      throw new TypeError(`it returned the entry ${shown(entry)}, which has no path`);
    }
    const name = path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : '';
    const names = name.split('/');
    if (name === '' || (!isDeep && names.length > 1) || names.includes('..')) {
      throw new TypeError(`it returned ${shown(path)}, which is not an entry of ${directory}`);
    }
    const isSize = Number.isSafeInteger(size) && (size as number) >= 0;
    if (size !== undefined && size !== null && !isSize) {
      throw new TypeError(
        `the size of ${path} must be a whole number from 0 on, or undefined, got ${shown(size)}`,
      );
    }
    for (const [which, time] of Object.entries({ modified, accessed })) {
      if (time !== undefined && time !== null && !Number.isFinite(time)) {
        throw new TypeError(
          `${which} of ${path} must be a number or undefined, got ${shown(time)}`,
        );
      }
    }
    return { path, size, modified, accessed } as Entry;
  });
}

function isBytes(value: unknown): value is Uint8Array {
  // Also of another realm.
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

function unexpected(returned: unknown, expected: string): never {
  throw new TypeError(`it returned ${shown(returned)} and not ${expected}`);
}

/** A value for a message. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 0, maxStringLength: 100 });
}

/** The method's result; `undefined` for a method without one. */
function call(store: Store, request: StoreRequest): Returned | Promise<Returned> {
  const { path } = request;
  const context = contextOf(request.caller);
  switch (request.operation) {
    case 'read':
      return store.read(path, context);
    case 'list':
      return store.list(path, context);
    case 'open':
      return store.open!(path, request.depth, context);
    case 'write':
      return nothing(store.write(path, request.takeContent()!, request.overwrite, context));
    case 'update':
      return nothing(store.update(path, (content) => request.edit(content), context));
    case 'delete':
      return nothing(store.delete(path, context));
    case 'rename':
      return nothing(store.rename(path, request.destination!, context));
    case 'modified':
      return store.modified!(path, context);
    case 'setModified':
      return nothing(store.setModified!(path, request.time!, context));
    case 'recordAccess':
      return nothing(store.recordAccess!(path, request.time!, context));
    case 'deleteUnused':
      return store.deleteUnused!(path, request.time!, context);
    default:
      throw new Error(`a store has no method ${request.operation}`);
  }
}

function nothing(returned: void | Promise<void>): undefined | Promise<undefined> {
  return isPromise(returned) ? Promise.resolve(returned).then(() => undefined) : undefined;
}
