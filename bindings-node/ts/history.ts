/** The history of a memory: the types of those methods of `Memory`, and what they take. */

import { isDate } from 'node:util/types';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import { ConfigError } from './errors.js';
import type { Names } from './named-options.js';

/** Which versions `Memory.history` returns. Without any of these: all. */
export interface HistoryQuery extends CallOptions {
  /** At most so many. */
  limit?: number | null | undefined;
  /** Only versions before this one: the id of the last one of the page that was shown before. */
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
  /** Whether what was changed since is overwritten. Default: `false`, which is a conflict. */
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
   * Keeps later changes of other lines: where a file was changed since, the lines of the undone change become what they
   * were, if no later change touches them or a line beside them. Default: `false`.
   */
  merge?: boolean | undefined;
}

/** The options of `Memory.redactText`. */
export interface RedactTextOptions extends CallOptions {
  /** The query is a regular expression, as for `grep`. Default: `false`. */
  regex?: boolean | undefined;
  /** Upper and lower case are the same, as for `grep`. Default: `false`. */
  ignoreCase?: boolean | undefined;
  /** Only returns what would be done, and which files have the text now. Default: `false`. */
  dryRun?: boolean | undefined;
}

/** What `Memory.undo` takes back. */
export type Undo =
  | {
      /** The id of a change, or of a version, which stands for the whole change that made it. */
      change: string;
      /** Not together with a change. */
      since?: null | undefined;
      /** Only together with `since`. */
      actor?: null | undefined;
    }
  | {
      /** All changes that were made at this time or later. */
      since: Date;
      /** Only those of this actor. Default: anybody's. */
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

/** As {@link millis}, for a date that may be left out. */
export function optionalMillis(name: string, date: unknown): number | null {
  return date === undefined || date === null ? null : millis(name, date);
}
