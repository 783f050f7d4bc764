/** The history of a memory: the result and option types of the history methods of `Memory`. */

import { isDate } from 'node:util/types';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import { ConfigError } from './errors.js';
import type { Names } from './named-options.js';

/** The filters of `Memory.history`. Without any of these it returns all versions. */
export interface HistoryQuery extends CallOptions {
  /** The most versions to return. */
  limit?: number | null | undefined;
  /** Only versions older than the one with this id: the last id of the previous page. */
  before?: string | null | undefined;
  /** Only versions that this actor made. */
  actor?: string | null | undefined;
  /** Only versions of the change with this id. */
  change?: string | null | undefined;
  /** Only versions that were made at this time or later. */
  since?: Date | null | undefined;
}

/** The options of `Memory.restore`. */
export interface RestoreOptions extends CallOptions {
  /** Overwrites changes that were made since. Default: `false`, which makes them a conflict. */
  overwrite?: boolean | undefined;
}

/** The options of `Memory.restoreAll`. */
export interface RestoreAllOptions extends CallOptions {
  /** Only returns what would be done. Default: `false`. */
  dryRun?: boolean | undefined;
}

/** The options of `Memory.undo`. */
export interface UndoOptions extends RestoreAllOptions {
  /**
   * Leaves out the files that cannot be undone because of a conflict, and undoes the rest. `skipped` of the result
   * lists them. Default: `false`.
   */
  skipConflicts?: boolean | undefined;
  /**
   * Keeps later changes of other lines. In a file that was changed since, only the lines of the undone change are
   * reverted, if no later change touches them or an adjacent line. Default: `false`.
   */
  merge?: boolean | undefined;
}

/** The options of `Memory.redactText`. */
export interface RedactTextOptions extends CallOptions {
  /** The query is a regular expression, as for `grep`. Default: `false`. */
  regex?: boolean | undefined;
  /** Upper and lower case are the same, as for `grep`. Default: `false`. */
  ignoreCase?: boolean | undefined;
  /** Returns what would be removed, and the current files that have the text. Default: `false`. */
  dryRun?: boolean | undefined;
}

/** The changes that `Memory.undo` undoes. */
export type Undo =
  | {
      /** The id of a change, or of a version, which means the whole change that made it. */
      change: string;
      /** Not together with a change. */
      since?: null | undefined;
      /** Only together with `since`. */
      actor?: null | undefined;
    }
  | {
      /** All changes that were made at this time or later. */
      since: Date;
      /** Only changes of this actor. Default: changes of all actors. */
      actor?: string | null | undefined;
      /** Not together with `since`. */
      change?: null | undefined;
    };

/** The names of {@link HistoryQuery}. */
export const HISTORY_QUERY: Names<HistoryQuery> = {
  limit: true,
  before: true,
  actor: true,
  change: true,
  since: true,
  ...CALL_OPTIONS,
};

/** The names of {@link RestoreOptions}. */
export const RESTORE_OPTIONS: Names<RestoreOptions> = { overwrite: true, ...CALL_OPTIONS };

/** The names of {@link RestoreAllOptions}. */
export const RESTORE_ALL_OPTIONS: Names<RestoreAllOptions> = { dryRun: true, ...CALL_OPTIONS };

/** The names of {@link UndoOptions}. */
export const UNDO_OPTIONS: Names<UndoOptions> = {
  dryRun: true,
  skipConflicts: true,
  merge: true,
  ...CALL_OPTIONS,
};

/** The names of {@link RedactTextOptions}. */
export const REDACT_TEXT_OPTIONS: Names<RedactTextOptions> = {
  regex: true,
  ignoreCase: true,
  dryRun: true,
  ...CALL_OPTIONS,
};

/** The names of {@link Undo}. */
export const UNDO: Names<Undo> = { change: true, since: true, actor: true };

/** The milliseconds of a date. */
export function millis(name: string, date: unknown): number {
  if (!isDate(date)) {
    throw new ConfigError(`${name} must be a valid Date`, name);
  }
  return date.getTime();
}

/** As {@link millis}, for an optional date. */
export function optionalMillis(name: string, date: unknown): number | null {
  return date === undefined || date === null ? null : millis(name, date);
}
