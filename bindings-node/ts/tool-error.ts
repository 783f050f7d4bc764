/**
 * The error that tells the SDK's tool runner to send a text to the model as it is, with `is_error`.
 *
 * It must be the SDK's own class, from the same module system as the runner. This file is compiled
 * for both systems: the `import()` below stays one in the ESM build, and becomes a `require` in the
 * CommonJS build. Nothing is imported before the first error, so a program with another SDK does
 * not need this one.
 */

/** An error whose `content` is sent to the model. */
export interface ToolErrorLike extends Error {
  /** The content to send. */
  content: unknown;
}

type ToolErrorClass = new (content: string) => ToolErrorLike;

/** The error if the SDK is not installed. There is then no runner that would look at it. */
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
