/** Embedders that are written in JavaScript, if memdir runs as WebAssembly. They must answer synchronously. */

import type { Serve } from './wasm-store.js';

/** A request of the module to an embedder. */
export interface AskedOfEmbedder {
  /** The embedder's number. */
  embedder: number;
  /** The texts. */
  texts: string[];
  /** True for the words of a question. */
  isQuery: boolean;
}

/** The `EmbedRequest` of `native.d.cts`. */
class Request {
  readonly isQuery: boolean;
  /** The embedder's answer, for the module. */
  answer: object | undefined;
  readonly #texts: string[];

  constructor({ texts, isQuery }: AskedOfEmbedder) {
    this.isQuery = isQuery;
    this.#texts = texts;
  }

  takeTexts(): string[] {
    return this.#texts;
  }

  succeed(vectors: Float32Array[]): void {
    this.answer ??= { vectors: vectors.map((vector) => Array.from(vector)) };
  }

  fail(message: string): void {
    this.answer ??= { error: message };
  }
}

/** The embedder's answer to a request of the module. */
export function vectorsOf(serve: Serve, asked: AskedOfEmbedder): object {
  const request = new Request(asked);
  serve(request as never);
  return (
    request.answer ?? {
      error: 'it returned a promise, which WebAssembly cannot await: it must return the vectors',
    }
  );
}
