package memdir

// Stores of the application: their results, their failures, and calls that end even if a store does not answer.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// newOwnStore makes a store. The external tests set it, because a package that implements Store imports this one.
var newOwnStore func() Store

// SetOwnStore sets newOwnStore for the external tests.
func SetOwnStore(make func() Store) { newOwnStore = make }

// interposed is a store that calls on for every method.
type interposed struct {
	Store
	on func(ctx context.Context, method string, work func() error) error
}

func (s *interposed) Read(ctx context.Context, path string) (content []byte, err error) {
	err = s.on(ctx, "Read", func() (err error) { content, err = s.Store.Read(ctx, path); return })
	return
}

func (s *interposed) List(ctx context.Context, path string) (entries []Entry, err error) {
	err = s.on(ctx, "List", func() (err error) { entries, err = s.Store.List(ctx, path); return })
	return
}

func (s *interposed) Write(ctx context.Context, path string, content []byte, overwrite bool) error {
	return s.on(ctx, "Write", func() error { return s.Store.Write(ctx, path, content, overwrite) })
}

func (s *interposed) Update(ctx context.Context, path string, edit Edit) error {
	return s.on(ctx, "Update", func() error { return s.Store.Update(ctx, path, edit) })
}

func (s *interposed) Delete(ctx context.Context, path string) error {
	return s.on(ctx, "Delete", func() error { return s.Store.Delete(ctx, path) })
}

func (s *interposed) Rename(ctx context.Context, from, to string) error {
	return s.on(ctx, "Rename", func() error { return s.Store.Rename(ctx, from, to) })
}

// through opens a memory on a store that goes through on, once the store has a file.
func through(t *testing.T, options MemoryOptions, on func(ctx context.Context, method string, work func() error) error) (*Memory, Store) {
	t.Helper()
	store := &interposed{Store: newOwnStore(), on: func(_ context.Context, _ string, work func() error) error { return work() }}
	memory := openStore(t, store, options)
	if reply := execute(memory, create); reply.IsError {
		t.Fatalf("%+v", reply)
	}
	store.on = on
	return memory, store.Store
}

// commandOf is a command that calls each method of the store.
var commandOf = map[string]string{
	"Read":   view,
	"List":   `{"command": "view", "path": "/memories"}`,
	"Write":  `{"command": "create", "path": "/memories/b.md", "file_text": "new\n"}`,
	"Update": `{"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "new"}`,
	"Rename": `{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/c.md"}`,
	"Delete": `{"command": "delete", "path": "/memories/a.md"}`,
}

func TestAStoreKeepsBytes(t *testing.T) {
	store := newOwnStore()
	memory, ctx := openStore(t, store, MemoryOptions{History: true}), context.Background()
	for _, content := range [][]byte{{}, {0}, {0xff, 0xfe, 0, 'a'}, []byte("é"), bytes.Repeat([]byte{0, 1, 0x80}, 400_000)} {
		arguments := map[string]any{"path": "/memories/a", "base64": base64.StdEncoding.EncodeToString(content)}
		if err := memory.call(ctx, "testing.write", arguments, nil); err != nil {
			t.Fatal(err)
		}
		if read, err := store.Read(ctx, "/memories/a"); err != nil || !bytes.Equal(read, content) {
			t.Fatalf("%.20q, %v", read, err)
		}
		versions, err := memory.History(ctx, HistoryQuery{Path: "/memories/a", Limit: 1})
		if err != nil || len(versions) != 1 {
			t.Fatal(versions, err)
		}
		if kept, err := memory.ReadVersion(ctx, versions[0].ID); err != nil || !bytes.Equal(kept, content) {
			t.Fatalf("%.20q, %v", kept, err)
		}
	}
	for _, edit := range [][2]string{{"one\n", ""}, {"", "two\n"}} {
		if err := memory.Write(ctx, "/memories/b", edit[0]); err != nil {
			t.Fatal(err)
		}
		if err := memory.WriteIfUnchanged(ctx, "/memories/b", edit[1], edit[0]); err != nil {
			t.Fatal(err)
		}
		if read, err := store.Read(ctx, "/memories/b"); err != nil || string(read) != edit[1] {
			t.Fatalf("%q, %v", read, err)
		}
	}
}

