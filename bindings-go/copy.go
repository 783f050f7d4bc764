package memdir

// Operations on whole stores: verifying and copying.

import (
	"context"
	"runtime"
)

// Check verifies the store of the memory and its history: it inspects the store's structures, and reads every file, every record
// of the history and every version. It changes nothing, and other processes may use the store meanwhile. The model cannot call
// it.
//
// The Problems of the result list what is wrong. If the store fails in the middle, the failure is one of them, beside the
// problems found before. The error is an [*Error] if the store fails before anything was read.
func (m *Memory) Check(ctx context.Context) (Checked, error) {
	var checked Checked
	err := m.call(ctx, "check", nil, &checked)
	return checked, err
}

// CopyOptions are the options of [Memory.CopyTo].
type CopyOptions struct {
	// Overwrite replaces files that have another content.
	Overwrite bool
	// WithoutHistory copies only the files, and not the history.
	WithoutHistory bool
}

// CopyTo copies everything to another memory: contents, times, hidden files, empty directories and the history. Nothing is ever
// deleted. The model cannot call it.
//
// Both memories are compared first. If a file with the same content already exists, only its time is set. If a file with another
// content exists, nothing is copied at all, unless Overwrite is set: the error is then an [*Error] with KindCopy and the Paths.
// If the other memory has a history of its own, or the history of this one is damaged, nothing is copied either, unless
// WithoutHistory is set. Everything that is written is read back and compared. If the context is done, or a store fails, the files that are already
// copied stay, and the same call copies the rest.
func (m *Memory) CopyTo(ctx context.Context, to *Memory, options CopyOptions) (Copied, error) {
	var copied Copied
	if err := m.unopened(); err != nil {
		return copied, err
	}
	if err := to.unopened(); err != nil {
		return copied, err
	}
	defer runtime.KeepAlive(to)
	arguments := map[string]any{
		"to": uint64(to.number), "overwrite": options.Overwrite, "without_history": options.WithoutHistory,
	}
	err := m.callWith(ctx, to, "copy", arguments, &copied)
	return copied, err
}
