/**
 * The error that makes the SDK's tool runner send a text to the model unchanged, with `is_error`.
 *
 * It must be the SDK's own class, from the same module system as the runner; `sdk.mjs` and
 * `sdk.cjs` find it. The SDK is imported only when the first error occurs, so a program with
 * another SDK does not need this one.
 */

import type { ErrorKind } from '../results.cjs';
import { sdkToolError } from '../sdk.cjs';

import { withOurErrorsAsync } from './errors.js';

/** An error whose `content` is sent to the model. */
export interface ToolErrorLike extends Error {
  /** The content to send. */
  content: unknown;
  /** The kind of error. */
  kind?: ErrorKind;
}

/** A call that failed, with the reply for the model. It is the SDK's `ToolError`, if the SDK is installed. */
export interface RefusedError extends Error {
  /** The reply for the model. */
  readonly content: string;
  /** The kind of error. */
  readonly kind: ErrorKind;
}

/**
 * Returns whether a memory threw it because a call was refused, or a command failed. Its `kind` says why.
 *
 * @example
 * ```ts
 * try {
 *   return await memory.read(path);
 * } catch (error) {
 *   if (isRefusedError(error) && error.kind === 'not_found') return undefined;
 *   throw error;
 * }
 * ```
 */
export function isRefusedError(error: unknown): error is RefusedError {
  const { name, content, kind } = Object(error ?? {}) as Partial<RefusedError>;
  return name === 'ToolError' && typeof content === 'string' && typeof kind === 'string';
}

type ToolErrorClass = new (content: string) => ToolErrorLike;

/**
 * The error if the SDK is not installed. There is no tool runner then that would check the class.
 */
class OwnToolError extends Error implements ToolErrorLike {
  override readonly name = 'ToolError';
  kind?: ErrorKind;

  constructor(readonly content: string) {
    super(content);
  }
}

let loading: Promise<ToolErrorClass> | undefined;

async function load(): Promise<ToolErrorClass> {
  return (await sdkToolError()) ?? OwnToolError;
}

/** The error for a failed command. `cause` is the underlying error, for the developer. */
export async function toolError(
  content: string,
  kind?: ErrorKind,
  cause?: Error,
): Promise<ToolErrorLike> {
  const ToolError = await (loading ??= load());
  const error = new ToolError(content);
  if (kind !== undefined) {
    error.kind = kind;
  }
  if (cause) {
    error.cause = cause;
  }
  return error;
}

/** As {@link withOurErrorsAsync}, for calls that can also be refused. */
export async function withRefusals<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await withOurErrorsAsync(call);
  } catch (error) {
    throw isRefusedError(error) ? await toolError(error.content, error.kind) : error;
  }
}
