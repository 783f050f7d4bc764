/** What stands against bringing back an earlier state; the errors and the results have it. */

import type { Conflict as NativeConflict } from '../native.cjs';

/** A path that was changed since, or where something is in the way, so a file is not brought back there. */
export interface Conflict {
  /** The path. */
  path: string;
  /**
   * Whether it is in the way: a file where a directory is needed, or a directory or something else where a file is
   * needed. It is never overwritten. Delete or rename it first.
   */
  inTheWay: boolean;
  /**
   * The id of the newest later change of the file. Absent if it is not recorded: another program changed the file since
   * its last version, or something is in the way.
   */
  change?: string | undefined;
  /** Who made this change, as the memory was told. */
  actor?: string | undefined;
  /** When. If another program made the change, when it was noticed. */
  time?: Date | undefined;
}

/** The conflict of the native half, with its time as a date. */
export function conflict({ time, ...rest }: NativeConflict): Conflict {
  return time === undefined ? rest : { ...rest, time: new Date(time) };
}
