/** The SDK's `ToolError`, or undefined without the SDK. */
export declare function sdkToolError(): Promise<
  (new (content: string) => Error & { content: unknown }) | undefined
>;