// memoriesOn opens memories on the store: directly, and through a history, encryption and mounts.
func memoriesOn(t *testing.T, store Store) map[string]*Memory {
	mounted, err := OpenMounts([]Mount{{Path: "/memories", Store: store}}, MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mounted.Close() })
	return map[string]*Memory{
		"alone":          openStore(t, store, MemoryOptions{}),
		"with a history": openStore(t, store, MemoryOptions{History: true}),
		"mounted":        mounted,
	}
}

func TestAnErrorOfAStoreIsTheCause(t *testing.T) {
	own := errors.New("db.internal is gone")
	broken := false
	store := &interposed{Store: newOwnStore(), on: func(_ context.Context, _ string, work func() error) error {
		if broken {
			return fmt.Errorf("asking: %w", own)
		}
		return work()
	}}
	execute(openStore(t, store, MemoryOptions{}), create)
	for how, memory := range memoriesOn(t, store) {
		broken = true
		ctx := context.Background()
		for method, command := range commandOf {
			reply := execute(memory, command)
			failed := new(Error)
			if !errors.Is(reply.Cause, own) || !errors.As(reply.Cause, &failed) || failed.Kind != KindStore {
				t.Errorf("%s, %s: %+v", how, method, reply)
			}
			if strings.Contains(reply.Text, "internal") {
				t.Error(reply.Text)
			}
		}
		_, read := memory.Read(ctx, "/memories/a.md")
		_, listed := memory.List(ctx, "/memories", 0)
		_, checked := memory.Check(ctx)
		written := memory.Write(ctx, "/memories/a.md", "x")
		var watched error
		for _, err := range memory.Watch(ctx, "", 0) {
			watched = err
			break
		}
		for what, err := range map[string]error{"read": read, "list": listed, "check": checked, "write": written, "watch": watched} {
			if !errors.Is(err, own) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: %v", how, what, err)
			}
		}
		broken = false
		if reply := execute(memory, view); reply.IsError {
			t.Errorf("%s: %+v", how, reply)
		}
	}
	broken = true
	if _, err := OpenStore(store, MemoryOptions{EncryptionKey: "a long passphrase"}); !errors.Is(err, own) {
		t.Error(err)
	}
	hooked := openStore(t, store, MemoryOptions{Before: func(ctx context.Context, _ Command, call *HookCall) (Decision, error) {
		_, err := call.Diff(ctx)
		if !errors.Is(err, own) {
			t.Error(err)
		}
		return Allow(), err
	}})
	if reply := execute(hooked, commandOf["Update"]); !errors.Is(reply.Cause, own) {
		t.Errorf("%+v", reply)
	}
}

func TestAConditionOfAStoreIsASentence(t *testing.T) {
	for _, one := range []struct {
		method string
		err    error
		kind   ErrorKind
	}{
		{"Read", fs.ErrNotExist, ErrorNotFound},
		{"Read", &fs.PathError{Op: "open", Path: "secret", Err: syscall.ENOENT}, ErrorNotFound},
		{"Write", fs.ErrExist, ErrorExists},
		{"Write", syscall.ENOTDIR, ErrorNotADirectory},
		{"Update", fs.ErrPermission, ErrorPermissionDenied},
		{"Update", syscall.EACCES, ErrorPermissionDenied},
		{"Delete", syscall.EROFS, ErrorReadOnly},
		{"Write", fmt.Errorf("writing: %w", syscall.ENOSPC), ErrorFull},
		{"Rename", syscall.EINVAL, ErrorInvalid},
		{"Rename", syscall.ENAMETOOLONG, ErrorInvalid},
	} {
		memory, _ := through(t, MemoryOptions{}, func(_ context.Context, method string, work func() error) error {
			if method == one.method {
				return one.err
			}
			return work()
		})
		reply := execute(memory, commandOf[one.method])
		if reply.Kind != one.kind || reply.Cause != nil || strings.Contains(reply.Text, "secret") {
			t.Errorf("%s, %v: %+v", one.method, one.err, reply)
		}
	}
}

func TestAnErrnoOfWhatAStoreUsesIsNoCondition(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.EBUSY, syscall.ECANCELED, syscall.ELOOP, syscall.ENXIO, syscall.EINVAL} {
		memory, _ := through(t, MemoryOptions{}, func(_ context.Context, method string, work func() error) error {
			if err := work(); err != nil || method != "Write" {
				return err
			}
			return &fs.PathError{Op: "write", Path: "socket", Err: errno}
		})
		if reply := execute(memory, commandOf["Write"]); reply.Kind != ErrorOutcomeUnknown || !errors.Is(reply.Cause, errno) {
			t.Errorf("%v: %+v", errno, reply)
		}
	}
}

