package memdir

// Syncs of two memories.

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

// SyncOptions are the options of [Memory.Sync].
type SyncOptions struct {
	// OnConflict says which content wins if both memories changed a file in ways that cannot be merged; empty keeps both.
	OnConflict OnConflict `json:"on_conflict,omitempty"`
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
// The options of each memory hold for what is written to it. Its history shows the sync as one change with the actor "sync".
//
// The error is an [*Error] with KindSync, whose SyncKind is the case, or KindStore if a store failed. If more than a quarter of a
// memory's files would be deleted, or all of them, nothing is changed, unless Delete is set. If the context is done, or a store
// fails, the changes that were made before stay, and the same call makes the others.
func (m *Memory) Sync(ctx context.Context, to *Memory, options SyncOptions) (Synced, error) {
	var synced Synced
	if err := m.unopened(); err != nil {
		return synced, err
	}
	if err := to.unopened(); err != nil {
		return synced, err
	}
	defer runtime.KeepAlive(to)
	arguments := struct {
		To uint64 `json:"to"`
		SyncOptions
	}{uint64(to.number), options}
	err := m.callWith(ctx, to, "sync", arguments, &synced)
	return synced, err
}
