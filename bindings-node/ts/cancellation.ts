/** Calls that are given up: what an `AbortSignal` does to a command. */

import native from '../native.cjs';
import type { Cancellation } from '../native.cjs';

/** How one call is carried out. */
export interface CallOptions {
  /**
   * Gives the call up, as an `AbortSignal` does: a command that has not begun to write when it is
   * aborted is not carried out, and its reply says so; one that has is carried out to its end.
   */
  signal?: Signal | null | undefined;
}

/** What is needed of an `AbortSignal`. */
export interface Signal {
  /** Whether it was aborted. */
  readonly aborted: boolean;
  /** Calls the listener when it is. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Does so no more. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Does `work`, which is cancelled with the signal. */
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
