/**
 * The error that tells the SDK's tool runner to send a text to the model as it is, with `is_error`.
 *
 * It must be the SDK's own class, and the one of the module system that the runner is of. This file
 * is compiled once for each: the `import()` below stays one in the ESM build and is a `require` in
 * the CommonJS build. Nothing is imported before the first error, so that who uses another SDK
 * need not have this one.
 */

/** An error whose `content` is sent to the model. */
export interface ToolErrorLike extends Error {
  /** What is sent. */
  content: unknown;
}

type ToolErrorClass = new (content: string) => ToolErrorLike;

/** What is thrown where the SDK is not installed: there is no runner then that would look at it. */
class OwnToolError extends Error implements ToolErrorLike {
  override readonly name = 'ToolError';

  constructor(readonly content: string) {
    super(content);
  }
}

let loading: Promise<ToolErrorClass> | undefined;

function load(): Promise<ToolErrorClass> {
  return import('@anthropic-ai/sdk/lib/tools/ToolError').then(
    ({ ToolError }) => ToolError,
    () => OwnToolError,
  );
}

/** The error for a failed command; `cause` is what broke, for the developer. */
export async function toolError(content: string, cause?: Error): Promise<ToolErrorLike> {
  const ToolError = await (loading ??= load());
  const error = new ToolError(content);
  if (cause) {
    error.cause = cause;
  }
  return error;
}
