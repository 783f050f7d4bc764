package memdir

// Calls that are cancelled at random moments, while hooks and a store wait, perhaps forever. Each reply has to be true.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// setting is a number from the environment.
func setting(name string, otherwise int64) int64 {
	if number, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return number
	}
	return otherwise
}

// erratic answers late, or only when release is called, or fails.
type erratic struct {
	mutex  sync.Mutex
	random *rand.Rand
	// While it is calm, nothing waits and nothing fails.
	isCalm bool
	// One of this many waits never ends.
	endless float64
	// Closed when the endless waits are released.
	released chan struct{}
	// Running work, including work of abandoned calls.
	busy sync.WaitGroup
	// Counts the waits that ended.
	ended atomic.Int64
}

func (e *erratic) float() float64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.random.Float64()
}

func (e *erratic) isOneIn(count float64) bool { return e.float()*count < 1 }

func (e *erratic) set(isCalm bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.isCalm = isCalm
	if !isCalm {
		e.released = make(chan struct{})
	}
}

var errErratic = errors.New("erratic")

// pause waits for a moment, or until the endless waits are released. If listens is true, it ends when the context is done,
// and returns the context's error.
func (e *erratic) pause(ctx context.Context, listens bool) error {
	e.mutex.Lock()
	isCalm, released := e.isCalm, e.released
	e.mutex.Unlock()
	if isCalm {
		return nil
	}
	moment, done := time.After(time.Duration(e.float()*2*float64(time.Millisecond))), ctx.Done()
	if e.isOneIn(e.endless) {
		moment = nil
	}
	if !listens {
		done = nil
	}
	defer e.ended.Add(1)
	select {
	case <-moment:
	case <-released:
	case <-done:
		return ctx.Err()
	}
	if e.isOneIn(100) {
		return errErratic
	}
	return nil
}

// on wraps each method of a store: it fails before the work is done, or after.
func (e *erratic) on(ctx context.Context, _ string, work func() error) error {
	e.busy.Add(1)
	defer e.busy.Done()
	if err := e.pause(ctx, e.isOneIn(3)); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return e.pause(ctx, e.isOneIn(3))
}

// randomCommand is a command on the file at a path. done checks the content of the file, and of the file at the path with
// "-moved". If the command needs a file, the file contains "old\n".
type randomCommand struct {
	name   string
	fields func(path string) map[string]any
	done   func(there, moved string) bool
}

const absent = "(absent)"

var randomCommands = []randomCommand{
	{"view", func(path string) map[string]any { return map[string]any{"path": path} }, nil},
	{"create", func(path string) map[string]any { return map[string]any{"path": path, "file_text": "new"} },
		func(there, _ string) bool { return there == "new" }},
	{"insert", func(path string) map[string]any {
		return map[string]any{"path": path, "insert_line": 0, "insert_text": "new"}
	}, func(there, _ string) bool { return there == "new\nold\n" }},
	{"delete", func(path string) map[string]any { return map[string]any{"path": path} },
		func(there, _ string) bool { return there == absent }},
	{"rename", func(path string) map[string]any {
		return map[string]any{"old_path": path, "new_path": path + "-moved"}
	}, func(there, moved string) bool { return there == absent && moved == "old\n" }},
}

// effect returns what a reply says about the change: "changed", "unchanged" or "unknown".
func effect(t *testing.T, command string, reply Reply) string {
	switch {
	case !reply.IsError && command == "view":
		return "unchanged"
	case !reply.IsError:
		return "changed"
	case strings.Contains(reply.Text, "may or may not have been saved"):
		return "unknown"
	case strings.Contains(reply.Text, "Nothing was changed"), command == "view" && strings.Contains(reply.Text, "Try again later"):
		return "unchanged"
	}
	t.Errorf("%s: %s", command, reply.Text)
	return "unknown"
}

func TestCallsThatAreCancelledAtRandomMomentsReplyTruly(t *testing.T) {
	effort, seed := int(setting("MEMDIR_EFFORT", 1)), setting("MEMDIR_SEED", time.Now().UnixNano())
	t.Logf("MEMDIR_SEED=%d", seed)
	defer SetMaxCalls(SetMaxCalls(1_000))
	for _, one := range []struct {
		name  string
		calls int
		open  func(t *testing.T, options MemoryOptions) *Memory
		// True if the store is the application's own, and may never answer.
		isOwn, history bool
	}{
		{"on a store of one's own", 500, nil, true, false},
		// Some of its requests have seconds to answer.
		{"on a store of one's own, with a history", 200, nil, true, true},
		{"in this process", 200, func(t *testing.T, options MemoryOptions) *Memory {
			return open(t, "memory:", options)
		}, false, true},
		{"in a directory", 200, func(t *testing.T, options MemoryOptions) *Memory {
			options.Durability = DurabilityRelaxed
			return open(t, t.TempDir(), options)
		}, false, true},
		{"in SQLite", 200, func(t *testing.T, options MemoryOptions) *Memory {
			options.Durability = DurabilityRelaxed
			return open(t, "sqlite:"+filepath.Join(t.TempDir(), "agent.db"), options)
		}, false, true},
	} {
		t.Run(one.name, func(t *testing.T) {
			e := &erratic{random: rand.New(rand.NewSource(seed)), isCalm: true, endless: 60}
			if one.isOwn && one.history {
				// A call makes many more requests.
				e.endless = 600
			}
			options := MemoryOptions{History: one.history}
			// The context of a call says whether the call has hooks.
			options.Before = func(ctx context.Context, _ Command, call *HookCall) (Decision, error) {
				if ctx.Value(hooked{}) == nil {
					return Allow(), nil
				}
				if e.isOneIn(4) {
					// The command itself reports a failure of the diff.
					_, _ = call.Diff(ctx)
				}
				// A hook runs in the goroutine of its call, which cannot end before the hook.
				if err := e.pause(ctx, true); err != nil {
					return Deny("Not today. Nothing was changed."), nil
				}
				return Allow(), nil
			}
			options.After = func(ctx context.Context, _ Event) {
				if ctx.Value(hooked{}) != nil {
					_ = e.pause(ctx, true)
				}
			}
			// Each round gets a new store, because checking a history takes longer the longer it is.
			for range effort {
				var memory *Memory
				if one.isOwn {
					memory = openStore(t, &interposed{Store: newOwnStore(), on: e.on}, options)
				} else {
					memory = one.open(t, options)
				}
				cancelAtRandom(t, e, memory, one.calls, one.history)
				_ = memory.Close()
			}
		})
	}
}

