// Finds the SDK's error class for the ESM build, if the SDK is installed. `sdk.cjs` does the same for CommonJS.
//
// Bundlers see this import, so a bundle that includes the SDK uses the same class as its tool runner. Inside `try`,
// bundlers accept that the optional SDK is not installed.

/** The SDK's `ToolError`, or undefined without the SDK. */
export async function sdkToolError() {
  try {
    return (await import('@anthropic-ai/sdk/lib/tools/ToolError')).ToolError;
  } catch {
    return undefined;
  }
}