func TestAPanicOfAStoreIsAnError(t *testing.T) {
	own := errors.New("mine")
	for _, value := range []any{own, "mine", 7, nil} {
		for method, command := range commandOf {
			memory, _ := through(t, MemoryOptions{}, func(_ context.Context, called string, work func() error) error {
				if called == method && value == nil {
					runtime.Goexit()
				}
				if called == method {
					panic(value)
				}
				return work()
			})
			reply := execute(memory, command)
			panicked := new(PanicError)
			if !errors.As(reply.Cause, &panicked) || panicked.Value != value || errors.Is(reply.Cause, own) != (value == own) {
				t.Errorf("%s, %v: %+v", method, value, reply)
			}
			if value != nil && !bytes.Contains(panicked.Stack, []byte("own_store_test.go")) {
				t.Errorf("%s", panicked.Stack)
			}
		}
	}
	// Cover an error whose own method panics, and a nil store.
	memory, _ := through(t, MemoryOptions{}, func(context.Context, string, func() error) error { return (*fs.PathError)(nil) })
	if reply := execute(memory, view); reply.Kind != ErrorUnavailable || reply.Cause == nil {
		t.Errorf("%+v", reply)
	}
	if reply := execute(openStore(t, (*interposed)(nil), MemoryOptions{}), view); reply.Cause == nil {
		t.Errorf("%+v", reply)
	}
}

const (
	cancelledText = "Error: The command was cancelled before it began. Nothing was changed."
	unknownText   = "Error: The memory directory cannot be reached at the moment. The change may or may not have been saved: view the path before trying again."
)

func TestACancelledCallDoesNotWaitForAStore(t *testing.T) {
	for method, text := range map[string]string{
		"Read": cancelledText, "List": cancelledText, "Write": unknownText,
		// It got no new content.
		"Update": cancelledText,
		"Rename": unknownText, "Delete": unknownText,
	} {
		for how, options := range map[string]MemoryOptions{
			"without hooks": {},
			"with hooks":    {After: func(context.Context, Event) {}},
		} {
			asked, forever := make(chan context.Context), make(chan struct{})
			memory, _ := through(t, options, func(ctx context.Context, called string, work func() error) error {
				if called == method {
					asked <- ctx
					<-forever
				}
				return work()
			})
			cause := errors.New("the user left")
			ctx, cancel := context.WithCancelCause(context.Background())
			replies := make(chan Reply)
			go func() { replies <- memory.Execute(ctx, json.RawMessage(commandOf[method])) }()
			inStore := <-asked
			cancel(cause)
			reply := <-replies
			if reply.Text != text || !reply.IsError || !errors.Is(reply.Cause, cause) {
				t.Errorf("%s, %s: %+v", method, how, reply)
			}
			if expected := map[string]ErrorKind{cancelledText: ErrorCancelled, unknownText: ErrorOutcomeUnknown}[text]; reply.Kind != expected {
				t.Errorf("%s, %s: %s", method, how, reply.Kind)
			}
			if context.Cause(inStore) != cause {
				t.Errorf("%s, %s: the store's context is not that of the call", method, how)
			}
			close(forever)
		}
	}
}

func TestAStoreThatFailsBecauseOfItsContextIsCancelled(t *testing.T) {
	for method, text := range map[string]string{"Read": cancelledText, "Update": cancelledText, "Write": unknownText} {
		var cancel context.CancelFunc
		memory, _ := through(t, MemoryOptions{}, func(ctx context.Context, called string, work func() error) error {
			if called != method {
				return work()
			}
			cancel()
			return ctx.Err()
		})
		ctx, cancelled := context.WithCancel(context.Background())
		cancel = cancelled
		reply := memory.Execute(ctx, json.RawMessage(commandOf[method]))
		if reply.Text != text || !errors.Is(reply.Cause, context.Canceled) {
			t.Errorf("%s: %+v", method, reply)
		}
	}
}

