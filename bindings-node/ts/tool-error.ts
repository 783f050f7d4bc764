/**
 * The error that tells the SDK's tool runner to send a text to the model as it is, with `is_error`.
 *
 * It must be the SDK's own class, from the same module system as the runner, which `sdk.mjs` and
 * `sdk.cjs` find. Nothing is imported before the first error, so a program with another SDK does
 * not need this one.
 */

import type { ErrorKind } from '../results.cjs';
import { sdkToolError } from '../sdk.cjs';

import { withOurErrorsAsync } from './errors.js';

/** An error whose `content` is sent to the model. */
export interface ToolErrorLike extends Error {
  /** The content to send. */
  content: unknown;
  /** What kind of error it is. */
  kind?: ErrorKind;
}

type ToolErrorClass = new (content: string) => ToolErrorLike;

/** The error if the SDK is not installed. There is then no runner that would look at it. */
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

/** The error for a failed command; `cause` is what broke, for the developer. */
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

/** As {@link withOurErrorsAsync}, for what can also be refused. */
export async function withRefusals<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await withOurErrorsAsync(call);
  } catch (error) {
    const { name, content, kind } = error as Partial<ToolErrorLike>;
    const isRefusal = name === 'ToolError' && typeof content === 'string';
    throw isRefusal ? await toolError(content, kind) : error;
  }
}
