/**
 * Types for your own code's access to the files of a memory: the options and results of those
 * methods of `Memory`.
 */

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import type { Names } from './named-options.js';

/** The options of `Memory.write`. */
export interface WriteOptions extends CallOptions {
  /**
   * Only writes if the file holds this text, which an earlier `read` returned. Otherwise the call is
   * refused, and nothing is changed. Default: `null`, which writes in any case.
   */
  ifUnchanged?: string | null | undefined;
}

/** The options of `Memory.list`. */
export interface ListOptions extends CallOptions {
  /** The number of levels; `null` for all. Default: 1. */
  depth?: number | null | undefined;
}

/** The options of `Memory.grep`. */
export interface GrepOptions extends CallOptions {
  /**
   * Treats the query as a regular expression, in the syntax of Rust's `regex-lite`: without
   * look-around and back-references, in linear time. Default: `false`.
   */
  regex?: boolean | undefined;
  /** Ignores the case of letters. Default: `false`. */
  ignoreCase?: boolean | undefined;
  /** The file or directory to search. Default: `/memories`. */
  path?: string | undefined;
  /** The most matches to return. Default: 100. */
  limit?: number | undefined;
}

/** The options of `Memory.search`. */
export interface SearchOptions extends CallOptions {
  /** The file or directory to search. Default: `/memories`. */
  path?: string | undefined;
  /** The most files to return; never more than 1,000. Default: 10. */
  limit?: number | undefined;
}

/** The options of `Memory.findSensitive`. */
export interface FindSensitiveOptions extends CallOptions {
  /** The most matches to return. Default: 100. */
  limit?: number | undefined;
}

/** The contents of the files that `Memory.bootstrap` creates. */
export interface Project {
  /** The subject of the project, in a line or a paragraph. */
  about: string;
  /** The features to build, one after the other. */
  features: readonly string[];
  /** Instructions to set up and start the project, such as a command. */
  init?: string | undefined;
}

/**
 * The model host that a tool's definition is for:
 *
 * - `json-schema`: `name`, `description`, and `parameters` in JSON Schema 2020-12.
 * - `openai`: a function tool of OpenAI's Responses API, strict.
 * - `openai-chat`: a function tool of OpenAI's Chat Completions API, strict. Many other hosts
 *   understand it.
 * - `anthropic-custom`: a custom tool of Anthropic's Messages API, for where the memory tool itself
 *   cannot be used.
 * - `gemini`: a function declaration of the Gemini API.
 */
export type Dialect = 'json-schema' | 'openai' | 'openai-chat' | 'anthropic-custom' | 'gemini';

/** A JSON Schema of an object. */
export type ToolSchema = {
  /** The input is an object. */
  type: 'object';
  /** The schemas of its fields. */
  properties: Record<string, Record<string, unknown>>;
  /** The required fields. */
  required: string[];
  /** No other fields are allowed. The dialect `gemini` does not support this keyword. */
  additionalProperties?: false;
};

/** A tool with its schema. */
interface Definition {
  /** The name of the tool. */
  name: string;
  /** The description for the model. */
  description: string;
  /** The schema of its input. */
  parameters: ToolSchema & { additionalProperties: false };
}

/** A function of OpenAI's APIs. */
interface Strict extends Definition {
  /** The model keeps to the schema. */
  strict: true;
}

/** The definitions by their dialects. */
interface Definitions {
  /** With the schema of the standard. */
  'json-schema': Definition;
  /** For the Responses API. */
  openai: Strict & { type: 'function' };
  /** For the Chat Completions API. */
  'openai-chat': { type: 'function'; function: Strict };
  /** For the Messages API. */
  'anthropic-custom': Omit<Definition, 'parameters'> & { input_schema: Definition['parameters'] };
  /** For the Gemini API. */
  gemini: Omit<Definition, 'parameters'> & { parameters: ToolSchema };
}

/** A tool's definition for the API of a model host. */
export type ToolDefinition<D extends Dialect = 'json-schema'> = Definitions[D];

/** The names of {@link WriteOptions}. */
export const WRITE_OPTIONS: Names<WriteOptions> = { ifUnchanged: true, ...CALL_OPTIONS };

/** The names of {@link ListOptions}. */
export const LIST_OPTIONS: Names<ListOptions> = { depth: true, ...CALL_OPTIONS };

/** The names of {@link GrepOptions}. */
export const GREP_OPTIONS: Names<GrepOptions> = {
  regex: true,
  ignoreCase: true,
  path: true,
  limit: true,
  ...CALL_OPTIONS,
};

/** The names of {@link SearchOptions}. */
export const SEARCH_OPTIONS: Names<SearchOptions> = { path: true, limit: true, ...CALL_OPTIONS };

/** The names of {@link FindSensitiveOptions}. */
export const FIND_SENSITIVE_OPTIONS: Names<FindSensitiveOptions> = { limit: true, ...CALL_OPTIONS };

/** The names of {@link Project}. */
export const PROJECT: Names<Project> = { about: true, features: true, init: true };
