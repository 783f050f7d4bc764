/** Cancellation of calls by an `AbortSignal`. */

import native from '../native.cjs';
import type { Cancellation } from '../native.cjs';

import type { Names } from './named-options.js';

/** The options of one call. */
export interface CallOptions {
  /**
   * Cancels the call. It then ends at once, even while a hook or your own store waits. If the command has not begun to write,
   * it is not executed, and its reply says so. If your own store is writing, the reply says that the change may or may not
   * have been saved. Any other store finishes a write that it has begun.
   */
  signal?: Signal | null | undefined;
}

/** The names of {@link CallOptions}. */
export const CALL_OPTIONS: Names<CallOptions> = { signal: true };

/** The part of an `AbortSignal` that memdir uses. */
export interface Signal {
  /** True if it was aborted. */
  readonly aborted: boolean;
  /** Calls the listener when it is aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Removes the listener. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** `AbortSignal`, if the program's types include it. */
export type AnyAbortSignal = typeof globalThis extends {
  /** The class, with the type of its objects. */
  AbortSignal: { prototype: infer Known };
}
  ? Known
  : Signal;

/** The call that a hook, or a method of your own store, works for. */
export interface CallContext {
  /**
   * The signal of the call. Pass it on to slow operations, such as `fetch` or a dialog: when it is aborted, the call no longer
   * waits for you. It is never aborted if the call has no signal, or for a step that must also run for a cancelled call.
   */
  readonly signal: AnyAbortSignal;
}

/** Creates the signal only when it is read. */
export class LazyContext implements CallContext {
  #signal: Signal | null | undefined;

  /** The context of a call with this signal, or of a call that cannot be cancelled. */
  constructor(signal: Signal | null | undefined) {
    this.#signal = signal;
  }

  /** See {@link CallContext.signal}. */
  get signal(): AnyAbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal as AnyAbortSignal;
  }
}

/** The signals of the running calls, by the numbers of their cancellations. */
const signals = new Map<number, Signal>();
let lastNumber = 0;

/** The context that a store gets for the call with this cancellation. */
export function contextOf(number: number | null | undefined): CallContext {
  return contextWith(typeof number === 'number' ? signals.get(number) : undefined);
}

/** The context that a hook gets for a call with this signal. */
export function contextWith(signal: Signal | null | undefined): CallContext {
  return new LazyContext(signal);
}

/** Runs `work`, which the signal can cancel. */
export async function cancelledWith<T>(
  signal: Signal | null | undefined,
  work: (cancellation?: Cancellation) => Promise<T>,
): Promise<T> {
  if (!signal) {
    return work();
  }
  // The native half has 32 bits for it. No call lasts while four thousand million others begin.
  lastNumber = (lastNumber + 1) >>> 0;
  const number = lastNumber;
  const cancellation = new native.Cancellation(number);
  const cancel = () => cancellation.cancel();
  signals.set(number, signal);
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) {
      cancel();
    }
    return await work(cancellation);
  } finally {
    signal.removeEventListener('abort', cancel);
    signals.delete(number);
  }
}

/** The result of finished work. */
export interface Settled<T> {
  /** Its result. */
  settled: T;
}

/** The result of `work`. If the signal is aborted first: `undefined`, and a later result or error is ignored. */
export async function unlessAborted<T>(
  signal: Signal | null | undefined,
  work: () => T,
): Promise<Settled<Awaited<T>> | undefined> {
  if (!signal) {
    return { settled: await work() };
  }
  let abort: (() => void) | undefined;
  const aborted = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
    signal.addEventListener('abort', abort);
  });
  try {
    const working = (async () => ({ settled: await work() }))();
    return await (signal.aborted ? ignored(working) : Promise.race([working, aborted]));
  } finally {
    signal.removeEventListener('abort', abort!);
  }
}

/** Returns nothing, and handles a later rejection of the promise. */
function ignored(promise: Promise<unknown>): undefined {
  promise.catch(() => undefined);
  return undefined;
}
