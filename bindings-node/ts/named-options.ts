/**
 * Validates the options of a call: an object whose property names must all be known. Without it, a misspelt option
 * would be ignored silently.
 */

import native from '../native.cjs';

import { ConfigError } from './errors.js';
import { shown } from './store.js';

/** The names of all options of a type. The compiler compares them with the type. */
export type Names<Options extends object> = { readonly [Name in keyof Options]-?: true };

/**
 * The given options, or an empty object. Only own properties count, and `undefined` counts as absent, as for the options of
 * a memory.
 *
 * @throws {@link ConfigError} for an option whose name is unknown, or if it is not an object.
 */
export function optionsOf<Options extends object>(
  given: Options | null | undefined,
  names: Names<Options>,
  argument: string = 'options',
): Partial<Options> {
  if (given === undefined || given === null) {
    return {};
  }
  assertObject(given, argument);
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(names, name)) {
      throw new ConfigError(native.unknownOption(name, Object.keys(names)), name);
    }
  }
  assertSignal((given as { signal?: unknown }).signal);
  return given;
}

/** Checks that it is a function, or absent. Otherwise the mistake would show only when it is called, after a change. */
export function assertFunction(name: string, given: unknown): void {
  if (given !== undefined && given !== null && typeof given !== 'function') {
    throw new ConfigError(`${name} must be a function, or null, got ${shown(given)}`, name);
  }
}

/** Checks that it is an `AbortSignal`, or absent. */
export function assertSignal(given: unknown): void {
  const { addEventListener, removeEventListener } = Object(given ?? {});
  const isSignal =
    typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  if (given !== undefined && given !== null && !isSignal) {
    throw new ConfigError(`signal must be an AbortSignal, or null, got ${shown(given)}`, 'signal');
  }
}

/**
 * Checks that it is an object of options. A signal is rejected: it has no options, and was probably
 * passed without `{ signal }`.
 */
export function assertObject(given: unknown, argument: string = 'options'): void {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isObject || ('aborted' in given && 'addEventListener' in given)) {
    throw new ConfigError(`${argument} must be an object, got ${shown(given)}`, argument);
  }
}
