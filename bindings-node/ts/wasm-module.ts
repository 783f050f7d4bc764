/**
 * The WebAssembly module and the data that crosses its border: JSON prefixed with its length, and bytes.
 * `bindings-wasm/src/border.rs` is the other side.
 */

import type { MergeRequest, PendingCall } from '../native.cjs';
import type { Event, SyncMerge } from '../results.cjs';

import type { HooksInSync } from './hooks.js';
import { wasi } from './wasi.js';
import type { WasmMemory } from './wasi.js';
import { vectorsOf } from './wasm-embedder.js';
import type { AskedOfEmbedder } from './wasm-embedder.js';
import { mergedBy } from './wasm-merger.js';
import { answerOf } from './wasm-store.js';
import type { AskedOfStore, Placed, Serve } from './wasm-store.js';
import { decode, encode, encodeField, isObject } from './wasm-values.js';
import { webAssembly } from './web-assembly.js';
import type { CompiledModule } from './web-assembly.js';

/** The module's exports. */
interface Exports {
  memory: WasmMemory;
  _initialize?(): void;
  memdir_alloc(length: number): number;
  memdir_free(at: number, length: number): void;
  memdir_perform(at: number, length: number): number;
  memdir_edit(at: number, length: number): number;
}

/** The objects and callbacks that the module may ask for during a call. */
export interface Context {
  /** The object whose fields the module reads. */
  input?: unknown;
  /** The input in a whole `tool_use` block. */
  block?: unknown;
  /** The edit of an update. */
  edit?: (content: Uint8Array) => Uint8Array | null | undefined;
  /** The callback that receives the progress of a task. It returns false to stop the task. */
  progress?: ((at: never) => boolean) | undefined;
  /** The function that merges the conflicts of a sync. */
  merge?: ((request: MergeRequest) => void) | undefined;
  /** The hooks of both memories of a sync. */
  hooks?: { a?: HooksInSync | undefined; b?: HooksInSync | undefined };
}

