/**
 * The commands of Claude's memory tool, in the shapes that `@anthropic-ai/sdk` gives them, so that
 * its types and these are assignable to each other without the SDK being installed.
 *
 * They say what a command should look like. What a model sends is validated when it is executed.
 */

/** Shows a directory two levels deep, the numbered lines of a file, or an image. */
export interface ViewCommand {
  command: 'view';
  /** A file or directory, from `/memories` on. */
  path: string;
  /** First and last line, 1-based and inclusive; a last line of -1 is the end of the file. */
  view_range?: Array<number>;
}

/** Makes a new file, with its parents. */
export interface CreateCommand {
  command: 'create';
  /** The file, from `/memories` on. */
  path: string;
  /** Its content. */
  file_text: string;
}

/** Replaces the only occurrence of a text in a file. */
export interface StrReplaceCommand {
  command: 'str_replace';
  /** The file, from `/memories` on. */
  path: string;
  /** The text to replace, exactly as it stands in the file; it may span lines. */
  old_str: string;
  /** What to put there; the empty text deletes. */
  new_str: string;
}

/** Inserts whole lines into a file. */
export interface InsertCommand {
  command: 'insert';
  /** The file, from `/memories` on. */
  path: string;
  /** The line to insert after; 0 is the start of the file. */
  insert_line: number;
  /** The lines. */
  insert_text: string;
}

/** Deletes a file, or a directory and all that it holds. */
export interface DeleteCommand {
  command: 'delete';
  /** What to delete, from `/memories` on. */
  path: string;
}

/** Renames or moves a file or directory; never overwrites. */
export interface RenameCommand {
  command: 'rename';
  /** What to move, from `/memories` on. */
  old_path: string;
  /** Where to, from `/memories` on. */
  new_path: string;
}

/** The input of one call of the memory tool. */
export type MemoryCommand =
  ViewCommand | CreateCommand | StrReplaceCommand | InsertCommand | DeleteCommand | RenameCommand;

/** The fields of a command where its name is known already and may be left out. */
export type CommandFields<Command extends MemoryCommand> = Omit<Command, 'command'> &
  Partial<Pick<Command, 'command'>>;
