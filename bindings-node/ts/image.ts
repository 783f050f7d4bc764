/** Recognises images, as a view does. */

import native from '../native.cjs';

/**
 * The media type of a whole PNG or JPEG image. `null` for anything else, also for an image that is cut off, which
 * Anthropic's API refuses. A view shows a file as an image if this names one. Pixels are not decoded.
 *
 * @example
 * ```ts
 * if (imageType(await readFile('chart.png')) !== null) {
 *   await store.write('/memories/chart.png', await readFile('chart.png'), false);
 * }
 * ```
 *
 * @param content The content of a file.
 */
export function imageType(content: Uint8Array): 'image/png' | 'image/jpeg' | null {
  if (!(content instanceof Uint8Array)) {
    throw new TypeError('content must be a Uint8Array');
  }
  return native.imageType(content);
}
