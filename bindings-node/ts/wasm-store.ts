/** Stores that are written in JavaScript, if memdir runs as WebAssembly. They must answer synchronously. */

import type { Entry } from './store.js';
import { wellFormed } from './wasm-values.js';

/** Where bytes are in the module's memory. */
export interface Placed {
  /** Their address. */
  at: number;
  /** Their number. */
  length: number;
}

/** A request of the module to a store. */
export interface AskedOfStore {
  /** The store's number. */
  store: number;
  /** The method that is called. */
  operation: string;
  /** Its path; the source of a rename. */
  path: string;
  /** The destination of a rename. */
  destination?: string;
  /** The content to write. */
  content?: Placed;
  /** True if a write may replace an existing file. */
  overwrite?: boolean;
  /** The number of directory levels to list. */
  depth?: number;
  /** The time to set, in milliseconds since 1970. */
  time?: number;
}

/** Answers a request. */
export type Serve = (request: never) => unknown;

/** The part of the module that a store's answer needs. */
interface Memory {
  /** Copies bytes into the module's memory. */
  put(bytes: Uint8Array): Placed;
  /** Takes bytes out of it. */
  take(placed: Placed): Uint8Array;
  /** In an update: the new content for `content`, or null. */
  edit(content: Uint8Array): Uint8Array | null;
  /** Keeps a value that a store threw, until the call has ended. Returns its number. */
  keep(thrown: unknown): number;
}

/** The `StoreRequest` of `native.d.cts`. */
class Request {
  readonly operation: string;
  readonly path: string;
  readonly destination: string | null;
  readonly overwrite: boolean;
  readonly depth: number;
  readonly time: number | null;
  /** A call does all of its work at once, so it cannot be cancelled meanwhile. */
  readonly caller = null;
  /** The store's answer, until it is passed to the module. */
  answer: object | undefined;
  /** True if the module no longer waits. */
  isOver = false;
  #content: Uint8Array | null;
  readonly #memory: Memory;

  constructor(asked: AskedOfStore, memory: Memory) {
    this.operation = asked.operation;
    this.path = asked.path;
    this.destination = asked.destination ?? null;
    this.overwrite = asked.overwrite ?? false;
    this.depth = asked.depth ?? 0;
    this.time = asked.time ?? null;
    // Copied, because the module frees it.
    this.#content = asked.content ? memory.take(asked.content) : null;
    this.#memory = memory;
  }

  begins(): boolean {
    return true;
  }

  takeContent(): Uint8Array | null {
    const content = this.#content;
    this.#content = null;
    return content;
  }

  edit(content: Uint8Array): Uint8Array | null {
    if (this.isOver || this.operation !== 'update') {
      throw new Error('edit was called after the update had ended');
    }
    return this.#memory.edit(content);
  }

  succeed(returned: unknown): void {
    this.#done(() => this.#shown(returned));
  }

  absent(): void {
    this.#done(() => ({ absent: true }));
  }

  fail(code: string | null | undefined, message: string, thrown: unknown): void {
    this.#done(() => {
      const kept = this.#memory.keep(thrown);
      return { error: { code: code ?? null, message: wellFormed(message), thrown: kept } };
    });
  }

  #done(answer: () => object): void {
    if (!this.isOver) {
      this.answer ??= answer();
    }
  }

  #shown(returned: unknown): object {
    switch (typeof returned) {
      case 'undefined':
        return {};
      case 'number':
        return { time: Number.isFinite(returned) ? returned : null };
      case 'boolean':
        return { flag: returned };
    }
    if (returned instanceof Uint8Array) {
      return { content: this.#memory.put(returned) };
    }
    if (Array.isArray(returned)) {
      return { entries: returned.map(entry) };
    }
    throw new TypeError(`${this.operation} returned what no method of a store returns`);
  }
}

function entry(listed: Entry): Entry {
  const { path, size, modified, accessed } = listed;
  if (typeof path !== 'string') {
    throw new TypeError('the path of an entry is a string');
  }
  return { path: wellFormed(path), size, modified, accessed };
}

/** The store's answer to a request of the module. */
export function answerOf(serve: Serve, asked: AskedOfStore, memory: Memory): object {
  const request = new Request(asked, memory);
  serve(request as never);
  request.isOver = true;
  return (
    request.answer ?? {
      error: {
        message:
          'it returned a promise: memdir runs as WebAssembly here, and cannot wait for one in the middle of a call',
      },
    }
  );
}
