package memdir

// Many concurrent calls hold few threads, and no call deadlocks with another one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// eventually waits for a condition, and fails after some minutes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it never came to be that " + what)
		}
	}
}

func (s *semaphore) counts() (running, waiting int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.running, s.waiting.Len()
}

// threads returns the number of threads of this process.
func threads(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, after, _ := strings.Cut(string(status), "Threads:")
	count, _, _ := strings.Cut(after, "\n")
	return must[int](t)(strconv.Atoi(strings.TrimSpace(count)))
}

// locked returns the directory of a memory, which this test has locked like another writer.
func locked(t *testing.T) (directory string, unlock func()) {
	t.Helper()
	directory = t.TempDir()
	held := must[*os.File](t)(os.Open(directory))
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	unlock = sync.OnceFunc(func() { _ = held.Close() })
	t.Cleanup(unlock)
	return directory, unlock
}

// goIn calls work in a goroutine that belongs to the group.
func goIn(group *sync.WaitGroup, work func()) {
	group.Add(1)
	go func() {
		defer group.Done()
		work()
	}()
}

func creating(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"command": "create", "path": "/memories/%d.md", "file_text": "%d\n"}`, n, n))
}

func TestAThousandCallsThatWaitForALockHoldFewThreads(t *testing.T) {
	directory, unlock := locked(t)
	memory := open(t, "dir:"+directory, MemoryOptions{LockTimeout: None[time.Duration](), Durability: DurabilityRelaxed})
	if err := os.WriteFile(filepath.Join(directory, "plain.md"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const calls = 1000
	before := threads(t)
	some, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var gone atomic.Int64
	for n := range calls {
		// The context of the first half is cancelled.
		ctx := some
		if n >= calls/2 {
			ctx = context.Background()
		}
		goIn(&all, func() {
			reply := memory.Execute(ctx, creating(n))
			if reply.IsError && strings.Contains(reply.Text, "Nothing was changed") && ctx == some {
				gone.Add(1)
			} else if reply.IsError {
				t.Errorf("%+v", reply)
			}
		})
	}
	eventually(t, "as many calls run as may, and the others wait", func() bool {
		running, waiting := forAll.changing.counts()
		return running == DefaultMaxCalls && running+waiting == calls
	})
	if now := threads(t); now > before+DefaultMaxCalls+16 {
		t.Errorf("%d threads, and before %d", now, before)
	}
	// Views do not wait for changes.
	if reply := execute(memory, `{"command": "view", "path": "/memories/plain.md"}`); !strings.Contains(reply.Text, "one") {
		t.Errorf("%+v", reply)
	}
	if text := must[string](t)(memory.Read(context.Background(), "/memories/plain.md")); text != "one\n" {
		t.Error(text)
	}
	// Calls that wait for a slot end at once when the context is done, like those that wait for the lock.
	cancel()
	eventually(t, "all calls end whose context is done", func() bool { return gone.Load() == calls/2 })
	if now := threads(t); now > before+DefaultMaxCalls+16 {
		t.Errorf("%d threads, and before %d", now, before)
	}
	unlock()
	all.Wait()
	entries := must[[]Entry](t)(memory.List(context.Background(), "/memories", 0))
	if len(entries) != calls/2+1 {
		t.Errorf("%d files", len(entries))
	}
}

func TestAnOperationThatWaitsForItsTurnEndsWithItsContext(t *testing.T) {
	directory, unlock := locked(t)
	defer SetMaxCalls(SetMaxCalls(1))
	memory := open(t, "dir:"+directory, MemoryOptions{LockTimeout: None[time.Duration]()})
	var first sync.WaitGroup
	goIn(&first, func() { execute(memory, create) })
	eventually(t, "the first call runs", func() bool { running, _ := forAll.changing.counts(); return running == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- memory.Write(ctx, "/memories/b.md", "two\n") }()
	eventually(t, "the second call waits", func() bool { _, waiting := forAll.changing.counts(); return waiting == 1 })
	cancel()
	failed := new(Error)
	if err := <-ended; !errors.As(err, &failed) || failed.Kind != KindCancelled || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	first.Wait()
	if must[bool](t)(memory.Exists(context.Background(), "/memories/b.md")) {
		t.Error("what was given up was written")
	}
}

// A hook holds no slot, so its calls on the memory cannot wait for the slot of its own call.
func TestAThousandCallsWhoseHooksUseTheMemoryNeedOnePlace(t *testing.T) {
	defer SetMaxCalls(SetMaxCalls(1))
	var memory *Memory
	var here, asked atomic.Int64
	all := make(chan struct{})
	const calls = 1000
	use := func(ctx context.Context, path string) {
		if reply := memory.Execute(ctx, json.RawMessage(view)); reply.Cause != nil {
			t.Errorf("%+v", reply)
		}
		if err := memory.Write(ctx, "/memories/log.md", path); err != nil {
			t.Error(err)
		}
		asked.Add(1)
	}
	memory = open(t, "memory:", MemoryOptions{
		Before: func(ctx context.Context, command Command, _ *HookCall) (Decision, error) {
			// Each hook waits for all the others, so they all run concurrently.
			if here.Add(1) == calls {
				close(all)
			}
			<-all
			use(ctx, command.Path)
			return Allow(), nil
		},
		After: func(ctx context.Context, event Event) { use(ctx, event.Path) },
	})
	before := threads(t)
	var group sync.WaitGroup
	for n := range calls {
		goIn(&group, func() {
			if reply := memory.Execute(context.Background(), creating(n)); reply.IsError {
				t.Errorf("%+v", reply)
			}
		})
	}
	group.Wait()
	if asked.Load() != 2*calls {
		t.Error(asked.Load())
	}
	// A call that holds no slot may need a thread for a moment.
	if now := threads(t); now > before+calls/4 {
		t.Errorf("%d threads, and before %d", now, before)
	}
}

func TestManyWatchesHoldNoThread(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{})
	before := threads(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	var all sync.WaitGroup
	var told atomic.Int64
	const watches = 200
	for range watches {
		goIn(&all, func() {
			for change, err := range memory.Watch(ctx, "", time.Hour) {
				if err == nil && change.Path == "/memories/a.md" {
					told.Add(1)
					continue
				}
				if !errors.Is(err, enough) {
					t.Errorf("%+v, %v", change, err)
				}
			}
		})
	}
	eventually(t, "all watches have told", func() bool {
		// A watch that begins after a change reports the next one.
		execute(memory, create)
		execute(memory, `{"command": "delete", "path": "/memories/a.md"}`)
		return told.Load() >= watches
	})
	// The changes above, and the looks of the watches, need some.
	if now := threads(t); now > before+DefaultMaxCalls+16 {
		t.Errorf("%d threads, and before %d", now, before)
	}
	cancel(enough)
	all.Wait()
}

func TestTheNumberOfCallsCanBeChangedWhileTheyWait(t *testing.T) {
	limit := newSemaphore(2)
	ctx := context.Background()
	limit.acquire(ctx)
	limit.acquire(ctx)
	order := make(chan int, 8)
	for n := range 4 {
		go func() { limit.acquire(ctx); order <- n }()
		eventually(t, "the call waits", func() bool { _, waiting := limit.counts(); return waiting == n+1 })
	}
	if before := limit.resize(3); before != 2 {
		t.Fatal(before)
	}
	if first := <-order; first != 0 {
		t.Fatal(first)
	}
	limit.resize(1)
	limit.release()
	limit.release()
	if running, waiting := limit.counts(); running != 1 || waiting != 3 {
		t.Fatal(running, waiting)
	}
	limit.release()
	if second := <-order; second != 1 {
		t.Fatal(second)
	}
	limit.resize(4)
	for range 2 {
		<-order
	}
	done, cancel := context.WithCancel(ctx)
	limit.acquire(ctx)
	cancel()
	if limit.acquire(done) {
		t.Fatal("there was no room for it")
	}
	if SetMaxCalls(0) != DefaultMaxCalls || SetMaxCalls(-1) != DefaultMaxCalls {
		t.Fatal("a number that is none changed something")
	}
}

// With random cancellations, no more than the limit run concurrently, and no waiting call is forgotten.
func TestASemaphoreUnderManyHands(t *testing.T) {
	limit := newSemaphore(3)
	var running, most atomic.Int64
	var all sync.WaitGroup
	for n := range 50 {
		goIn(&all, func() {
			random := rand.New(rand.NewSource(int64(n)))
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				if random.Intn(2) == 0 {
					go cancel()
				}
				if limit.acquire(ctx) {
					for now := running.Add(1); now > most.Load(); {
						most.Store(now)
					}
					running.Add(-1)
					limit.release()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if running, waiting := limit.counts(); running != 0 || waiting != 0 || most.Load() > 3 {
		t.Fatal(running, waiting, most.Load())
	}
}

func TestWhatIsAViewIsKnown(t *testing.T) {
	for input, is := range map[string]bool{
		`{"command": "view", "path": "/memories"}`:                       true,
		`{"path": "/memories", "view_range": [1, 2], "command": "view"}`: true,
		`{"type": "tool_use", "id": "1", "input": {"command": "view"}}`:  true,
		`{"command": "create", "file_text": "{\"command\": \"view\"}"}`:  false,
		`{"file_text": {"command": "view"}, "command": "create"}`:        false,
		`{"input": {"input": {"input": {"command": "view"}}}}`:           false,
		`{"command": ["view"]}`:                                          false,
		`"view"`:                                                         false,
		`{"path": `:                                                      false,
		``:                                                               false,
		"\x00":                                                           false,
		strings.Repeat("[", 100_000):                                     false,
		`{"path": ` + strings.Repeat("[", 100_000) + `, "command": "view"}`:     false,
		`{"path": "` + strings.Repeat("a", 1<<20) + `", "command": "view"}`:     true,
		`{"path": "` + strings.Repeat("a", 1<<20) + `", "command": "unknown"} `: false,
	} {
		if found := forAll.of(json.RawMessage(input)) == forAll.viewing; found != is {
			t.Errorf("%.60s: %v", input, found)
		}
	}
}
