/**
 * Validates the options of a call: an object whose property names must all be known. Without it, a misspelt option
 * would be ignored silently.
 */

import { inspect } from 'node:util';

import native from '../native.cjs';

import { ConfigError } from './errors.js';

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
  return given;
}

/**
 * Checks that it is an object of options. A signal is rejected: it has no options, and was probably
 * passed without `{ signal }`.
 */
export function assertObject(given: unknown, argument: string = 'options'): void {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isObject || ('aborted' in given && 'addEventListener' in given)) {
    const shown = inspect(given, { depth: 0, maxStringLength: 100 });
    throw new ConfigError(`${argument} must be an object, got ${shown}`, argument);
  }
}