func TestAnUpdateThatHasItsNewContentMayBeMade(t *testing.T) {
	for _, isMade := range []bool{true, false} {
		edited, forever := make(chan struct{}), make(chan struct{})
		store := &editing{Store: newOwnStore()}
		memory := openStore(t, store, MemoryOptions{})
		execute(memory, create)
		store.then = func(content []byte, write bool) ([]byte, bool) {
			if !isMade {
				close(edited)
				<-forever
			}
			return content, write
		}
		store.after = func() {
			if isMade {
				close(edited)
				<-forever
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		replies := make(chan Reply)
		go func() { replies <- memory.Execute(ctx, json.RawMessage(commandOf["Update"])) }()
		<-edited
		cancel()
		if reply := <-replies; reply.Text != unknownText {
			t.Errorf("%v: %+v", isMade, reply)
		}
		close(forever)
	}
}

// editing is a store that calls functions after it got the new content, and after the update is made.
type editing struct {
	Store
	first func()
	then  func([]byte, bool) ([]byte, bool)
	after func()
}

func (s *editing) Update(ctx context.Context, path string, edit Edit) error {
	if s.first != nil {
		s.first()
	}
	err := s.Store.Update(ctx, path, func(content []byte) ([]byte, bool) {
		content, write := edit(content)
		if s.then != nil {
			return s.then(content, write)
		}
		return content, write
	})
	if s.after != nil {
		s.after()
	}
	return err
}

func TestALateUpdateIsGivenNothing(t *testing.T) {
	asked, late, done := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	store := &editing{Store: newOwnStore()}
	memory := openStore(t, store, MemoryOptions{})
	execute(memory, create)
	store.first = func() { close(asked); <-late }
	store.then = func(content []byte, write bool) ([]byte, bool) { done <- write; return content, write }
	ctx, cancel := context.WithCancel(context.Background())
	replies := make(chan Reply)
	go func() { replies <- memory.Execute(ctx, json.RawMessage(commandOf["Update"])) }()
	<-asked
	cancel()
	if reply := <-replies; reply.Text != cancelledText {
		t.Errorf("%+v", reply)
	}
	close(late)
	if <-done {
		t.Error("it was given a content")
	}
	store.first, store.then = nil, nil
	if text, err := memory.Read(context.Background(), "/memories/a.md"); err != nil || text != "one\n" {
		t.Error(text, err)
	}
}

func TestAnEditIsGoodUntilItsUpdateReturns(t *testing.T) {
	var kept Edit
	store := &keeping{Store: newOwnStore(), keep: func(edit Edit) { kept = edit }}
	memory := openStore(t, store, MemoryOptions{})
	execute(memory, create)
	if reply := execute(memory, commandOf["Update"]); reply.IsError {
		t.Fatalf("%+v", reply)
	}
	if edited, write := kept([]byte("one\n")); write {
		t.Errorf("%q", edited)
	}
}

type keeping struct {
	Store
	keep func(Edit)
}

func (s *keeping) Update(ctx context.Context, path string, edit Edit) error {
	s.keep(edit)
	return s.Store.Update(ctx, path, edit)
}

func TestAChangeOfSeveralStepsIsMadeAsAWhole(t *testing.T) {
	var writes atomic.Int32
	var cancel context.CancelFunc
	above := &interposed{Store: newOwnStore(), on: func(_ context.Context, method string, work func() error) error {
		if method == "Write" && writes.Add(1) == 2 {
			cancel()
		}
		return work()
	}}
	memory, err := OpenMounts([]Mount{{Path: "/memories", Store: above}, {Path: "/memories/team", Store: newOwnStore()}}, MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	ctx, cancelled := context.WithCancel(context.Background())
	cancel = cancelled
	for n := range 5 {
		if err := memory.Write(context.Background(), fmt.Sprintf("/memories/team/notes/%d", n), "x"); err != nil {
			t.Fatal(err)
		}
	}
	reply := memory.Execute(ctx, json.RawMessage(`{"command": "rename", "old_path": "/memories/team/notes", "new_path": "/memories/notes"}`))
	there := "/memories/notes"
	if reply.IsError {
		there = "/memories/team/notes"
		if !strings.Contains(reply.Text, "Nothing was changed") {
			t.Errorf("%+v", reply)
		}
	}
	entries, err := memory.List(context.Background(), "/memories", 0)
	files := 0
	for _, entry := range entries {
		if !entry.IsDirectory() {
			files++
			if !strings.HasPrefix(entry.Path, there+"/") {
				t.Errorf("%v: %s", reply, entry.Path)
			}
		}
	}
	if err != nil || files != 5 || writes.Load() < 2 {
		t.Error(files, writes.Load(), err)
	}
}

func TestAStepThatHasToBeMadeIsNotWaitedForForEver(t *testing.T) {
	asked, forever := make(chan context.Context, 1), make(chan struct{})
	defer close(forever)
	team := &interposed{Store: newOwnStore(), on: func(ctx context.Context, method string, work func() error) error {
		if method == "Delete" {
			asked <- ctx
			<-forever
		}
		return work()
	}}
	memory, err := OpenMounts([]Mount{{Path: "/memories", Store: newOwnStore()}, {Path: "/memories/team", Store: team}}, MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if err := memory.Write(context.Background(), "/memories/team/a", "x"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), hooked{}, true))
	replies := make(chan Reply)
	go func() {
		replies <- memory.Execute(ctx, json.RawMessage(`{"command": "rename", "old_path": "/memories/team/a", "new_path": "/memories/b"}`))
	}()
	inStore := <-asked
	cancel()
	// The file has moved. Only the hidden rest of the original remains, which no command can reach.
	if reply := <-replies; reply.IsError || !strings.Contains(reply.Text, "Successfully renamed") {
		t.Errorf("%+v", reply)
	}
	if text, err := memory.Read(context.Background(), "/memories/b"); text != "x" || err != nil {
		t.Error(text, err)
	}
	if there, err := memory.Exists(context.Background(), "/memories/team/a"); there || err != nil {
		t.Error(there, err)
	}
	if inStore.Done() != nil || inStore.Value(hooked{}) != true {
		t.Error("the step is told of the cancellation, or knows nothing of its call")
	}
}

func TestAStoreGetsTheContextOfTheCall(t *testing.T) {
	type key struct{}
	var seen sync.Map
	on := func(ctx context.Context, method string, work func() error) error {
		seen.Store(method, ctx.Value(key{}))
		return work()
	}
	memory, _ := through(t, MemoryOptions{}, on)
	ctx := context.WithValue(context.Background(), key{}, "the caller's")
	for _, method := range []string{"Read", "List", "Write", "Update", "Rename"} {
		memory.Execute(ctx, json.RawMessage(commandOf[method]))
	}
	memory.Execute(ctx, json.RawMessage(`{"command": "delete", "path": "/memories/c.md"}`))
	for method := range commandOf {
		if value, _ := seen.Load(method); value != "the caller's" {
			t.Error(method, value)
		}
	}
}

func TestAStoreMayUseAnotherMemoryWhenAllPlacesAreTaken(t *testing.T) {
	defer SetMaxCalls(SetMaxCalls(1))
	beneath := open(t, "memory:", MemoryOptions{})
	memory, _ := through(t, MemoryOptions{}, func(ctx context.Context, _ string, work func() error) error {
		if _, err := beneath.List(ctx, "/memories", 0); err != nil {
			return err
		}
		return work()
	})
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for _, method := range []string{"Read", "Update", "List"} {
				if reply := execute(memory, commandOf[method]); reply.IsError {
					t.Errorf("%+v", reply)
				}
			}
		}()
	}
	all.Wait()
}

