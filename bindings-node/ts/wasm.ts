/**
 * memdir as WebAssembly, for platforms without a binary. It has the same interface as the binary (`native.d.cts`). The other
 * half is `bindings-wasm`, a module that is called with JSON and bytes.
 *
 * A call does all of its work before it returns its promise: there are no threads. The only stores are those in the process.
 */

import { Buffer } from 'node:buffer';

import type * as Native from '../native.cjs';

import type { HooksInSync } from './hooks.js';
import { Module } from './wasm-module.js';
import type { Context } from './wasm-module.js';
import type { Placed, Serve } from './wasm-store.js';
import { argument, encode, encodeKey, encodeOptions, wellFormed } from './wasm-values.js';
import type { Encoded } from './wasm-values.js';
import type { CompiledModule } from './web-assembly.js';

/** Validates an argument that the binary takes as a string. */
function text(given: unknown): string {
  if (typeof given !== 'string') {
    throw new TypeError('a string is expected');
  }
  return wellFormed(given);
}

const NO_CONTRACT =
  'memdir runs as WebAssembly here, which cannot check the contract of a store: it has no threads to use the store from';

/** The interface of the binary, on a compiled module. */
export function instantiate(module: CompiledModule): typeof Native {
  const wasm = new Module(module);

  const unused = new FinalizationRegistry(([operation, number]: [string, number]) => {
    if (!wasm.isBroken) {
      wasm.call(operation, [number]);
    }
  });

  /** Does the work at once. If a callback of a running call calls this, it waits until that call has ended. */
  async function later<T>(work: () => T): Promise<T> {
    while (wasm.isBusy) {
      await undefined;
    }
    return work();
  }

  type Reply = Awaited<ReturnType<Native.Engine['execute']>>;

  function reply(answer: Reply): Reply {
    const { content } = answer;
    if (typeof content !== 'string') {
      content.bytes = Buffer.from(wasm.take(content.bytes as unknown as Placed));
    }
    if (typeof answer.thrown === 'number') {
      answer.thrown = wasm.kept(answer.thrown);
    }
    return answer;
  }

  /** A content that the module returned, or null. */
  function content(placed: unknown): Uint8Array | null {
    return placed === null ? null : wasm.take(placed as Placed);
  }

  class Cancellation {
    isCancelled = false;

    // The number identifies calls that may wait, and no call waits here.
    constructor(_number: number) {}

    cancel(): void {
      this.isCancelled = true;
    }
  }

  class PendingCall {
    readonly command: object | null;
    readonly known: Native.PendingCall['known'];
    readonly #number: number;
    readonly #cancellation: Cancellation | undefined;

    constructor(
      begun: Pick<Native.PendingCall, 'command' | 'known'> & { pending: number },
      cancellation?: Cancellation,
    ) {
      this.command = begun.command;
      this.known = begun.known;
      this.#number = begun.pending;
      this.#cancellation = cancellation;
      unused.register(this, ['engine.dropCall', begun.pending]);
    }

    diff(): Promise<string> {
      const given = () => [this.#number, !!this.#cancellation?.isCancelled];
      return later(() => wasm.call('engine.diff', given()));
    }

    returned(returned: unknown) {
      return this.#finish('returned', encode(returned), returned);
    }

    deny(sentence: string) {
      return this.#finish('deny', text(sentence));
    }

    fail(reason: string) {
      return this.#finish('fail', text(reason));
    }

    cancel() {
      return reply(wasm.call('engine.cancelCall', [this.#number])) as never;
    }

    #finish(how: string, said: Encoded, input?: unknown) {
      return later(() => {
        const given = [this.#number, !!this.#cancellation?.isCancelled, how, said];
        return reply(wasm.call('engine.finish', given, { input })) as never;
      });
    }
  }

  class Watching {
    readonly #number: number;
    #isClosed = false;

    constructor(number: number) {
      this.#number = number;
      unused.register(this, ['watch.drop', number], this);
    }

    isDue(): boolean {
      return this.#isClosed || (!wasm.isBusy && wasm.call('watch.isDue', [this.#number]));
    }

    changes(cancellation?: Cancellation) {
      return later(() => {
        const given = [this.#number, !!cancellation?.isCancelled];
        return this.#isClosed ? null : wasm.call('watch.changes', given);
      });
    }

    close(): void {
      if (!this.#isClosed) {
        this.#isClosed = true;
        unused.unregister(this);
        void later(() => wasm.call('watch.drop', [this.#number]));
      }
    }
  }

  class Engine {
    readonly #number: number;

    constructor(number: number) {
      this.#number = number;
      unused.register(this, ['engine.drop', number]);
    }

    static open(address: string, options?: object) {
      return new Engine(wasm.call('engine.open', [text(address), encodeOptions(options)]));
    }

    static onNativeStore(store: Store, options?: object) {
      return new Engine(wasm.call('engine.onStore', [store.number, encodeOptions(options)]));
    }

    static onJsStore(serve: Serve, methods: string[], options?: object) {
      const store = Store.onJsStore(serve, methods);
      const given = [store.number, encodeOptions(options), true];
      return new Engine(wasm.call('engine.onStore', given));
    }

    withEmbedder(serve: Serve) {
      return new Engine(wasm.call('engine.withEmbedder', [this.#number, wasm.add(serve)]));
    }

    execute(input: unknown, cancellation?: Cancellation | null) {
      return this.#execute(input, null, cancellation);
    }

    executeAs(name: string, input: unknown, cancellation?: Cancellation | null) {
      return this.#execute(input, text(name), cancellation);
    }

    #execute(input: unknown, name: string | null, cancellation?: Cancellation | null) {
      return later(() => {
        const given = [this.#number, !!cancellation?.isCancelled, encode(input), name];
        return reply(wasm.call('engine.execute', given, { input }));
      });
    }

    executeSearch(input: unknown, cancellation?: Cancellation | null) {
      return later(() => {
        const given = [this.#number, !!cancellation?.isCancelled, encode(input)];
        return reply(wasm.call('engine.executeSearch', given, { input }));
      });
    }

    begin(input: unknown, name?: string | null, cancellation?: Cancellation | null) {
      const given = [this.#number, encode(input), name ?? null];
      return new PendingCall(
        wasm.call('engine.begin', given, { input }),
        cancellation ?? undefined,
      );
    }

    clear(cancellation?: Cancellation | null) {
      return later(() =>
        reply(wasm.call('engine.clear', [this.#number, !!cancellation?.isCancelled])),
      );
    }

    expire(
      olderThan: number,
      dryRun: boolean,
      progress?: (at: never) => boolean,
      cancellation?: Cancellation,
    ) {
      const [age, isWatched] = [encode(olderThan), progress !== undefined];
      return later(() => {
        const flag = encode(dryRun);
        const given = [this.#number, !!cancellation?.isCancelled, age, flag, isWatched];
        return wasm.call('engine.expire', given, { progress });
      });
    }

    sync(
      other: Engine,
      options: object,
      progress?: (at: never) => boolean,
      cancellation?: Cancellation,
      merge?: (request: Native.MergeRequest) => void,
      a?: HooksInSync,
      b?: HooksInSync,
    ) {
      const present = Object.entries(options).filter(([, value]) => value !== undefined);
      const named = Object.fromEntries(present.map(([name, value]) => [name, encode(value)]));
      return later(() => {
        const given = [other.#number, named, progress !== undefined, merge !== undefined];
        const all = [this.#number, !!cancellation?.isCancelled, ...given, !!a, !!b];
        return wasm.call('engine.sync', all, { progress, merge, hooks: { a, b } });
      });
    }

    read(...given: unknown[]) {
      return this.#ask('read', ['path'], given);
    }

    readShown(...given: unknown[]) {
      return this.#ask('read_shown', ['path'], given);
    }

    async write(...given: unknown[]): Promise<void> {
      await this.#ask('write', ['path', 'text', 'if_unchanged'], given);
    }

    list(...given: unknown[]) {
      return this.#ask('list', ['path', 'depth'], given);
    }

    exists(...given: unknown[]) {
      return this.#ask('exists', ['path'], given);
    }

    grep(...given: unknown[]) {
      return this.#ask('grep', ['query', 'regex', 'ignore_case', 'path', 'limit'], given);
    }

    search(...given: unknown[]) {
      return this.#ask('search', ['query', 'path', 'limit'], given);
    }

    findSensitive(...given: unknown[]) {
      return this.#ask('find_sensitive', ['path', 'limit'], given);
    }

    async watch(path: unknown, every?: number | null, cancellation?: Cancellation) {
      return later(() => {
        const span = every === undefined || every === null ? null : encode(every);
        const given = [this.#number, !!cancellation?.isCancelled, encode(path), span];
        return new Watching(wasm.call('watch.begin', given));
      });
    }

    stats(...given: unknown[]) {
      return this.#ask('stats', [], given);
    }

    erase(...given: unknown[]) {
      return this.#ask('erase', ['dry_run'], given);
    }

    index(...given: unknown[]) {
      return this.#ask('index', ['max_chars'], given);
    }

    bootstrap(...given: unknown[]) {
      return this.#ask('bootstrap', ['about', 'features', 'init'], given);
    }

    forgetViews(): void {
      this.#call('forget_views');
    }

    toolDefinition(dialect: unknown) {
      return this.#call('tool_definition', { dialect: encode(dialect) });
    }

    toolDefinitions(dialect: unknown, prefix: unknown) {
      const given = { dialect: encode(dialect), prefix: encode(prefix) };
      return this.#call('tool_definitions', given);
    }

    searchToolDefinition(dialect: unknown, prefix: unknown) {
      const given = { dialect: encode(dialect), prefix: encode(prefix) };
      return this.#call('search_tool_definition', given);
    }

    actingAs(actor: unknown) {
      return new Engine(this.#call('acting_as', { actor: encode(actor) }) as number);
    }

    history(...given: unknown[]) {
      return this.#ask('history', ['path', 'limit', 'before', 'actor', 'change', 'since'], given);
    }

    resolveId(...given: unknown[]) {
      return this.#ask('resolve_id', ['part'], given);
    }

    exportHistory(...given: unknown[]) {
      return this.#ask('export_history', [], given).then(content);
    }

    grepHistory(...given: unknown[]) {
      return this.#ask('grep_history', ['query', 'regex', 'ignore_case', 'path', 'limit'], given);
    }

    filesAt(...given: unknown[]) {
      return this.#ask('files_at', ['at'], given);
    }

    readAt(...given: unknown[]) {
      return this.#ask('read_at', ['path', 'at'], given).then(content);
    }

    blame(...given: unknown[]) {
      return this.#ask('blame', ['path'], given);
    }

    readVersion(...given: unknown[]) {
      return this.#ask('read_version', ['id'], given).then(content);
    }

    diff(...given: unknown[]) {
      return this.#ask('diff', ['id', 'other'], given);
    }

    restore(...given: unknown[]) {
      return this.#ask('restore', ['id', 'overwrite'], given);
    }

    undo(...given: unknown[]) {
      return this.#ask(
        'undo',
        ['change', 'since', 'actor', 'dry_run', 'skip_conflicts', 'merge'],
        given,
      );
    }

    restoreAll(...given: unknown[]) {
      return this.#ask('restore_all', ['at', 'dry_run'], given);
    }

    redact(...given: unknown[]) {
      return this.#ask('redact', ['id', 'reason'], given);
    }

    redactText(...given: unknown[]) {
      return this.#ask(
        'redact_text',
        ['query', 'regex', 'ignore_case', 'reason', 'dry_run'],
        given,
      );
    }

    trimHistory(...given: unknown[]) {
      return this.#ask('trim_history', [], given);
    }

    /** Runs an operation of `bindings-shared/src/operations.rs`: its arguments by name, followed by a cancellation. */
    #ask(operation: string, names: string[], given: unknown[]): Promise<unknown> {
      const listed = names.map((name, at) => [name, given[at]] as const);
      const present = listed.filter(([, value]) => value !== undefined);
      const named = Object.fromEntries(present.map(([name, value]) => [name, encode(value)]));
      const cancellation = given[names.length] as Cancellation | undefined;
      return later(() => this.#call(operation, named, !!cancellation?.isCancelled));
    }

    #call(operation: string, named: object = {}, isCancelled: boolean = false): unknown {
      return wasm.call(`memory.${operation}`, [this.#number, isCancelled, named]);
    }
  }

  class Store {
    readonly number: number;

    constructor(address: string | number, options?: object) {
      this.number =
        typeof address === 'number'
          ? address
          : wasm.call('store.open', [text(address), encodeOptions(options)]);
      unused.register(this, ['store.drop', this.number]);
    }

    static onMounts(mounts: Mounts, options?: object) {
      return new Store(
        wasm.call<number>('store.onMounts', [mounts.taken(), encodeOptions(options)]),
      );
    }

    static onJsStore(serve: Serve, methods: string[]) {
      return new Store(wasm.call<number>('store.onJs', [wasm.add(serve), methods]));
    }

    static beneath(address: string) {
      return new Store(wasm.call<number>('store.beneath', [text(address)]));
    }

    rekey(oldKey: unknown, newKey: unknown) {
      return this.#call('rekey', [encodeKey(oldKey), encodeKey(newKey)]);
    }

    async read(path: string): Promise<Uint8Array> {
      return later(() => wasm.take(wasm.call('store.read', [this.number, argument(path)])));
    }

    list(path: string) {
      return this.#call('list', [argument(path)]);
    }

    async write(path: string, content: Uint8Array, overwrite: boolean): Promise<void> {
      const copy = content instanceof Uint8Array ? content.slice() : undefined;
      await later(() => {
        const placed = copy ? wasm.put(copy) : argument(content);
        wasm.call('store.write', [this.number, argument(path), placed, argument(overwrite)]);
      });
    }

    async update(path: string, edit: NonNullable<Context['edit']>): Promise<void> {
      await this.#call('update', [argument(path), argument(edit)], { edit });
    }

    async delete(path: string): Promise<void> {
      await this.#call('delete', [argument(path)]);
    }

    async rename(from: string, to: string): Promise<void> {
      await this.#call('rename', [argument(from), argument(to)]);
    }

    async modified(path: string): Promise<number | undefined> {
      return ((await this.#call('modified', [argument(path)])) as number | null) ?? undefined;
    }

    async setModified(path: string, time: number): Promise<void> {
      await this.#call('setModified', [argument(path), argument(time)]);
    }

    async recordAccess(path: string, time: number): Promise<void> {
      await this.#call('recordAccess', [argument(path), argument(time)]);
    }

    deleteUnused(path: string, since: number) {
      return this.#call('deleteUnused', [argument(path), argument(since)]);
    }

    check() {
      return this.#call('check', []);
    }

    copyTo(
      to: Store,
      overwrite: boolean,
      withoutHistory: boolean,
      progress?: (at: never) => boolean,
    ) {
      const flags = [encode(overwrite), encode(withoutHistory)];
      const given = [to.number, ...flags, progress !== undefined];
      return this.#call('copyTo', given, { progress });
    }

    #call(method: string, given: unknown[], context?: Context) {
      return later(() => wasm.call(`store.${method}`, [this.number, ...given], context));
    }
  }

  class Mounts {
    readonly #mounts: [at: string, place: string | number, readOnly: boolean][] = [];
    /** The stores, kept here until they are opened. */
    readonly #stores: Store[] = [];

    addAddress(at: string, address: string, readOnly: boolean): void {
      this.#mounts.push([text(at), text(address), readOnly]);
    }

    addNativeStore(at: string, store: Store, readOnly: boolean): void {
      this.#stores.push(store);
      this.#mounts.push([text(at), store.number, readOnly]);
    }

    addJsStore(at: string, serve: Serve, methods: string[], readOnly: boolean): void {
      this.addNativeStore(at, Store.onJsStore(serve, methods), readOnly);
    }

    taken() {
      return this.#mounts.splice(0);
    }
  }

  const native = {
    Cancellation,
    Engine,
    Mounts,
    NativeStore: Store,
    PendingCall,
    Watching,
    buildProfile(): string {
      return wasm.call('buildProfile', []);
    },
    unknownOption(name: string, known: string[]): string {
      return wasm.call('unknownOption', [text(name), known]);
    },
    checkSpan(name: string, given: number): void {
      wasm.call('checkSpan', [text(name), encode(given)]);
    },
    imageType(content: Uint8Array) {
      return wasm.call('imageType', [wasm.put(content)]);
    },
    keyFromFile(path: unknown): never {
      return wasm.call('keyFromFile', [encode(path)]) as never;
    },
    namespaces(address: unknown) {
      return later(() => wasm.call('store.namespaces', [text(address)]));
    },
    contractRules(): number {
      throw new Error(NO_CONTRACT);
    },
    runCommandLine(): number {
      throw new Error(
        'memdir runs as WebAssembly here, which has no file system: the program memdir needs the binary for this machine',
      );
    },
  };
  return native as unknown as typeof Native;
}
