package memdir

// Changes in a memory, by any process.

import (
	"context"
	"iter"
	"time"
)

// The pause before a watch checks again whether it is time to poll the store. The check costs almost nothing.
const watchPause = 50 * time.Millisecond

// Watch reports changes at a path and below it by any process, including writes that bypass memdir. An empty path is
// everything. The path does not have to exist yet.
//
//	for change, err := range memory.Watch(ctx, "/memories", 0) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(change.Kind, change.Path)
//	}
//
// The watch begins and ends with the loop. It also ends when the context is done, with the error of the context, or after
// any other error, which is an [*Error]. A watch that waits holds no thread.
//
// Changes by this process are seen at once. To find other changes, Watch polls the store with the interval every. If a poll
// takes long, it polls less often. 0 is half a second, and one second if the store is on another machine. A rename is
// reported as a deleted file and a written file, and a directory as its files. Changes undone between two polls are not
// reported.
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

// watch calls tell with each change, until tell returns false.
func (m *Memory) watch(ctx context.Context, path string, every time.Duration, tell func(Change) bool) error {
	arguments := map[string]any{"path": orNull(path)}
	if every != 0 {
		arguments["every"] = every.Seconds()
	}
	var watch uint64
	if err := m.call(ctx, "watch", arguments, &watch); err != nil {
		return err
	}
	// The watch is closed even if the context is done.
	defer func() { _ = m.call(context.Background(), "unwatch", map[string]any{"watch": watch}, nil) }()
	this := map[string]any{"watch": watch}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		// It waits here and not in the library, where waiting would hold a thread.
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
