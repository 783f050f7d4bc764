/** The answer to a call: its types, and the conversion from the native half's answer. */

import { Buffer } from 'node:buffer';

import type { ErrorKind } from '../results.cjs';

import { storeError } from './errors.js';
import { HookError } from './hooks.js';
import type { Answered } from './hooks.js';
import type { MemoryOptions } from './options.js';
import { ofKind } from './store.js';
import type { StoreError, StoreErrorCode } from './store.js';
import { toolError } from './tool-error.js';

/** An image block, as the Messages API accepts it in a `tool_result`. */
export interface ImageBlock {
  /** The kind of block. */
  type: 'image';
  /** The image: its media type, according to its content, and the content in base64. */
  source: { type: 'base64'; media_type: 'image/png' | 'image/jpeg'; data: string };
}

/** Options with which views return only text. */
export interface TextOnly {
  /** No images. */
  maxImageBytes: null;
}

/**
 * The content that a memory with these options shows: text, or an array with an image block for the
 * view of an image. With `maxImageBytes: null` it is always text.
 */
export type Shown<Given extends MemoryOptions = MemoryOptions> = Given extends TextOnly
  ? string
  : string | ImageBlock[];

/** The answer to one call of the tool. */
export interface Reply<Given extends MemoryOptions = MemoryOptions> {
  /**
   * The content for the model: text, or an array with an image block. The Messages API accepts both
   * as the content of a `tool_result`.
   */
  content: Shown<Given>;
  /** True if the command failed: the `is_error` of the `tool_result`. */
  isError: boolean;
  /** The kind of error; absent if there is no error. */
  kind?: ErrorKind;
  /**
   * The error, if the store itself or the hook `before` failed, or if the call was cancelled (`ECANCELED`). Its own `cause`
   * is the value that your store or your hook threw. Write it to your log and do not show it to the model, because it may
   * name paths and hosts.
   */
  cause?: StoreError | HookError;
}

/** The content of a reply, or the error that the SDK's tool runner understands. */
export async function orThrow<G extends MemoryOptions>(reply: Reply<G>): Promise<Shown<G>> {
  if (reply.isError) {
    throw await toolError(reply.content as string, reply.kind, reply.cause);
  }
  return reply.content;
}

/** Converts the native half's answer to a reply. */
export function reply<G extends MemoryOptions>(answered: Answered): Reply<G> {
  const { content: shown, isError, cause, code, hook, thrown } = answered;
  const kind = answered.kind as ErrorKind | undefined;
  // With the options for text only, the native half never returns an image.
  const content = (typeof shown === 'string' ? shown : image(shown)) as Shown<G>;
  if (kind === undefined) {
    return { content, isError };
  }
  if (cause === undefined) {
    return { content, isError, kind };
  }
  if (hook) {
    return { content, isError, kind, cause: new HookError(cause, { cause: thrown }) };
  }
  const from = 'thrown' in answered ? { cause: thrown } : {};
  const failed = ofKind(storeError(code as StoreErrorCode, cause, from), kind);
  return { content, isError, kind, cause: failed };
}

function image({ mediaType, bytes }: Exclude<Answered['content'], string>): ImageBlock[] {
  const data = Buffer.from(bytes).toString('base64');
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
}
