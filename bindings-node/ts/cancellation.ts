/** Cancellation of calls by an `AbortSignal`. */

import native from '../native.cjs';
import type { Cancellation } from '../native.cjs';

import type { Names } from './named-options.js';

/** The options of one call. */
export interface CallOptions {
  /**
   * Cancels the call, which then ends at once, also while a hook or a store of your own waits. If the command has not begun
   * to write, it is not executed, and its reply says so. If a store of your own is writing, the reply says that the change may
   * or may not have been saved. Any other store goes on to the end of what it has begun.
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

/** `AbortSignal`, where the program's types know of it. */
export type AnyAbortSignal = typeof globalThis extends {
  /** The class, with the type of its objects. */
  AbortSignal: { prototype: infer Known };
}
  ? Known
  : Signal;

/** The call that a hook, or a method of a store of your own, works for. */
export interface CallContext {
  /**
   * The signal that the call was given. Pass it on to what may take long, such as `fetch` or a dialog: when it is aborted, the call
   * no longer waits for you. It is never aborted if the call was given none, and for a step that must be made also if the call is
   * cancelled.
   */
  readonly signal: AnyAbortSignal;
}

/** Makes a signal only if it is asked for. */
export class LazyContext implements CallContext {
  #signal: Signal | null | undefined;

  /** The context of a call with this signal, or of one that nothing cancels. */
  constructor(signal: Signal | null | undefined) {
    this.#signal = signal;
  }

  /** See {@link CallContext.signal}. */
  get signal(): AnyAbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal as AnyAbortSignal;
  }
}

/** The signals of the calls that are under way, by the numbers of their cancellations. */
const signals = new Map<number, Signal>();
let lastNumber = 0;

/** What a store is told of the call with this cancellation. */
export function contextOf(number: number | null | undefined): CallContext {
  return contextWith(typeof number === 'number' ? signals.get(number) : undefined);
}

/** What a hook is told of a call with this signal. */
export function contextWith(signal: Signal | null | undefined): CallContext {
  return new LazyContext(signal);
}

/** Runs `work`, which the signal cancels. */
export async function cancelledWith<T>(
  signal: Signal | null | undefined,
  work: (cancellation?: Cancellation) => Promise<T>,
): Promise<T> {
  if (!signal) {
    return work();
  }
  // The native half has 32 bits for it. No call takes as long as four thousand million others.
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

/** What came of some work. */
export interface Settled<T> {
  /** Its result. */
  settled: T;
}

/** What `work` comes to, unless the signal is aborted before: then `undefined`, and what comes of it later is not heard. */
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

/** Nothing, also if the promise is rejected later. */
function ignored(promise: Promise<unknown>): undefined {
  promise.catch(() => undefined);
  return undefined;
}