type hooked struct{}

func cancelAtRandom(t *testing.T, e *erratic, memory *Memory, calls int, history bool) {
	const atOnce = 100
	e.set(true)
	goroutines, threadsBefore, tally := runtime.NumGoroutine(), 0, map[string]int{}
	background := context.Background()
	// On a busy machine all calls at once may be cancelled before they begin.
	isWanting := func() bool { return tally["changed"] == 0 || tally["unchanged"] == 0 }
	for begun := 0; begun < calls || begun < calls+20*atOnce && isWanting(); begun += atOnce {
		e.set(true)
		for n := begun; n < begun+atOnce; n++ {
			if randomCommands[n%len(randomCommands)].name == "create" {
				continue
			}
			if err := memory.Write(background, fmt.Sprintf("/memories/%d", n), "old\n"); err != nil {
				t.Fatal(err)
			}
		}
		e.set(false)
		replies, cancels := make([]Reply, atOnce), make([]context.CancelFunc, atOnce)
		var running sync.WaitGroup
		for i := range atOnce {
			command := randomCommands[(begun+i)%len(randomCommands)]
			fields := command.fields(fmt.Sprintf("/memories/%d", begun+i))
			fields["command"] = command.name
			input, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			ctx := background
			if e.isOneIn(2) {
				ctx = context.WithValue(ctx, hooked{}, true)
			}
			ctx, cancels[i] = context.WithCancel(ctx)
			if e.isOneIn(20) {
				cancels[i]()
			} else if e.isOneIn(2) {
				time.AfterFunc(time.Duration(e.float()*10*float64(time.Millisecond)), cancels[i])
			}
			running.Add(1)
			go func() {
				defer running.Done()
				replies[i] = memory.Execute(ctx, input)
			}()
		}
		// Until only the endless waits are left.
		for idle, before := 0, int64(0); idle < 20; idle++ {
			time.Sleep(5 * time.Millisecond)
			if now := e.ended.Load(); now != before {
				idle, before = 0, now
			}
		}
		for _, cancel := range cancels {
			cancel()
		}
		within(t, "the calls end", running.Wait)
		e.release()
		// Abandoned work may still be done.
		within(t, "the store ends", e.busy.Wait)
		e.set(true)
		for i, reply := range replies {
			command, path := randomCommands[(begun+i)%len(randomCommands)], fmt.Sprintf("/memories/%d", begun+i)
			said := effect(t, command.name, reply)
			tally[said]++
			if command.done == nil || said == "unknown" {
				continue
			}
			there, moved := contentOf(t, memory, path), contentOf(t, memory, path+"-moved")
			if command.done(there, moved) != (said == "changed") {
				t.Errorf("%s %s: %s, and the file holds %q", command.name, path, reply.Text, there)
			}
		}
		if begun == 0 {
			threadsBefore = threads(t)
		}
	}
	e.set(true)
	checked, err := memory.Check(background)
	if err != nil || len(checked.Problems) != 0 {
		t.Errorf("%+v, %v", checked, err)
	}
	if history {
		checkHistory(t, memory)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	if now := threads(t); now > threadsBefore+atOnce {
		t.Errorf("%d threads were there after the first calls, and there are %d now", threadsBefore, now)
	}
	t.Log(tally)
	if isWanting() {
		t.Error("the calls were not cancelled at random moments: ", tally)
	}
}

// release ends all waits.
func (e *erratic) release() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	select {
	case <-e.released:
	default:
		close(e.released)
	}
}

// within fails if the work has not ended after a minute.
func within(t *testing.T, what string, work func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() { work(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("it never came to be that %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

func contentOf(t *testing.T, memory *Memory, path string) string {
	t.Helper()
	text, err := memory.Read(context.Background(), path)
	if failed := new(Error); errors.As(err, &failed) && failed.ReplyKind == ErrorNotFound {
		return absent
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkHistory checks that the history has the existing files and their contents.
func checkHistory(t *testing.T, memory *Memory) {
	t.Helper()
	ctx := context.Background()
	entries, err := memory.List(ctx, "/memories", 0)
	if err != nil {
		t.Fatal(err)
	}
	known, err := memory.FilesAt(ctx, time.Now().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var there, recorded []string
	for _, entry := range entries {
		there = append(there, entry.Path)
	}
	for _, file := range known {
		recorded = append(recorded, file.Path)
	}
	slices.Sort(there)
	slices.Sort(recorded)
	if !slices.Equal(there, recorded) {
		t.Errorf("there are %v, and the history has %v", there, recorded)
	}
	newest := map[string]Version{}
	versions, err := memory.History(ctx, HistoryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range slices.Backward(versions) {
		newest[version.Path] = version
	}
	for _, path := range there {
		held, err := memory.ReadVersion(ctx, newest[path].ID)
		if now := contentOf(t, memory, path); err != nil || string(held) != now {
			t.Errorf("%s holds %q, and its newest version %q, %v", path, now, held, err)
		}
	}
}
