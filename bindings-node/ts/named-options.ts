/** The options of a call: an object of which memdir knows every name. A misspelt one would otherwise do without it. */

import { inspect } from 'node:util';

import native from '../native.cjs';

import { ConfigError } from './errors.js';

/** The names of all options of a type. The compiler compares them with the type. */
export type Names<Options extends object> = { readonly [Name in keyof Options]-?: true };

/**
 * The options that are given, or none. Only own properties count, and `undefined` counts as absent, as for the options of a
 * memory.
 *
 * @throws {@link ConfigError} for an option that is not among the names, or if it is no object.
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

/** Checks that it is an object of options. A signal has none, and is itself one. */
export function assertObject(given: unknown, argument: string = 'options'): void {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isObject || ('aborted' in given && 'addEventListener' in given)) {
    const shown = inspect(given, { depth: 0, maxStringLength: 100 });
    throw new ConfigError(`${argument} must be an object, got ${shown}`, argument);
  }
}
