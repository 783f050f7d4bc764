/**
 * The memory directory for agents that use Claude's memory tool (`memory_20250818`).
 *
 * {@link memoryTool} is the tool for the tool runner of `@anthropic-ai/sdk`, {@link Memory} the
 * engine for everything else.
 *
 * @module memdir
 */

export type {
  BlamedLine,
  Change,
  ChangeKind,
  Checked,
  Conflict,
  Copied,
  CopyPhase,
  CopyProgress,
  Erased,
  ErrorKind,
  Event,
  Expired,
  ExpiryProgress,
  GrepMatch,
  HistoryErrorKind,
  HistoryMatch,
  HistorySize,
  Namespace,
  Operation,
  Outcome,
  PastFile,
  Problem,
  ProblemKind,
  RedactedText,
  Repair,
  Restored,
  RestoredFile,
  SearchHit,
  SearchMatch,
  SearchPassage,
  SearchResults,
  SensitiveMatch,
  SizedPath,
  Stats,
  SyncAction,
  SyncChange,
  SyncConflict,
  SyncErrorKind,
  SyncLeftOut,
  SyncPhase,
  SyncMerge,
  SyncProgress,
  SyncReason,
  SyncRedaction,
  SyncSide,
  Synced,
  TimedPath,
  Version,
} from '../results.cjs';

export type { AnyAbortSignal, CallContext, CallOptions, Signal } from './cancellation.js';
export type {
  CommandFields,
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  MemoryCommand,
  RenameCommand,
  StrReplaceCommand,
  StrReplaceFields,
  ViewCommand,
} from './commands.js';
export { check } from './check.js';
export { copy } from './copy.js';
export type { CopyOptions } from './copy.js';
export { ConfigError, CopyError, HistoryError, SyncError } from './errors.js';
export type {
  Dialect,
  FindSensitiveOptions,
  GrepOptions,
  ListOptions,
  SearchOptions,
  Project,
  ToolDefinition,
  ToolSchema,
  WriteOptions,
} from './files.js';
export type {
  HistoryQuery,
  RedactTextOptions,
  RestoreAllOptions,
  RestoreOptions,
  Undo,
  UndoOptions,
} from './history.js';
export { Deny, HookError } from './hooks.js';
export type { Embedder, EmbedderCall, Vectors } from './embedder.js';
export type { After, Before, Changed, HookCall } from './hooks.js';
export { imageType } from './image.js';
export { keyFromFile } from './key-file.js';
export { Memory } from './memory.js';
export type { EraseOptions, ExpireOptions } from './memory.js';
export { namespaces } from './namespaces.js';
export type { MemoryOptions } from './options.js';
export { ReadOnly, openStore, readOnly, rekey } from './places.js';
export type { Place, Places } from './places.js';
export type { ImageBlock, Reply, Shown, TextOnly } from './reply.js';
export { COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, contextManagement } from './request.js';
export type {
  ClearToolUses,
  Compact,
  ContextManagement,
  ContextManagementOptions,
} from './request.js';
export { searchTool } from './search-tool.js';
export type { SearchInput, SearchTool } from './search-tool.js';
export { StoreError } from './store.js';
export type { Edit, Entry, Store, StoreErrorCode } from './store.js';
export type { MergeFunction, SyncOptions } from './sync.js';
export { isRefusedError } from './tool-error.js';
export type { RefusedError } from './tool-error.js';
export { memoryTool } from './tool.js';
export type { MemoryTool } from './tool.js';
export type { Watch, WatchOptions } from './watch.js';
