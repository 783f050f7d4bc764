/** `Memory.watch`: reports changes in a memory, whichever process makes them. */

import native from '../native.cjs';
import type { Cancellation, Watching } from '../native.cjs';
import type { Change } from '../results.cjs';

import { CALL_OPTIONS, cancelledWith } from './cancellation.js';
import type { CallOptions, Signal } from './cancellation.js';
import { ConfigError, withOurErrors } from './errors.js';
import type { Names } from './named-options.js';
import { withRefusals } from './tool-error.js';

/**
 * The interval in milliseconds at which a waiting watch checks whether the next poll of the store
 * is due. The check is cheap and does not occupy a thread.
 */
const PAUSE = 50;

/** The options of `Memory.watch`. */
export interface WatchOptions extends CallOptions {
  /** A directory, with everything below it, or a file. It need not exist yet. Default: `/memories`. */
  path?: string | undefined;
  /**
   * The polling interval in milliseconds. The real interval is longer if a poll takes long.
   * Default: `null`, which means 500, or 1000 if the store is on another machine.
   */
  every?: number | null | undefined;
  /** Closes the watch when it is aborted. */
  signal?: Signal | null | undefined;
}

/** The names of {@link WatchOptions}. */
export const WATCH_OPTIONS: Names<WatchOptions> = { path: true, every: true, ...CALL_OPTIONS };

/**
 * Reports changes in a memory. `Memory.watch` creates it.
 *
 * `for await` waits for the next change, and ends when the watch is closed. Leaving the loop closes it.
 * A watch does not keep the process alive unless something waits for it.
 */
export class Watch implements AsyncIterableIterator<Change> {
  readonly #watching: Promise<Watching>;
  readonly #unsubscribe: () => void;
  /** Changes that were found but not yet reported. */
  readonly #found: Change[] = [];
  /** The functions that end the pauses of waiting callers. */
  readonly #waiting = new Set<() => void>();
  /** Cancels polls in progress: your own store may never answer. */
  readonly #closing = new AbortController();

  /** @internal */
  constructor(
    begin: (cancellation?: Cancellation) => Promise<Watching>,
    signal: Signal | null | undefined,
  ) {
    this.#watching = withRefusals(() => cancelledWith(this.#closing.signal, begin));
    // A caller that waits gets the error. Without this handler, Node would report an unhandled rejection.
    this.#watching.catch(() => undefined);
    const close = () => this.close();
    this.#unsubscribe = () => signal?.removeEventListener('abort', close);
    signal?.addEventListener('abort', close);
    if (signal?.aborted) {
      close();
    }
  }

  /**
   * The changes since the last call, or since the watch began, sorted by path. If there are none, it
   * waits for a change for up to `wait` milliseconds; with 0 it polls once.
   *
   * A rename is reported as a deleted file and a written file, and the rename of a directory as changes
   * of its files. Changes undone between two polls are not reported. A closed watch reports nothing.
   *
   * It rejects as `Memory.read` does. The next call then reports the changes that this one missed. It
   * rejects with a {@link ConfigError} if `wait` is negative, infinite or not a number.
   */
  async changes(wait: number): Promise<Change[]> {
    // A larger number is a mistake: it is more than 285,000 years.
    withOurErrors(() => native.checkSpan('wait', wait));
    if (wait > Number.MAX_SAFE_INTEGER) {
      throw new ConfigError(`wait must be at most ${Number.MAX_SAFE_INTEGER}`, 'wait');
    }
    await this.#wait(wait);
    return this.#found.splice(0);
  }

  /** Waits for the next change. The iteration is done when the watch is closed. */
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

  /** Closes the watch. Waiting callers get no more changes. */
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
