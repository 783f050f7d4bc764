// Finds the SDK's error for the ESM build, if the SDK is there. `sdk.cjs` is the same for CommonJS.
//
// A bundler sees this import, so that what is bundled with the SDK uses the same class as its tool runner. Within `try`
// bundlers accept that the SDK, which is optional, is not installed.

/** The SDK's `ToolError`, or nothing without the SDK. */
export async function sdkToolError() {
  try {
    return (await import('@anthropic-ai/sdk/lib/tools/ToolError')).ToolError;
  } catch {
    return undefined;
  }
}
