/** Embedders: functions that turn texts into vectors, for searches by meaning. */

import type { EmbedRequest, Engine } from '../native.cjs';

import { withOurErrors } from './errors.js';
import { assertFunction } from './named-options.js';
import type { MemoryOptions } from './options.js';
import { isPromise, shown } from './store.js';

/** A vector for each text, all of the same length. */
export type Vectors = readonly ArrayLike<number>[];

/**
 * Turns texts into vectors: the passages of files, or the words of a question (`isQuery`). Many models have an instruction or a
 * parameter for each. There is one text, or up to 64.
 *
 * As WebAssembly it must return the vectors themselves, because a promise cannot be awaited there.
 *
 * @example
 * ```ts
 * const embedder: Embedder = async (texts, { isQuery }) => {
 *   const body = JSON.stringify({ input: texts, model: 'my-model', input_type: isQuery ? 'query' : 'document' });
 *   const answer = await fetch('https://embeddings.example/v1', { method: 'POST', body });
 *   if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
 *   return ((await answer.json()) as { embeddings: number[][] }).embeddings;
 * };
 * ```
 */
export type Embedder = (texts: string[], call: EmbedderCall) => Vectors | Promise<Vectors>;

/** The second argument of an {@link Embedder}. */
export interface EmbedderCall {
  /** True for the words of a question, false for passages of files. */
  readonly isQuery: boolean;
}

/** Splits the options into those for the native half, and the embedder. */
export function withoutEmbedder(
  options: MemoryOptions | undefined,
): [MemoryOptions | undefined, Embedder?] {
  if (typeof options !== 'object' || options === null) {
    return [options];
  }
  const { embedder, ...rest } = options;
  assertFunction('embedder', embedder);
  return embedder ? [rest, embedder] : [rest];
}

/** The same engine with an embedder. */
export function engineWith(embedder: Embedder, engine: Engine): Engine {
  return withOurErrors(() =>
    engine.withEmbedder((request: EmbedRequest) => answer(embedder, request)),
  );
}

/** Answers a request. Never throws. */
function answer(embedder: Embedder, request: EmbedRequest): void {
  const fail = (error: unknown) => request.fail(message(error));
  const succeed = (vectors: unknown) => request.succeed(numbers(vectors));
  try {
    const vectors = embedder(request.takeTexts(), { isQuery: request.isQuery });
    if (isPromise(vectors)) {
      Promise.resolve(vectors).then(succeed).catch(fail);
    } else {
      succeed(vectors);
    }
  } catch (error) {
    fail(error);
  }
}

/** The vectors as the native half takes them. */
function numbers(vectors: unknown): Float32Array[] {
  if (!Array.isArray(vectors)) {
    throw new TypeError(`it returned ${shown(vectors)} and not an array of arrays of numbers`);
  }
  return vectors.map((vector: unknown) => {
    if (typeof vector !== 'object' || vector === null) {
      throw new TypeError(`it returned ${shown(vector)} as a vector, and not an array of numbers`);
    }
    return Float32Array.from(vector as ArrayLike<number>);
  });
}

function message(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : shown(error);
  } catch {
    return 'it threw something that cannot be read';
  }
}