/** The result of a call. */
interface Outcome {
  value?: unknown;
  error?: {
    name?: string;
    message?: string;
    property?: string;
    value?: unknown;
    kind?: string;
    paths?: string[];
    conflicts?: unknown[];
    cause?: number;
    thrown?: true;
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One instance of the module. */
export class Module {
  readonly #exports: Exports;
  #context: Context | undefined;
  #thrown: unknown;
  /** Values that stores threw during the running call. */
  #kept: unknown[] = [];
  /** The error that stopped the module during a call. Its memory may be inconsistent. */
  #fault: unknown;
  readonly #stores = new Map<number, Serve>();
  #lastStore = 0;

  /** A new instance, with memory of its own. */
  constructor(module: CompiledModule) {
    const system = wasi();
    const instance = new webAssembly.Instance(module, {
      wasi_snapshot_preview1: system.imports,
      memdir: { ask: (at: number, length: number) => this.#answer(at, length) },
    });
    this.#exports = instance.exports as unknown as Exports;
    system.use(this.#exports.memory);
    this.#exports._initialize?.();
  }

  /** True if a call is running. The caller of this is then one of that call's callbacks. */
  get isBusy(): boolean {
    return this.#context !== undefined;
  }

  /** True if the module stopped during a call. */
  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Runs an operation. */
  call<T>(operation: string, given: unknown[], context: Context = {}): T {
    if (this.#fault !== undefined) {
      throw new Error('memdir itself is at fault, and cannot go on', { cause: this.#fault });
    }
    if (this.isBusy) {
      throw new Error('memdir is being called by what it calls');
    }
    const { at, length } = this.put(encoder.encode(JSON.stringify([operation, ...given])));
    this.#context = context;
    this.#thrown = undefined;
    this.#kept = [];
    let outcome: Outcome;
    try {
      outcome = decode(this.#json(this.#exports.memdir_perform(at, length))) as Outcome;
    } catch (error) {
      this.#fault = error;
      throw new Error('memdir itself is at fault: it panicked', { cause: error });
    } finally {
      this.#context = undefined;
    }
    if (this.#thrown !== undefined) {
      throw (this.#thrown as { error: unknown }).error;
    }
    if (outcome.error) {
      const { cause } = outcome.error;
      throw made(outcome.error, cause === undefined ? {} : { cause: this.#kept[cause] });
    }
    return outcome.value as T;
  }

  /** Keeps a value that a store threw, until the next call begins. Returns its number. */
  keep(thrown: unknown): number {
    return this.#kept.push(thrown) - 1;
  }

  /** The value with this number, which a store threw in the last call. */
  kept(number: number): unknown {
    return this.#kept[number];
  }

  /** Copies bytes into the module's memory. */
  put(bytes: Uint8Array): Placed {
    const at = this.#exports.memdir_alloc(bytes.length);
    if (at === 0) {
      throw new RangeError(`memdir has no memory for ${bytes.length} bytes`);
    }
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    return { at, length: bytes.length };
  }

  /** Takes bytes out of the module's memory. */
  take({ at, length }: Placed): Uint8Array {
    const bytes = new Uint8Array(this.#exports.memory.buffer, at, length).slice();
    this.#exports.memdir_free(at, length);
    return bytes;
  }

  /** Reads JSON text that is prefixed with its length. */
  #json(at: number): unknown {
    const length = new DataView(this.#exports.memory.buffer).getUint32(at, true);
    const text = this.take({ at, length: length + 4 });
    return JSON.parse(decoder.decode(text.subarray(4)));
  }

  /** Answers the module's questions. An error of the caller's code is thrown after the module has returned. */
  #answer(at: number, length: number): number {
    const question = new Uint8Array(this.#exports.memory.buffer, at, length).slice();
    let answer: unknown;
    try {
      answer = this.#answered(JSON.parse(decoder.decode(question)) as Question);
    } catch (error) {
      this.#thrown ??= { error };
      answer = { thrown: true, value: { other: 'a value that cannot be read' } };
    }
    const text = encoder.encode(JSON.stringify(answer ?? null));
    const whole = new Uint8Array(4 + text.length);
    new DataView(whole.buffer).setUint32(0, text.length, true);
    whole.set(text, 4);
    return this.put(whole).at;
  }

  #answered(question: Question): unknown {
    const context = this.#context!;
    if ('field' in question) {
      return encodeField(context[question.of], question.field);
    }
    if ('block' in question) {
      context.block = (context.input as Record<string, unknown>)[question.block];
      return isObject(context.block);
    }
    if ('progress' in question) {
      return context.progress!(decode(question.progress) as never) !== false;
    }
    if ('merge' in question) {
      return mergedBy(context.merge!, decode(question.merge) as SyncMerge);
    }
    if ('before' in question) {
      const { how, said } = context.hooks![question.of]!.before(question.before, question.known);
      // The module asks for its fields.
      context.input = said;
      return { how, said: encode(said) };
    }
    if ('after' in question) {
      context.hooks![question.of]!.after(decode(question.after) as Event);
      return null;
    }
    if ('edit' in question) {
      const edited = context.edit!(this.take(question.edit));
      if (edited === null || edited === undefined) {
        return null;
      }
      if (!(edited instanceof Uint8Array)) {
        throw new TypeError('an edit returns a Uint8Array, or null');
      }
      return this.put(edited);
    }
    if ('forget' in question) {
      this.#stores.delete(question.forget);
      return null;
    }
    if ('embedder' in question) {
      return vectorsOf(this.#stores.get(question.embedder)!, question);
    }
    return answerOf(this.#stores.get(question.store)!, question, this);
  }

  /** Keeps a store or an embedder that is written in JavaScript. Returns its number. */
  add(serve: Serve): number {
    this.#lastStore += 1;
    this.#stores.set(this.#lastStore, serve);
    return this.#lastStore;
  }

  /** The new content for `content` in an update of such a store, or null. */
  edit(content: Uint8Array): Uint8Array | null {
    const { at, length } = this.put(content);
    const edited = this.#json(this.#exports.memdir_edit(at, length)) as Placed | null | false;
    if (edited === false) {
      throw new Error('edit was called after the update had ended');
    }
    return edited && this.take(edited);
  }
}

type Question =
  | { field: string; of: 'input' | 'block' }
  | { block: string }
  | { progress: object }
  | { merge: object }
  | { before: object; known: PendingCall['known']; of: 'a' | 'b' }
  | { after: object; of: 'a' | 'b' }
  | { edit: Placed }
  | { forget: number }
  | AskedOfEmbedder
  | AskedOfStore;

/** The error that a call throws, with the properties by which `errors.ts` knows it. */
function made(failed: NonNullable<Outcome['error']>, options: ErrorOptions): Error {
  const { name, message, property, value, kind, paths, conflicts } = failed;
  const error = new Error(message, options);
  if (name !== undefined && property !== undefined) {
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
    Object.assign(error, { [property]: value });
    Object.assign(error, kind && { kind }, paths && { paths }, conflicts && { conflicts });
  }
  return error;
}
