/** Where memories are kept: the stores that come with memdir, and stores of one's own. */

import { inspect } from 'node:util';

import type { StoreRequest } from '../native.cjs';

/** What a {@link Store} lists. */
export interface Entry {
  /** The whole path, from `/memories` on. */
  path: string;
  /** A file's length in bytes; a directory has none. */
  size?: number | undefined;
  /**
   * When a file was last written, in milliseconds since 1970, as `mtimeMs` of `node:fs` has it; the
   * fraction counts down to the microsecond. Nothing for a directory, or if the store does not
   * keep it.
   */
  modified?: number | undefined;
  /**
   * When a file was last said to be accessed, likewise. Nothing also if the store keeps it, but its
   * listing does not tell.
   */
  accessed?: number | undefined;
}

/** Says what a file's content becomes; `null` leaves the file as it is. */
export type Edit = (content: Uint8Array) => Uint8Array | null | undefined;

/**
 * A place that keeps files and directories under `/memories`: implement it to keep memories
 * wherever you like. Every method may return a promise.
 *
 * Paths are valid and canonical (`/memories/notes.md`); the root always exists. Each method does
 * the whole of what it says or throws and changes nothing. To say why, throw an error whose `code`
 * is the one that Node's own `fs` has for it, such as a {@link StoreError}; any other error means
 * that the store is broken, and the model is told only that the memory is out of reach.
 */
export interface Store {
  /** The whole content of a file. Throws `ENOENT`, `EISDIR`. */
  read(path: string): Uint8Array | Promise<Uint8Array>;

  /**
   * The entries of a directory, one level deep, in any order, hidden ones included. Throws
   * `ENOENT`, `ENOTDIR`.
   */
  list(path: string): Entry[] | Promise<Entry[]>;

  /**
   * A file's content, or a directory's entries `depth` levels deep without the hidden ones (those
   * whose name starts with a dot, and `node_modules`) and what is below them. Throws `ENOENT`.
   *
   * For a store that can answer this in one round trip; without it `read` and `list` are called.
   */
  open?(path: string, depth: number): Uint8Array | Entry[] | Promise<Uint8Array | Entry[]>;

  /**
   * Writes a whole file, making missing parents. If something is there already throws `EEXIST`,
   * unless it is a file and `overwrite` is true: then its content is replaced. Of two calls at once
   * that may not overwrite exactly one succeeds. Throws `ENOTDIR` if a parent is a file.
   */
  write(path: string, content: Uint8Array, overwrite: boolean): void | Promise<void>;

  /**
   * Changes a file: reads it, calls `edit` with the content and writes what that returns, while no
   * other writer can come between. A store that finds that one did calls `edit` again with the
   * newer content; the last call counts. Throws `ENOENT`, `EISDIR`.
   *
   * `edit` returns at once, so that it can be called within a transaction, and must not be called
   * after the method has returned or its promise is settled.
   */
  update(path: string, edit: Edit): void | Promise<void>;

  /** Deletes a file, or a directory and all that it holds. Throws `ENOENT`. */
  delete(path: string): void | Promise<void>;

  /**
   * Moves a file or directory, making the destination's missing parents, never overwriting. Throws,
   * in this order: `ENOENT` if `from` is not there, `EEXIST` if `to` is (also if both are the same),
   * `EINVAL` if `to` is below the directory `from`, `ENOTDIR` if a parent of `to` is a file,
   * `ENAMETOOLONG` if something below `from` would come to have a path of more than 64 levels below
   * `/memories` or of more than 4,096 bytes.
   */
  rename(from: string, to: string): void | Promise<void>;

  /**
   * When a file was last written, as in an {@link Entry}. Throws `ENOENT`, `EISDIR`.
   *
   * For a store that need not list the file's directory for it, which is asked without it.
   */
  modified?(path: string): number | undefined | Promise<number | undefined>;

