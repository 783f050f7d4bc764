/**
 * Parts of a request to the Messages API that belong to an agent with a memory. Nothing here needs
 * the SDK.
 */

import native from '../native.cjs';

import { withOurErrors } from './errors.js';
import { optionsOf } from './named-options.js';
import type { Names } from './named-options.js';

/** The beta that a request with `context_management` needs. */
export const CONTEXT_MANAGEMENT_BETA = 'context-management-2025-06-27';

/** The beta that a request with compaction needs, in addition. */
export const COMPACTION_BETA = 'compact-2026-01-12';

/** The options of {@link contextManagement}. */
export interface ContextManagementOptions {
  /**
   * The number of input tokens at which old tool results are cleared; `null` never clears them.
   * Default: 100,000.
   */
  clearAt?: number | null | undefined;
  /** The number of recent tool uses that are kept. Default: 3. */
  keep?: number | undefined;
  /**
   * The fewest tokens to clear. If fewer could be cleared, nothing is, because clearing invalidates
   * the prompt cache. Default: `null`, any number.
   */
  clearAtLeast?: number | null | undefined;
  /** Further tools whose results are never cleared. Default: none. */
  excludeTools?: readonly string[] | undefined;
  /**
   * The number of input tokens at which the conversation is summarised; `null` never does it.
   * Default: `null`.
   */
  compactAt?: number | null | undefined;
}

/** The names of {@link ContextManagementOptions}. */
const OPTIONS: Names<ContextManagementOptions> = {
  clearAt: true,
  keep: true,
  clearAtLeast: true,
  excludeTools: true,
  compactAt: true,
};

/** The edit that clears old tool results. */
export interface ClearToolUses {
  /** The kind of edit. */
  type: 'clear_tool_uses_20250919';
  /** The number of input tokens that triggers it. */
  trigger: { type: 'input_tokens'; value: number };
  /** The number of recent tool uses that are kept. */
  keep: { type: 'tool_uses'; value: number };
  /** The tools whose results are never cleared. */
  exclude_tools: string[];
  /** The fewest tokens to clear. If fewer could be cleared, nothing is. */
  clear_at_least?: { type: 'input_tokens'; value: number };
}

/** The edit that summarises the conversation. */
export interface Compact {
  /** The kind of edit. */
  type: 'compact_20260112';
  /** The number of input tokens that triggers it. */
  trigger: { type: 'input_tokens'; value: number };
}

/** The result of {@link contextManagement}: the `context_management` of a request. */
export interface ContextManagement {
  /** The edits, in the order in which the API applies them. */
  edits: (ClearToolUses | Compact)[];
}

/**
 * The `context_management` of a request, for an agent with a memory.
 *
 * When a conversation grows, the API clears old tool results from it. The memory tool's results are
 * excluded, so the model keeps seeing its notes. Claude is warned shortly before and can save
 * important facts. With `compactAt`, the API also summarises the conversation.
 *
 * The request needs `betas: [CONTEXT_MANAGEMENT_BETA]`, and `COMPACTION_BETA` with `compactAt`.
 *
 * The stale guard cannot detect a compaction: call the memory's `forgetViews` when the content of a
 * response has a block of the type `compaction`.
 *
 * @example
 * ```ts
 * client.beta.messages.toolRunner({
 *   model, max_tokens, messages, tools,
 *   betas: [CONTEXT_MANAGEMENT_BETA],
 *   context_management: contextManagement({ clearAt: 50_000 }),
 * });
 * ```
 */
export function contextManagement(options: ContextManagementOptions = {}): ContextManagement {
  const given = optionsOf(options, OPTIONS);
  const { clearAt = 100_000, keep = 3, clearAtLeast, excludeTools = [], compactAt } = given;
  const made = withOurErrors(() =>
    native.contextManagement(clearAt, keep, clearAtLeast, excludeTools, compactAt),
  );
  return JSON.parse(made) as ContextManagement;
}
