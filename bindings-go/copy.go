package memdir

// What concerns whole stores: whether one is as it should be, and copies.

import (
	"context"
	"runtime"
)

// Check verifies the store of the memory and its history: it inspects the store's structures, and reads every file, every record of
// the history and every version. It changes nothing, and others may use the store meanwhile. The model cannot ask for it.
//
// What is wrong is in the Problems of the result. A store that fails in the middle is a problem, too: what was found before is
// kept. The error is an [*Error] if the store fails before anything was read.
func (m *Memory) Check(ctx context.Context) (Checked, error) {
	var checked Checked
	err := m.call(ctx, "check", nil, &checked)
	return checked, err
}

// CopyOptions say how [Memory.CopyTo] copies.
type CopyOptions struct {
	// Overwrite replaces files that have another content.
	Overwrite bool
}

// CopyTo copies everything to another memory: contents, times, hidden files and empty directories, without the history. Nothing is
// ever deleted. The model cannot ask for it.
//
// Both memories are compared first. A file that is there already with the same content only gets its time. If one is there with
// another content, nothing is copied at all, unless Overwrite is set: the error is then an [*Error] with KindCopy and the Paths.
// What is written is read back and compared. If the context is done, or a store fails, what was copied before stays, and the same
// call does the rest.
func (m *Memory) CopyTo(ctx context.Context, to *Memory, options CopyOptions) (Copied, error) {
	var copied Copied
	if err := m.unopened(); err != nil {
		return copied, err
	}
	if err := to.unopened(); err != nil {
		return copied, err
	}
	defer runtime.KeepAlive(to)
	arguments := map[string]any{"to": uint64(to.number), "overwrite": options.Overwrite}
	err := m.callWith(ctx, m.isOwn || to.isOwn, "copy", arguments, &copied)
	return copied, err
}
