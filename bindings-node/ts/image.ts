/** Recognises images, as a view does. */

import native from '../native.cjs';

/**
 * The media type of a complete PNG or JPEG image, or `null` for anything else. A truncated image is also `null`,
 * because Anthropic's API rejects it. A view shows a file as an image only if this returns a type. Pixels are not
 * decoded.
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
