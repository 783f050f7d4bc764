/**
 * The part of `WebAssembly` that memdir uses. Node has `WebAssembly`, but Node's types do not
 * declare it.
 */

/** Functions and other values that a module imports. */
export type Imports = Record<string, Record<string, unknown>>;

/** A compiled module: a `WebAssembly.Module`. */
export type CompiledModule = object;

interface Instance {
  /** The module's exports. */
  exports: object;
}

interface WebAssemblyApi {
  /** Compiles a module. */
  Module: new (bytes: Uint8Array) => CompiledModule;
  /** Creates an instance of a module. */
  Instance: new (module: CompiledModule, imports: Imports) => Instance;
}

/** The global object. */
export const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: WebAssemblyApi;
};
