// Finds the SDK's error class for the CommonJS build, if the SDK is installed: see `sdk.mjs`.
'use strict';

/** The SDK's `ToolError`, or undefined without the SDK. */
exports.sdkToolError = async () => {
  try {
    return require('@anthropic-ai/sdk/lib/tools/ToolError').ToolError;
  } catch {
    return undefined;
  }
};
