/**
 * The commands of Claude's memory tool. The types are assignable to and from those of
 * `@anthropic-ai/sdk`, but the SDK need not be installed.
 *
 * They describe a valid command. The model's input is validated at run time, when it is executed.
 */

/** Shows a directory two levels deep, the numbered lines of a file, or an image. */
export interface ViewCommand {
  command: 'view';
  /** A file or directory, from `/memories` on. */
  path: string;
  /** First and last line, 1-based and inclusive; a last line of -1 is the end of the file. */
  view_range?: Array<number>;
}

/** Creates a new file and its missing parents. */
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
  /** The text to replace, exactly as it is in the file; it may span lines. */
  old_str: string;
  /** The new text; an empty one deletes. */
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

/** Deletes a file, or a directory with everything in it. */
export interface DeleteCommand {
  command: 'delete';
  /** The path to delete, from `/memories` on. */
  path: string;
}

/** Renames or moves a file or directory; never overwrites. */
export interface RenameCommand {
  command: 'rename';
  /** The path to move, from `/memories` on. */
  old_path: string;
  /** The new path, from `/memories` on. */
  new_path: string;
}

/** The input of one call of the memory tool. */
export type MemoryCommand =
  ViewCommand | CreateCommand | StrReplaceCommand | InsertCommand | DeleteCommand | RenameCommand;

/** The fields of a command whose name is already known and may be left out. */
export type CommandFields<Command extends MemoryCommand> = Omit<Command, 'command'> &
  Partial<Pick<Command, 'command'>>;

/** The fields of `str_replace`. Without `new_str`, the text is deleted. */
export type StrReplaceFields = Omit<CommandFields<StrReplaceCommand>, 'new_str'> & {
  /** The new text. */
  new_str?: string | undefined;
};
