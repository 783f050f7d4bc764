/** The history of a memory: the types of those methods of `Memory`, and what they take. */

import { isDate } from 'node:util/types';

import type {
  BlamedLine as NativeLine,
  FileVersion,
  FoundBefore,
  PastFile as NativePastFile,
  Restored as NativeRestored,
} from '../native.cjs';
import { conflict } from './conflict.js';
import type { Conflict } from './conflict.js';

import { CALL_OPTIONS } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import { ConfigError } from './errors.js';
import type { Names } from './named-options.js';

/** What a change did to a file. */
export type Operation =
  | 'created'
  | 'modified'
  | 'overwritten'
  | 'renamed'
  | 'deleted'
  | 'expired'
  | 'cleared'
  | 'restored'
  | 'imported'
  | 'redacted'
  | 'external';

/** One version of one file: what a change made of it. */
export interface Version {
  /** Names this version, for `Memory.readVersion` and the like. It sorts by time. */
  id: string;
  /** The change that made it. One change can make versions of several files. */
  change: string;
  /**
   * What was done. `external`: somebody else changed the file, not through a memory with history, and
   * this is what the next change found.
   */
  operation: Operation;
  /** Where the file is since then; where it was, if it was deleted. */
  path: string;
  /** Where it was before, if it was renamed. */
  oldPath?: string | undefined;
  /** When, by the clock of the machine that made the change. */
  time: Date;
  /** Who, as the memory that made the change was told. */
  actor?: string | undefined;
  /**
   * The size of the content in bytes. Absent if the file was deleted, its content is redacted, or
   * nobody has read it since it was moved.
   */
  size?: number | undefined;
  /** The SHA-256 of the content, in hexadecimal digits. Absent as `size`. */
  sha256?: string | undefined;
  /** Whether the file is there, and this is what it holds, as far as the history knows. */
  isCurrent: boolean;
  /** Why the content was removed from the history, if it was. */
  redacted?: string | undefined;
}

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

/** A place where `Memory.grepHistory` found something that is not there any more. */
export interface HistoryMatch {
  /** The newest version that has it. */
  version: Version;
  /** The number of the line in that version, counted from 1; absent if the name was found. */
  line?: number | undefined;
  /** The line, or the name. A long line is cut around the match, with `…` where something is left out. */
  text: string;
}

/** A file as it was at a time. */
export interface PastFile {
  /** Where it was. */
  path: string;
  /** Its size in bytes. Absent if its content is redacted, or nobody has read it since it was moved. */
  size?: number | undefined;
  /** When it was last changed before that time, if that is known. */
  modified?: Date | undefined;
  /** The id of its version. Absent for a file that was not changed since the history is kept. */
  version?: string | undefined;
}

/** A line of a file, and the version that brought it. */
export interface BlamedLine {
  /** The number of the line, counted from 1. */
  line: number;
  /** The line without its line feed. A carriage return before that is a part of the text. */
  text: string;
  /**
   * The id of the version that brought the line. Absent if the history does not know of it: another program changed the
   * file since its last version, or it has no version.
   */
  version?: string | undefined;
  /** The id of the change that made this version. */
  change?: string | undefined;
  /** What this change did. `external` if another program brought the line. */
  operation?: Operation | undefined;
  /** Who made this change, as the memory was told. */
  actor?: string | undefined;
  /** When. Of an external version, when it was noticed. */
  time?: Date | undefined;
  /**
   * Whether the line may be older than this version: another program brought it, or earlier versions were removed for
   * their age, redacted or damaged.
   */
  mayBeOlder: boolean;
}

/** What was done to a file to bring back an earlier state, or would be done. */
export interface RestoredFile {
  /** What was done. */
  operation: 'created' | 'modified' | 'renamed' | 'deleted';
  /** Where. */
  path: string;
  /** Where it was before, if it was renamed. */
  oldPath?: string | undefined;
  /** The text of the file after it, if this was merged with later changes. */
  merged?: string | undefined;
}

/** What `Memory.restore`, `Memory.undo` and `Memory.restoreAll` did. */
export interface Restored {
  /** The change that this made, which can be undone itself. Absent if there was nothing to do, or with `dryRun`. */
  change?: string | undefined;
  /** The files, in the order of their paths. */
  files: RestoredFile[];
  /** What was left out with `skipConflicts`, and why, in the order of the paths. */
  skipped: Conflict[];
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

/** What `Memory.redactText` removed from the history, or would remove. */
export interface RedactedText {
  /** The id of the change. Absent if there was nothing to do, or with `dryRun`. */
  change?: string | undefined;
  /** The versions whose contents have the text, newest first, as they were before. */
  versions: Version[];
  /** The paths of the files that have it now, with `dryRun`; otherwise that is an error. */
  current: string[];
  /**
   * The paths that have the text, as they were before, sorted: `redacted-` and random digits stand in the place of
   * the names.
   */
  names: string[];
  /** The paths that have the text in a name now, sorted: they stay. */
  keptNames: string[];
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
    throw new ConfigError(`${name} must be a Date`, name);
  }
  return date.getTime();
}

/** As {@link millis}, for a date that may be left out. */
export function optionalMillis(name: string, date: unknown): number | null {
  return date === undefined || date === null ? null : millis(name, date);
}

/** The version of the native half, with its time as a date. */
export function version({ time, ...rest }: FileVersion): Version {
  return { ...rest, time: new Date(time) };
}

/** The match of the native half, with the time of its version as a date. */
export function historyMatch({ version: found, ...rest }: FoundBefore): HistoryMatch {
  return { ...rest, version: version(found) };
}

/** The file of the native half, with its time as a date. */
export function pastFile({ modified, ...rest }: NativePastFile): PastFile {
  return modified === undefined ? rest : { ...rest, modified: new Date(modified) };
}

/** The line of the native half, with its time as a date. */
export function blamedLine({ time, operation, ...rest }: NativeLine): BlamedLine {
  const line: BlamedLine = rest;
  if (operation !== undefined) {
    line.operation = operation as Operation;
  }
  if (time !== undefined) {
    line.time = new Date(time);
  }
  return line;
}

/** What the native half restored, with the times of what was left out as dates. */
export function restored({ skipped, ...rest }: NativeRestored): Restored {
  return { ...rest, skipped: skipped.map(conflict) };
}
