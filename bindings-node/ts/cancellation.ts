/** Cancellation of calls by an `AbortSignal`. */

import native from '../native.cjs';
import type { Cancellation } from '../native.cjs';

import type { Names } from './named-options.js';

/** The options of one call. */
export interface CallOptions {
  /**
   * Cancels the call. If the signal is aborted before the command begins to write, the command is
   * not executed, and its reply says so. If the command has begun, it goes on to its end.
   */
  signal?: Signal | null | undefined;
}

/** The names of {@link CallOptions}. */
export const CALL_OPTIONS: Names<CallOptions> = { signal: true };

/** The part of an `AbortSignal` that is needed. */
export interface Signal {
  /** Whether it was aborted. */
  readonly aborted: boolean;
  /** Calls the listener when it is aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Removes the listener. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Runs `work`, which the signal cancels. */
export async function cancelledWith<T>(
  signal: Signal | null | undefined,
  work: (cancellation?: Cancellation) => Promise<T>,
): Promise<T> {
  if (!signal) {
    return work();
  }
  const cancellation = new native.Cancellation();
  const cancel = () => cancellation.cancel();
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) {
      cancel();
    }
    return await work(cancellation);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
