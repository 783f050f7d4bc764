/** `Memory.watch`: what is changed in a memory, by whoever changes it. */

import native from '../native.cjs';
import type { Cancellation, Watching } from '../native.cjs';
import type { Change } from '../results.cjs';

import { CALL_OPTIONS, cancelledWith } from './cancellation.js';
import type { CallOptions, Signal } from './cancellation.js';
import { ConfigError, withOurErrors } from './errors.js';
import type { Names } from './named-options.js';
import { withRefusals } from './tool-error.js';

/**
 * How many milliseconds pass until it is asked again whether it is time to look. To ask costs
 * nothing, and holds no thread.
 */
const PAUSE = 50;

/** The options of `Memory.watch`. */
export interface WatchOptions extends CallOptions {
  /** A directory, with everything below it, or a file. Nothing needs to be there yet. Default: `/memories`. */
  path?: string | undefined;
  /**
   * How many milliseconds pass between two looks at the store; in any case more if a look takes
   * long. Default: `null`, 500, or 1000 if the store is on another machine.
   */
  every?: number | null | undefined;
  /** Closes the watch when it is aborted. */
  signal?: Signal | null | undefined;
}

/** The names of {@link WatchOptions}. */
export const WATCH_OPTIONS: Names<WatchOptions> = { path: true, every: true, ...CALL_OPTIONS };

/**
 * Tells what is changed in a memory; `Memory.watch` makes it.
 *
 * `for await` waits for the next change, and ends when the watch is closed. Leaving the loop closes it.
 * A watch that nobody waits for does not keep the process alive.
 */
export class Watch implements AsyncIterableIterator<Change> {
  readonly #watching: Promise<Watching>;
  readonly #unsubscribe: () => void;
  /** What was found, and is not yet told. */
  readonly #found: Change[] = [];
  /** What ends the pauses of those who wait. */
  readonly #waiting = new Set<() => void>();
  /** Cancels the looks: a store of your own may never answer. */
  readonly #closing = new AbortController();

  /** @internal */
  constructor(
    begin: (cancellation?: Cancellation) => Promise<Watching>,
    signal: Signal | null | undefined,
  ) {
    this.#watching = withRefusals(() => cancelledWith(this.#closing.signal, begin));
    // Who waits is told of it.
    this.#watching.catch(() => undefined);
    const close = () => this.close();
    this.#unsubscribe = () => signal?.removeEventListener('abort', close);
    signal?.addEventListener('abort', close);
    if (signal?.aborted) {
      close();
    }
  }

  /**
   * What was changed since the last call, or since the watch began, in the order of the paths. If that
   * is nothing, it waits for a change, at most for so many milliseconds; with 0 it looks once.
   *
   * A rename is told as a file that is deleted and one that is written; a directory as its files. What
   * is changed and changed back between two looks is not told. If the watch is closed, nothing is.
   *
   * It rejects as `Memory.read` does. The next call then tells what this one could not. It rejects with a
   * {@link ConfigError} if `wait` is negative, infinite or not a number.
   */
  async changes(wait: number): Promise<Change[]> {
    // A larger number of milliseconds is a mistake: it is 285,000 years.
    withOurErrors(() => native.checkSpan('wait', wait));
    if (wait > Number.MAX_SAFE_INTEGER) {
      throw new ConfigError(`wait must be at most ${Number.MAX_SAFE_INTEGER}`, 'wait');
    }
    await this.#wait(wait);
    return this.#found.splice(0);
  }

  /** Waits for the next change; done if the watch is closed. */
  async next(): Promise<IteratorResult<Change, undefined>> {
    for (;;) {
      const value = this.#found.shift();
      if (value) {
        return { done: false, value };
      }
      if (this.#isClosed) {
        return { done: true, value: undefined };
      }
      await this.#wait(Infinity);
    }
  }

  /** Closes the watch. */
  async return(): Promise<IteratorResult<Change, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends the watch. Who waits for changes is told that there are no more. */
  close(): void {
    if (this.#isClosed) {
      return;
    }
    this.#closing.abort();
    this.#unsubscribe();
    this.#watching.then(
      (watching) => watching.close(),
      () => undefined,
    );
    for (const wake of this.#waiting) {
      wake();
    }
  }

  /** The watch itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Waits until something is found, or the watch is closed. */
  async #wait(wait: number): Promise<void> {
    try {
      await this.#look(wait);
    } catch (error) {
      if (!this.#isClosed) {
        throw error;
      }
    }
  }

  async #look(wait: number): Promise<void> {
    const until = performance.now() + wait;
    const watching = await this.#watching;
    while (!this.#isClosed && this.#found.length === 0) {
      const isLast = !(performance.now() < until);
      if (isLast || watching.isDue()) {
        const look = (cancellation?: Cancellation) => watching.changes(cancellation);
        const changes = await withRefusals(() => cancelledWith(this.#closing.signal, look));
        this.#found.push(...(changes ?? []));
      }
      if (isLast) {
        return;
      }
      if (this.#found.length === 0 && !this.#isClosed) {
        await this.#pause(Math.min(PAUSE, until - performance.now()));
      }
    }
  }

  #pause(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, millis);
      this.#waiting.add(wake);
    });
  }
}