func TestManyGoroutinesUseOneStore(t *testing.T) {
	store := newOwnStore()
	memory := openStore(t, store, MemoryOptions{})
	if err := memory.Write(context.Background(), "/memories/log.md", "begin\n"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for i := range 20 {
				insert := fmt.Sprintf(`{"command": "insert", "path": "/memories/log.md", "insert_line": 1, "insert_text": "%d %d"}`, n, i)
				if reply := memory.Execute(ctx, json.RawMessage(insert)); reply.IsError {
					t.Errorf("%+v", reply)
				}
				if reply := execute(memory, `{"command": "view", "path": "/memories/log.md"}`); reply.IsError {
					t.Errorf("%+v", reply)
				}
			}
		}()
	}
	all.Wait()
	text, err := store.Read(context.Background(), "/memories/log.md")
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines != 16*20+1 {
		t.Fatal(lines, err)
	}
}

func TestAStoreIsReleasedWithItsLastMemory(t *testing.T) {
	count := func() (served int) {
		servedStores.Range(func(any, any) bool { served++; return true })
		return
	}
	before := count()
	memory, err := OpenStore(newOwnStore(), MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := memory.ActingAs("ann")
	if err != nil {
		t.Fatal(err)
	}
	_ = memory.Close()
	if reply := execute(session, create); reply.IsError || count() != before+1 {
		t.Fatalf("%+v, %d", reply, count()-before)
	}
	_ = session.Close()
	if count() != before {
		t.Error("the store is kept")
	}
	for _, wrong := range []MemoryOptions{{MaxFiles: Of(-1)}, {ExpireAfter: Of(time.Hour), ReadOnly: true}, {Namespace: "a"}} {
		if _, err := OpenStore(newOwnStore(), wrong); err == nil || count() != before {
			t.Error(err, count()-before)
		}
	}
	if err := CheckContract(func() (Store, error) { return newOwnStore(), nil }); err != nil || count() != before {
		t.Error(err, count()-before)
	}
	left := 0
	calls.Range(func(any, any) bool { left++; return true })
	if left != 0 {
		t.Error(left, "calls are kept")
	}
}

// overwriting breaks a rule of the contract.
type overwriting struct{ Store }

func (s overwriting) Write(ctx context.Context, path string, content []byte, _ bool) error {
	return s.Store.Write(ctx, path, content, true)
}

func TestTheContractNamesTheRuleThatIsBroken(t *testing.T) {
	err := CheckContract(func() (Store, error) { return overwriting{newOwnStore()}, nil })
	if err == nil || !strings.Contains(err.Error(), "creation is exclusive") {
		t.Error(err)
	}
	own := errors.New("no database")
	if err := CheckContract(func() (Store, error) { return nil, own }); !errors.Is(err, own) {
		t.Error(err)
	}
	if err := CheckContract(func() (Store, error) { return nil, nil }); err == nil {
		t.Error("a nil store is no store")
	}
	if err := CheckContract(func() (Store, error) { panic(own) }); !errors.Is(err, own) {
		t.Error(err)
	}
}

// better has every optional method, and counts its calls.
type better struct {
	Store
	folds  bool
	called sync.Map
}

func (s *better) count(method string) {
	count, _ := s.called.LoadOrStore(method, new(atomic.Int32))
	count.(*atomic.Int32).Add(1)
}

func (s *better) Open(ctx context.Context, path string, depth int) (Opened, error) {
	s.count("Open")
	content, err := s.Store.Read(ctx, path)
	if !errors.Is(err, syscall.EISDIR) {
		return Opened{Content: content}, err
	}
	entries, err := s.Store.List(ctx, path)
	for _, entry := range entries {
		if entry.IsDirectory() && depth > 1 {
			below, err := s.Open(ctx, entry.Path, depth-1)
			if err != nil {
				return Opened{}, err
			}
			entries = append(entries, below.Entries...)
		}
	}
	return Opened{IsDirectory: true, Entries: entries}, err
}

func (s *better) Modified(ctx context.Context, path string) (time.Time, error) {
	s.count("Modified")
	if _, err := s.Store.Read(ctx, path); err != nil {
		return time.Time{}, err
	}
	entries, err := s.Store.List(ctx, path[:strings.LastIndexByte(path, '/')])
	for _, entry := range entries {
		if entry.Path == path {
			return entry.Modified, nil
		}
	}
	return time.Time{}, err
}

func (s *better) SetModified(ctx context.Context, path string, modified time.Time) error {
	s.count("SetModified")
	return s.Store.(StoreTimeSetter).SetModified(ctx, path, modified)
}

func (s *better) Clear(ctx context.Context) error {
	s.count("Clear")
	entries, err := s.Store.List(ctx, "/memories")
	for _, entry := range entries {
		err = errors.Join(err, s.Store.Delete(ctx, entry.Path))
	}
	return err
}

func (s *better) RecordAccess(ctx context.Context, path string, accessed time.Time) error {
	s.count("RecordAccess")
	return s.Store.(StoreAccessTracker).RecordAccess(ctx, path, accessed)
}

func (s *better) DeleteUnused(ctx context.Context, path string, since time.Time) (bool, error) {
	s.count("DeleteUnused")
	return s.Store.(StoreAccessTracker).DeleteUnused(ctx, path, since)
}

func (s *better) FoldsCase() bool { return s.folds }

func TestOptionalMethodsAreCalledIfTheyAreThere(t *testing.T) {
	if err := CheckContract(func() (Store, error) { return &better{Store: newOwnStore()}, nil }); err != nil {
		t.Fatal(err)
	}
	store := &better{Store: newOwnStore(), folds: true}
	memory := openStore(t, store, MemoryOptions{RecordAccess: true, ReadOnlyPaths: []string{"/memories/fixed"}})
	ctx := context.Background()
	execute(memory, create)
	if reply := execute(memory, view); reply.IsError {
		t.Fatalf("%+v", reply)
	}
	if reply := execute(memory, `{"command": "create", "path": "/memories/FIXED/a", "file_text": "x"}`); reply.Kind != ErrorReadOnly {
		t.Errorf("%+v", reply)
	}
	other := openStore(t, &better{Store: newOwnStore()}, MemoryOptions{})
	if err := other.Write(ctx, "/memories/b.md", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.CopyTo(ctx, memory, CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if expired, err := memory.Expire(ctx, 0, false); err != nil || len(expired) != 2 {
		t.Error(expired, err)
	}
	if err := memory.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"Open", "SetModified", "Clear", "RecordAccess", "DeleteUnused"} {
		if _, is := store.called.Load(method); !is {
			t.Error(method)
		}
	}
	// A memory on a store without access times rejects the options that need them.
	plain := &interposed{Store: newOwnStore()}
	_, err := OpenStore(plain, MemoryOptions{RecordAccess: true})
	if failed := new(Error); !errors.As(err, &failed) || failed.Option != "record_access" {
		t.Error(err)
	}
}

// listing lists the given entries.
type listing struct {
	Store
	entries []Entry
}

func (s listing) List(context.Context, string) ([]Entry, error) { return s.entries, nil }

func TestWhatAStoreListsIsLookedAt(t *testing.T) {
	size, negative := int64(1), int64(-1)
	for _, one := range []struct {
		entry  Entry
		listed int
		fails  bool
	}{
		{Entry{Path: "/memories/a", Size: &size}, 1, false},
		{Entry{Path: "/memories/a", Size: &size, Modified: time.Now(), Accessed: time.Now()}, 1, false},
		{Entry{Path: "/memories/a"}, 1, false},
		// No command can name these paths.
		{Entry{Path: "/memories/\xff", Size: &size}, 0, false},
		{Entry{Path: "/memories/a\x00b", Size: &size}, 0, false},
		{Entry{Path: "/memories/..", Size: &size}, 0, false},
		// Mistakes of the store.
		{Entry{Path: "/etc/passwd", Size: &size}, 0, true},
		{Entry{Path: "/memories/a/b", Size: &size}, 0, true},
		{Entry{Path: "a", Size: &size}, 0, true},
		{Entry{Path: "", Size: &size}, 0, true},
		{Entry{Path: "/memories/a", Size: &negative}, 0, true},
		{Entry{Path: "/memories/a", Size: &size, Modified: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, 0, true},
	} {
		memory := openStore(t, listing{newOwnStore(), []Entry{one.entry}}, MemoryOptions{})
		listed, err := memory.List(context.Background(), "/memories", 1)
		if (err != nil) != one.fails || len(listed) != one.listed {
			t.Errorf("%q: %v, %v", one.entry.Path, listed, err)
		}
	}
}

func TestSeveralStoresAreOneTree(t *testing.T) {
	ctx, handbook := context.Background(), t.TempDir()
	memory, err := OpenMounts([]Mount{
		{Path: "/memories", Store: newOwnStore()},
		{Path: "/memories/handbook", Address: handbook},
		{Path: "/memories/team", Address: "memory:"},
		{Path: "/memories/fixed", Store: newOwnStore(), ReadOnly: true},
	}, MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for _, path := range []string{"/memories/a", "/memories/handbook/b", "/memories/team/c"} {
		if err := memory.Write(ctx, path, path); err != nil {
			t.Fatal(err)
		}
	}
	var refused *Error
	if err := memory.Write(ctx, "/memories/fixed/d", "x"); !errors.As(err, &refused) || refused.ReplyKind != ErrorReadOnly {
		t.Error(err)
	}
	if text, err := open(t, "dir:"+handbook, MemoryOptions{}).Read(ctx, "/memories/b"); err != nil || text != "/memories/handbook/b" {
		t.Error(text, err)
	}
	for _, wrong := range [][]Mount{
		nil,
		{{Path: "/memories/a", Address: "memory:"}},
		{{Path: "/memories", Address: "memory:", Store: newOwnStore()}},
		{{Path: "/memories"}},
		{{Path: "/memories", Address: "memory:"}, {Path: "/memories", Address: "memory:"}},
		{{Path: "/etc", Address: "memory:"}},
		{{Path: "/memories", Address: "memory:"}, {Path: "/memories/\xff", Address: "memory:"}},
		{{Path: "/memories", Address: "redis://"}},
	} {
		if _, err := OpenMounts(wrong, MemoryOptions{}); !errors.As(err, &refused) || refused.Kind != KindConfig {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := OpenStore(nil, MemoryOptions{}); !errors.As(err, &refused) || refused.Kind != KindConfig {
		t.Error(err)
	}
}

func TestAMemoryIsCheckedAndCopied(t *testing.T) {
	ctx := context.Background()
	from := openStore(t, newOwnStore(), MemoryOptions{History: true})
	to := open(t, "sqlite:"+t.TempDir()+"/agent.db", MemoryOptions{})
	for _, path := range []string{"/memories/a.md", "/memories/tea/b.md"} {
		if err := from.Write(ctx, path, "one\n"); err != nil {
			t.Fatal(err)
		}
	}
	versions := 2
	checked, err := from.Check(ctx)
	if expected := (Checked{Directories: 2, Files: 2, Bytes: 8, Versions: &versions, Problems: []Problem{}}); err != nil || !reflect.DeepEqual(checked, expected) {
		t.Errorf("%+v, %v", checked, err)
	}
	copied, err := from.CopyTo(ctx, to, CopyOptions{})
	if err != nil || copied.Files != 2 || copied.Bytes != 8 || len(copied.LeftOut) != 0 {
		t.Errorf("%+v, %v", copied, err)
	}
	if copied.Changes == nil || *copied.Changes != 2 {
		t.Errorf("%+v", copied)
	}
	alone, err := from.CopyTo(ctx, open(t, "memory:", MemoryOptions{}), CopyOptions{WithoutHistory: true})
	if err != nil || alone.Files != 2 || alone.Changes != nil {
		t.Errorf("%+v, %v", alone, err)
	}
	if copied, err = from.CopyTo(ctx, to, CopyOptions{}); err != nil || copied.Files != 0 || copied.Equal != 2 {
		t.Errorf("%+v, %v", copied, err)
	}
	if err := to.Write(ctx, "/memories/a.md", "another\n"); err != nil {
		t.Fatal(err)
	}
	_, err = from.CopyTo(ctx, to, CopyOptions{})
	failed := new(Error)
	if !errors.As(err, &failed) || failed.Kind != KindCopy || !reflect.DeepEqual(failed.Paths, []string{"/memories/a.md"}) {
		t.Errorf("%#v", err)
	}
	if copied, err := from.CopyTo(ctx, to, CopyOptions{Overwrite: true}); err != nil || copied.Files != 1 {
		t.Errorf("%+v, %v", copied, err)
	}
	if _, err := from.CopyTo(ctx, from, CopyOptions{}); !errors.As(err, &failed) || failed.Kind != KindCopy {
		t.Error(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range []error{
		func() error {
			_, err := from.CopyTo(done, open(t, "memory:", MemoryOptions{}), CopyOptions{})
			return err
		}(),
		func() error { _, err := from.Check(done); return err }(),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%#v", err)
		}
	}
}

func TestAMemoryThatWasNotOpenedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	opened := open(t, "memory:", MemoryOptions{})
	for _, memory := range []*Memory{nil, new(Memory)} {
		for _, ctx := range []context.Context{context.Background(), ctx} {
			reply := memory.Execute(ctx, json.RawMessage(create))
			_, read := memory.Read(ctx, "/memories/a")
			_, acting := memory.ActingAs("ann")
			_, from := memory.CopyTo(ctx, opened, CopyOptions{})
			_, to := opened.CopyTo(ctx, memory, CopyOptions{})
			_, defined := memory.ToolDefinition("openai")
			errs := []error{reply.Cause, read, acting, from, to, defined, memory.ForgetViews()}
			for _, err := range memory.Watch(context.Background(), "", 0) {
				errs = append(errs, err)
			}
			for at, err := range errs {
				if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindUsage || !strings.Contains(err.Error(), "was not opened") {
					t.Errorf("%d: %v", at, err)
				}
			}
			if !reply.IsError || reply.Text == "" {
				t.Errorf("%+v", reply)
			}
		}
		if err := memory.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, call := range []*HookCall{nil, {}} {
		if _, err := call.Diff(context.Background()); err == nil {
			t.Error("it is no call")
		}
	}
}
