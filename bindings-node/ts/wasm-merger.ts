/** Functions that merge the conflicts of a sync, if memdir runs as WebAssembly. They must answer synchronously. */

import type { MergeRequest } from '../native.cjs';
import type { SyncMerge } from '../results.cjs';

/** The `MergeRequest` of `native.d.cts`. */
class Request {
  /** The function's answer, for the module. */
  answer: object | undefined;
  readonly #file: SyncMerge;

  constructor(file: SyncMerge) {
    this.#file = file;
  }

  takeFile(): SyncMerge {
    return this.#file;
  }

  succeed(text: string | null): void {
    this.answer ??= { text };
  }

  fail(message: string): void {
    this.answer ??= { error: message };
  }
}

/** The function's answer for a file. */
export function mergedBy(serve: (request: MergeRequest) => void, file: SyncMerge): object {
  const request = new Request(file);
  serve(request as never);
  return (
    request.answer ?? {
      error:
        'the function returned a promise, which WebAssembly cannot await: it must return the text',
    }
  );
}
