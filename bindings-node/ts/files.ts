/** What your own code does with the files of a memory: the types of those methods of `Memory`. */

import type { FileTime, MemoryStats } from '../native.cjs';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import type { Names } from './named-options.js';

/** The options of `Memory.write`. */
export interface WriteOptions extends CallOptions {
  /**
   * Only writes if the file holds this text, which is what `read` returned before. Otherwise the call
   * is refused, and nothing was changed. Default: `null`, writes in any case.
   */
  ifUnchanged?: string | null | undefined;
}

/** The options of `Memory.list`. */
export interface ListOptions extends CallOptions {
  /** How many levels deep; `null` for all. Default: 1. */
  depth?: number | null | undefined;
}

/** The options of `Memory.grep`. */
export interface GrepOptions extends CallOptions {
  /**
   * Whether the query is a regular expression, in the syntax of Rust's `regex-lite`: without
   * look-around and back-references, in linear time. Default: `false`.
   */
  regex?: boolean | undefined;
  /** Whether case makes no difference. Default: `false`. */
  ignoreCase?: boolean | undefined;
  /** The file or directory to search. Default: `/memories`. */
  path?: string | undefined;
  /** The most matches to return. Default: 100. */
  limit?: number | undefined;
}

/** The options of `Memory.findSensitive`. */
export interface FindSensitiveOptions extends CallOptions {
  /** The most matches to return. Default: 100. */
  limit?: number | undefined;
}

/** A place where `Memory.findSensitive` found something. It does not have the text itself. */
export interface SensitiveMatch {
  /** The path of the file, or of the directory whose name it is. */
  path: string;
  /** The number of the line, counted from 1; absent if it is in the name. */
  line?: number | undefined;
  /** The id of the rule. */
  rule: string;
}

/** How much a memory holds. */
export interface Stats {
  /** The number of files. Hidden ones count; those of the history do not. */
  files: number;
  /** The number of directories below `/memories`. A hidden one counts if there is a file in it. */
  directories: number;
  /** The bytes of all files together. */
  bytes: number;
  /** The largest file, with its size in bytes; absent if there are no files. */
  largest?: { path: string; bytes: number } | undefined;
  /** The file whose last change is the longest ago; absent if the store does not keep times. */
  oldest?: { path: string; time: Date } | undefined;
  /** The file that was changed last. */
  newest?: { path: string; time: Date } | undefined;
  /**
   * The file that was not used for the longest time, and when it was used last. Absent if the store
   * does not keep accesses, or is read-only. Without `recordAccess`, only changes count as uses.
   */
  leastRecentlyUsed?: { path: string; time: Date } | undefined;
  /** How much the history holds; absent if the memory has none. */
  history?:
    | {
        /** The number of versions of all files, those of deleted files included. */
        versions: number;
        /** The bytes of its records, as `historyMaxBytes` counts them. */
        bytes: number;
      }
    | undefined;
}

/** What `Memory.bootstrap` writes down. */
export interface Project {
  /** What the project is about, in a line or a paragraph. */
  about: string;
  /** The features to build, one after the other. */
  features: readonly string[];
  /** How the project is set up and started, such as a command. */
  init?: string | undefined;
}

/** A place where `Memory.grep` found something. */
export interface GrepMatch {
  /** The path of the file, or of the directory whose name it is. */
  path: string;
  /** The number of the line, counted from 1; absent if the name was found. */
  line?: number | undefined;
  /** The line, or the name. A long line is cut around the match, with `…` where something is left out. */
  text: string;
}

/**
 * Which model host a tool's definition is for:
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
  /** The fields that have to be there. */
  required: string[];
  /** No other fields may be there. The dialect `gemini` does not know this word. */
  additionalProperties?: false;
};

/** A tool with its schema. */
interface Definition {
  /** The name of the tool. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** The schema of its input. */
  parameters: ToolSchema & { additionalProperties: false };
}

/** A function of OpenAI's. */
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

/** The names of {@link FindSensitiveOptions}. */
export const FIND_SENSITIVE_OPTIONS: Names<FindSensitiveOptions> = { limit: true, ...CALL_OPTIONS };

/** The names of {@link Project}. */
export const PROJECT: Names<Project> = { about: true, features: true, init: true };

/** The statistics of the native half, with their times as dates. */
export function stats({ oldest, newest, leastRecentlyUsed, ...rest }: MemoryStats): Stats {
  const at = (file: FileTime) => ({ path: file.path, time: new Date(file.time) });
  return {
    ...rest,
    ...(oldest && { oldest: at(oldest) }),
    ...(newest && { newest: at(newest) }),
    ...(leastRecentlyUsed && { leastRecentlyUsed: at(leastRecentlyUsed) }),
  };
}
