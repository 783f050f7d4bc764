/**
 * Converts JavaScript values to JSON, as `bindings-wasm/src/input.rs` reads it, and the JSON of
 * `bindings-wasm/src/results.rs` to JavaScript values. A value that JSON cannot represent becomes an object.
 */

/** A value as JSON: itself, a list of such values, or one of the objects that are made here. */
export type Encoded = null | boolean | number | string | object;

/** A property that exists. */
export interface Found {
  /** Its value. */
  value: Encoded;
}

/** The limits for list items and nested lists. Lists of texts are read whole. The binary has the same rules. */
const MAX_ITEMS = 128;
const MAX_DEPTH = 4;
/** Up to this number every integer is represented exactly. */
const EXACT = 2 ** 53;
/** An unpaired surrogate, which UTF-8 cannot encode. */
const HALF = /\p{Surrogate}/u;

/** The text as the binary receives it: with a replacement character for each unpaired surrogate. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? new TextDecoder().decode(new TextEncoder().encode(text)) : text;
}

/** A value of an input, or an argument. The module asks for an object's fields later. */
export function encode(value: unknown, depth: number = 0): Encoded {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'boolean':
      return value;
    case 'number':
      if (Math.abs(value) === Infinity) {
        return { other: String(value) };
      }
      return Number.isInteger(value) && Math.abs(value) <= EXACT
        ? value
        : { number: String(value) };
    case 'bigint':
      return { integer: String(value) };
    case 'string':
      return HALF.test(value) ? { other: 'text that is not valid Unicode' } : value;
    case 'function':
      return { other: 'a function' };
    case 'symbol':
      return { other: 'a symbol' };
    default:
      if (value === null) {
        return null;
      }
      return Array.isArray(value) ? list(value, depth) : { object: true };
  }
}

/** An argument that must be given: errors call `undefined` by its name. */
export function argument(value: unknown): Encoded {
  return value === undefined ? { other: 'undefined' } : encode(value);
}

function list(items: unknown[], depth: number): Encoded {
  if (depth === MAX_DEPTH) {
    return { other: 'a list' };
  }
  // A list may be sparse and have a length of four thousand million.
  const encoded: Encoded[] = [];
  let areTexts = depth === 0;
  for (let at = 0; at < items.length && (areTexts || at < MAX_ITEMS); at += 1) {
    const item = encode(items[at], depth + 1);
    areTexts &&= typeof item === 'string';
    encoded.push(item);
  }
  return encoded;
}

/** The module's result, with a `Date` instead of each `{ $date: milliseconds }`. The objects are changed in place. */
export function decode(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(decode);
  }
  if (!isObject(value)) {
    return value;
  }
  const fields = value as Record<string, unknown>;
  if (typeof fields['$date'] === 'number') {
    return new Date(fields['$date']);
  }
  for (const name of Object.keys(fields)) {
    fields[name] = decode(fields[name]);
  }
  return fields;
}

/** True if it is an object with fields. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own property. */
export function encodeField(of: unknown, name: string): Found | undefined {
  const own = Object.hasOwn(of as object, name);
  return own ? { value: encode((of as Record<string, unknown>)[name]) } : undefined;
}

/** Options: the entries of an object, except those that are undefined. */
export function encodeOptions(options: unknown): Encoded {
  if (options === undefined || options === null) {
    return null;
  }
  return typeof options === 'object' ? entries(options, option) : encode(options);
}

function entries(object: object, each: (value: unknown, name: string) => Encoded): Encoded {
  const set = Object.entries(object).filter(([, value]) => value !== undefined);
  return { entries: set.map(([name, value]) => [wellFormed(name), each(value, name)]) };
}

/** A key: bytes or text. */
export function encodeKey(key: unknown): Encoded {
  return option(key, 'encryptionKey');
}

function option(value: unknown, name: string): Encoded {
  if (value instanceof Uint8Array) {
    return { bytes: [...value] };
  }
  return name === 'sensitiveRules' && isObject(value)
    ? entries(value, (rule) => encode(rule))
    : encode(value);
}
