package memdir

// What is changed in a memory, by whoever changes it.

import (
	"context"
	"iter"
	"time"
)

// How long a watch waits until it asks again whether it is time to look at the store. To ask costs next to nothing.
const watchPause = 50 * time.Millisecond

// Watch tells what anybody changes at a path and below it: this process, other ones, and what writes to the store directly.
// An empty path is everything. Nothing needs to be there yet.
//
//	for change, err := range memory.Watch(ctx, "/memories", 0) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(change.Kind, change.Path)
//	}
//
// The watch begins with the loop and ends with it, at the latest when the context is done; the error is then the context's.
// Any other error is an [*Error], and ends it as well. While it waits it holds no thread. What this process changes is seen at
// once. For the rest it looks at
// the store every so often, in any case less often if a look takes long; 0 is twice a second, and once a second if the store
// is on another machine. A rename is told as a file that is deleted and one that is written; a directory as its files. What
// is changed and changed back between two looks is not told.
func (m *Memory) Watch(ctx context.Context, path string, every time.Duration) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if err := m.watch(ctx, path, every, func(change Change) bool { return yield(change, nil) }); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			yield(Change{}, err)
		}
	}
}

// watch calls tell with each change, until that returns false.
func (m *Memory) watch(ctx context.Context, path string, every time.Duration, tell func(Change) bool) error {
	arguments := map[string]any{"path": orNull(path)}
	if every != 0 {
		arguments["every"] = every.Seconds()
	}
	var watch uint64
	if err := m.call(ctx, "watch", arguments, &watch); err != nil {
		return err
	}
	// Also if the context is done.
	defer func() { _ = m.call(context.Background(), "unwatch", map[string]any{"watch": watch}, nil) }()
	this := map[string]any{"watch": watch}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		// It waits here and not in the library, where it would hold a thread.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		var due bool
		if err := m.call(context.Background(), "is_due", this, &due); err != nil {
			return err
		}
		if due {
			var changes []Change
			if err := m.call(ctx, "changes", this, &changes); err != nil {
				return err
			}
			for _, change := range changes {
				if !tell(change) {
					return nil
				}
			}
		}
		pause.Reset(watchPause)
	}
}
