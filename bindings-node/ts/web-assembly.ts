/** The part of `WebAssembly` that is used here. Node has it, and Node's types do not. */

/** Functions and other values that a module imports. */
export type Imports = Record<string, Record<string, unknown>>;

/** A module that is compiled: a `WebAssembly.Module`. */
export type CompiledModule = object;

interface Instance {
  /** What the module has. */
  exports: object;
}

interface WebAssemblyApi {
  /** Compiles a module. */
  Module: new (bytes: Uint8Array) => CompiledModule;
  /** Makes an instance of one. */
  Instance: new (module: CompiledModule, imports: Imports) => Instance;
}

/** The global object. */
export const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: WebAssemblyApi;
};
