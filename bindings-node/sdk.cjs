// Finds the SDK's error for the CommonJS build, if the SDK is there: see `sdk.mjs`.
'use strict';

/** The SDK's `ToolError`, or nothing without the SDK. */
exports.sdkToolError = async () => {
  try {
    return require('@anthropic-ai/sdk/lib/tools/ToolError').ToolError;
  } catch {
    return undefined;
  }
};
