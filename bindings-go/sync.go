package memdir

// Syncs of two memories.

/*
#include "library.h"

extern void memdirGoServe(uint64_t store, uint64_t request, memdir_go_text *asked, memdir_go_bytes *content, size_t length);
extern void memdirGoRelease(uint64_t store);

static uint64_t with_merger(uint64_t memory, uint64_t merger, char **error) {
	memdir_host host = {memdirGoServe, memdirGoRelease};
	return memdir_with_merger(memory, &host, merger, error);
}

static uint64_t with_hooks(uint64_t memory, uint64_t hooks, char **error) {
	memdir_host host = {(void (*)(uint64_t, uint64_t, const char *, const uint8_t *, size_t))memdirGoServe, memdirGoRelease};
	return memdir_with_hooks(memory, &host, hooks, error);
}
*/
import "C"

import (
	"context"
	"runtime"
)

// OnConflict is a value of [SyncOptions.OnConflict]: which content wins a conflict.
type OnConflict string

const (
	// OnConflictKeepBoth keeps both contents: that of the first memory, and that of the second one in a copy whose name says where
	// it is from. This is the default.
	OnConflictKeepBoth OnConflict = "keep-both"
	// OnConflictA replaces the content of the second memory with that of the first one.
	OnConflictA OnConflict = "a"
	// OnConflictB replaces the content of the first memory with that of the second one.
	OnConflictB OnConflict = "b"
)

// MergeFunc merges the texts of a file that both memories changed in ways that cannot be merged line by line. It returns the text that
// both memories get. If merged is false, both contents are kept.
//
// The calls come one after another, also with DryRun, and their context is that of the sync. A call may take long, and may use both
// memories: if one of the texts is changed meanwhile, it is called again. It is not called for contents that are not text, which are
// both kept. If it fails, the sync ends with that error.
type MergeFunc func(ctx context.Context, file SyncMerge) (text string, merged bool, err error)

// SyncOptions are the options of [Memory.Sync].
type SyncOptions struct {
	// OnConflict says which content wins if both memories changed a file in ways that cannot be merged; empty keeps both.
	OnConflict OnConflict `json:"on_conflict,omitempty"`
	// Merge ends such conflicts instead, if it is not nil.
	Merge MergeFunc `json:"-"`
	// OneWay changes only the other memory.
	OneWay bool `json:"one_way,omitempty"`
	// DryRun changes nothing, and returns what would be changed.
	DryRun bool `json:"dry_run,omitempty"`
	// Delete allows the sync to delete more than a quarter of a memory's files, or all of them.
	Delete bool `json:"delete,omitempty"`
	// Redactions also takes redactions over: the content of a version that was redacted in one history is redacted in the other
	// one, if a sync brought it there. Both memories need a history.
	Redactions bool `json:"redactions,omitempty"`
	// Exclude are patterns of paths that stay as they are in both memories.
	Exclude []string `json:"exclude,omitempty"`
	// MaxFileBytes is the size of the largest files to sync; larger ones stay as they are. 0 is no limit.
	MaxFileBytes int64 `json:"max_file_bytes,omitempty"`
	// Names are the names of both memories in those of conflict copies, such as "laptop" and "server". Nil is the name of each
	// memory's directory, or "a" and "b".
	Names []string `json:"names,omitempty"`
}

// Sync makes this memory and another one equal. In the result this memory is [SyncSideA], and the other one [SyncSideB]. The model
// cannot call it.
//
// Both memories are compared with what they last agreed on. If one has changed a file, the other follows. If both have, their
// changes are merged line by line. If the same lines differ, both contents are kept, unless OnConflict is set. A file is deleted
// only if the other memory has deleted it, and this one has not changed it since. The first sync deletes nothing.
//
// The options of each memory hold for what is written to it, and its hooks are asked about each change. Its history shows the sync as one change with the actor "sync".
//
// The error is an [*Error] with KindSync, whose SyncKind is the case, or KindStore if a store failed. If more than a quarter of a
// memory's files would be deleted, or all of them, nothing is changed, unless Delete is set. If the context is done, or a store,
// a hook or Merge fails, the changes that were made before stay, and the same call makes the others.
func (m *Memory) Sync(ctx context.Context, to *Memory, options SyncOptions) (Synced, error) {
	var synced Synced
	if err := m.unopened(); err != nil {
		return synced, err
	}
	if err := to.unopened(); err != nil {
		return synced, err
	}
	defer runtime.KeepAlive(to)
	if options.Merge != nil {
		if options.OnConflict != "" {
			return synced, &Error{Kind: KindConfig, Option: "on_conflict", Message: "set OnConflict or Merge, not both"}
		}
		merging, err := m.withMerger(options.Merge)
		if err != nil {
			return synced, err
		}
		defer merging.Close()
		m = merging
	}
	reviewed, err := m.withHooks(ctx)
	if err != nil {
		return synced, err
	}
	if reviewed != m {
		defer reviewed.Close()
		m = reviewed
	}
	if reviewed, err = to.withHooks(ctx); err != nil {
		return synced, err
	}
	if reviewed != to {
		defer reviewed.Close()
		to = reviewed
	}
	arguments := struct {
		To uint64 `json:"to"`
		SyncOptions
	}{uint64(to.number), options}
	err = m.callWith(ctx, to, "sync", arguments, &synced)
	return synced, err
}

// withMerger returns the same memory with a function for the conflicts of its syncs.
func (m *Memory) withMerger(merge MergeFunc) (*Memory, error) {
	defer runtime.KeepAlive(m)
	var failed *C.char
	number := C.with_merger(m.number, C.uint64_t(serveMerger(merge)), &failed)
	if err := failure(failed); err != nil {
		return nil, err
	}
	// As with a store of the application: the function may call other memories, whose calls must not wait for this one.
	return newMemory(number, shared{m.options, newPlaces(1), true}), nil
}

// withHooks returns a memory of its own whose hooks a sync asks; the same memory if it has none, or if one of them makes the sync.
func (m *Memory) withHooks(ctx context.Context) (*Memory, error) {
	hooks := m.options.hooks(ctx)
	if hooks == nil {
		return m, nil
	}
	defer runtime.KeepAlive(m)
	var failed *C.char
	number := C.with_hooks(m.number, C.uint64_t(serveHooks(hooks)), &failed)
	if err := failure(failed); err != nil {
		return nil, err
	}
	return newMemory(number, shared{m.options, newPlaces(1), true}), nil
}