  /**
   * Says that a file was last written at `time`, for a copy that keeps its original's time. Throws
   * `ENOENT`, `EISDIR`.
   *
   * For a store that keeps times; without it they are those of the copying.
   */
  setModified?(path: string, time: number): void | Promise<void>;

  /**
   * Says that a file was accessed at `time`, which is no change of it, and goes along when it is
   * renamed. Throws `ENOENT`, `EISDIR`.
   *
   * For a store that keeps when files were last accessed, and says it in its entries, so that unused
   * ones can expire. It has `deleteUnused`, too.
   */
  recordAccess?(path: string, time: number): void | Promise<void>;

  /**
   * Deletes a file if it was neither written nor accessed at `since` or later, while no writer can
   * come between. Whether it did; false also where nothing is, or a directory.
   */
  deleteUnused?(path: string, since: number): boolean | Promise<boolean>;
}

/**
 * The conditions that a {@link Store} can name, in Node's own words. `EAGAIN` is that other writers
 * kept it locked for too long, `ECANCELED` that the call was given up; nothing was changed by either.
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

/** An error with a `code`, for a {@link Store} to throw. `EIO` is a store that is broken. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** What is the matter. */
  readonly code: StoreErrorCode;

  /** The message is for the developer: no model gets to see it. */
  constructor(code: StoreErrorCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Checks that `store` has what a store must have. */
export function assertStore(store: unknown): asserts store is Store {
  const methods = ['read', 'list', 'write', 'update', 'delete', 'rename'];
  const missing = methods.filter(
    (method) => typeof (store as Record<string, unknown> | null)?.[method] !== 'function',
  );
  if (missing.length > 0) {
    throw new TypeError(
      `store must be an address such as "./memory", or an object with the methods of a Store; it lacks ${missing.join(', ')}`,
    );
  }
}

/** What a store may do without. */
const OPTIONAL = ['open', 'modified', 'setModified', 'recordAccess', 'deleteUnused'] as const;

/** The optional methods that a store has, for the core. */
export function optionalMethods(store: Store): string[] {
  return OPTIONAL.filter((method) => typeof store[method] === 'function');
}

/** Whether the core has to do without this method. */
function lacks(store: Store, operation: string): boolean {
  return OPTIONAL.some((method) => method === operation && !store[method]);
}

/** Answers the requests of the core with the methods of `store`. */
export function serve(store: Store): (request: StoreRequest) => Promise<void> {
  return async (request) => {
    try {
      if (lacks(store, request.operation)) {
        request.absent();
      } else {
        request.succeed(await call(store, request));
      }
    } catch (error) {
      request.fail(...told(error));
    }
  };
}

/** The code and the message of whatever was thrown: it may be anything. */
function told(error: unknown): [code: string | null, message: string] {
  try {
    const { code } = (error ?? {}) as { code?: unknown };
    const message = error instanceof Error ? String(error.message) : inspect(error);
    return [typeof code === 'string' ? code : null, message];
  } catch {
    return [null, 'it threw something that cannot be read'];
  }
}

async function call(
  store: Store,
  request: StoreRequest,
): Promise<Uint8Array | Entry[] | number | boolean | undefined> {
  const { path } = request;
  switch (request.operation) {
    case 'read':
      return store.read(path);
    case 'list':
      return store.list(path);
    case 'open':
      return store.open!(path, request.depth);
    case 'write':
      await store.write(path, request.takeContent()!, request.overwrite);
      return undefined;
    case 'update':
      await store.update(path, (content) => request.edit(content));
      return undefined;
    case 'delete':
      await store.delete(path);
      return undefined;
    case 'rename':
      await store.rename(path, request.destination!);
      return undefined;
    case 'modified':
      return store.modified!(path);
    case 'setModified':
      await store.setModified!(path, request.time!);
      return undefined;
    case 'recordAccess':
      await store.recordAccess!(path, request.time!);
      return undefined;
    case 'deleteUnused':
      return store.deleteUnused!(path, request.time!);
    default:
      throw new Error(`a store has no method ${request.operation}`);
  }
}
