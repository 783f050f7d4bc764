/**
 * The classes of errors that you can test with `instanceof`, and the conversion of the native half's
 * errors to them.
 */

import type { Conflict, ErrorKind, HistoryErrorKind, SyncErrorKind } from '../results.cjs';

import { StoreError, ofKind } from './store.js';
import type { StoreErrorCode } from './store.js';

/** A copy was refused or stopped. If it was refused, nothing was copied. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
  /** The paths in the destination that have different content; empty if the copy was stopped. */
  readonly paths: readonly string[];

  /** The message is for you. */
  constructor(message: string, paths: readonly string[] = [], options?: ErrorOptions) {
    super(message, options);
    this.paths = paths;
  }
}

/** A sync was refused or stopped. Nothing was changed, unless the kind is `stopped`. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  /** The case. */
  readonly kind: SyncErrorKind;

  /** The message is for you. */
  constructor(kind: SyncErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A call about the history failed. Nothing was changed, unless the kind is `partly`. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  /** The case. */
  readonly kind: HistoryErrorKind;
  /** The affected paths, such as those of a conflict. */
  readonly paths: readonly string[];
  /**
   * For a `conflict`: the later change of each path, with its actor and its time. Otherwise empty.
   */
  readonly conflicts: readonly Conflict[];

  /** The message is for you. */
  constructor(
    kind: HistoryErrorKind,
    message: string,
    paths: readonly string[] = [],
    conflicts: readonly Conflict[] = [],
  ) {
    super(message);
    this.kind = kind;
    this.paths = paths;
    this.conflicts = conflicts;
  }
}

/** A store's address or an option is wrong. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** The kind of error. */
  readonly kind = 'config';
  /** The option or argument; absent if it is the address. */
  readonly option?: string;

  /** The message is for you. */
  constructor(message: string, option?: string) {
    super(message);
    if (option !== undefined) {
      this.option = option;
    }
  }
}

/** Calls the native half, and throws its errors as instances of our classes. */
export function withOurErrors<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw ourError(error);
  }
}

/** As {@link withOurErrors}, for a promise. */
export async function withOurErrorsAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ourError(error);
  }
}

/** The native half names its errors. Any other error, such as a callback's, stays as it is. */
function ourError(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return error;
  }
  const { option, code, kind, paths, conflicts } = error as NativeError;
  if (error.name === 'ConfigError' && option !== undefined) {
    return error instanceof ConfigError
      ? error
      : new ConfigError(error.message, option ?? undefined);
  }
  if (error.name === 'StoreError' && code !== undefined) {
    return error instanceof StoreError
      ? error
      : ofKind(storeError(code, error.message, error), kind as ErrorKind | undefined);
  }
  if (error.name === 'CopyError' && paths !== undefined) {
    return error instanceof CopyError ? error : new CopyError(error.message, paths);
  }
  if (error.name === 'SyncError' && kind !== undefined) {
    return error instanceof SyncError ? error : new SyncError(kind as SyncErrorKind, error.message);
  }
  if (error.name === 'HistoryError' && kind !== undefined) {
    return error instanceof HistoryError
      ? error
      : new HistoryError(kind as HistoryErrorKind, error.message, paths, conflicts);
  }
  return error;
}

/**
 * An error of the store. If your own store caused it, `cause` is the value that the store threw.
 */
export function storeError(code: StoreErrorCode, message: string, from: object): StoreError {
  return new StoreError(code, message, 'cause' in from ? { cause: from.cause } : undefined);
}

/** The properties that distinguish the native half's errors. */
interface NativeError extends Error {
  option?: string | null;
  code?: StoreErrorCode;
  kind?: HistoryErrorKind | SyncErrorKind | ErrorKind;
  paths?: readonly string[];
  conflicts?: readonly Conflict[];
}
