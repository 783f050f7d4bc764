/** Whether a store is as it should be. */

import { withOurErrorsAsync } from './errors.js';
import { openNative } from './places.js';
import type { Places } from './places.js';

/** What a {@link check} went through, and what it found. */
export interface Checked {
  /** Directories, the root among them. */
  directories: number;
  /** Files, each read from its start to its end. */
  files: number;
  /** The bytes that were read. */
  bytes: number;
  /** What is not as it should be; empty if all is well. */
  problems: Problem[];
}

/** Something that is not as it should be in a store. */
export interface Problem {
  /** One word for what is wrong. */
  kind:
    'unreadable' | 'wrong-size' | 'damaged' | 'left-over' | 'link' | 'special-file' | 'bad-name';
  /** Where: a path, or something like one where no path of a memory can be. Safe to be shown. */
  at: string;
  /** All of it in a sentence, for the developer. */
  description: string;
  /** Whether it is about something beside the memory, which is as it should be itself. */
  isBeside: boolean;
}

/**
 * Inspects a store and reads every file in it. Changes nothing. Others may use the store meanwhile.
 *
 * @example
 * ```ts
 * const { problems } = await check('./memory');
 * ```
 *
 * @param store The store, or its address; it has to be there.
 * @throws {@link StoreError} if the store is out of reach or its root cannot be read,
 *   {@link ConfigError} if the address is wrong.
 */
export async function check(store: Places): Promise<Checked> {
  const opened = openNative(store, { readOnly: true });
  return withOurErrorsAsync(async () => opened.check());
}
