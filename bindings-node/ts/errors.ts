/** Errors of the native half, as the classes that a developer can ask for with `instanceof`. */

import { StoreError } from './store.js';
import type { StoreErrorCode } from './store.js';

/** A store's address or an option is wrong. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** The option or argument; absent if it is the address. */
  readonly option?: string;

  /** The message is for the developer. */
  constructor(message: string, option?: string) {
    super(message);
    if (option !== undefined) {
      this.option = option;
    }
  }
}

/** What `open` returns; what the native half throws meanwhile is one of our errors. */
export function withOurErrors<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw ourError(error);
  }
}

/** The same of a promise. */
export async function withOurErrorsAsync<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw ourError(error);
  }
}

function ourError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConfigError || error instanceof StoreError) {
    return error;
  }
  // The native half sets one of these two.
  if ('option' in error) {
    return new ConfigError(error.message, (error.option as string | null) ?? undefined);
  }
  if ('code' in error && /^E[A-Z0-9]+$/.test(String(error.code))) {
    return new StoreError(error.code as StoreErrorCode, error.message);
  }
  return error;
}
