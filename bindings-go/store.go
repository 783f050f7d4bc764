package memdir

// Stores of the application, and several stores in one tree.

/*
#include "library.h"

extern void memdirGoServe(uint64_t store, uint64_t request, memdir_go_text *asked, memdir_go_bytes *content, size_t length);
extern void memdirGoRelease(uint64_t store);

static uint64_t open_place(const char *place, const char *options, char **error) {
	memdir_host host = {memdirGoServe, memdirGoRelease};
	return memdir_open_place(place, options, &host, error);
}

static char *check_contract(uint64_t factory, char **error) {
	memdir_host host = {memdirGoServe, memdirGoRelease};
	return memdir_check_contract(factory, &host, error);
}
*/
import "C"

import (
	"context"
	"errors"
	"time"
)

// Store keeps files and directories under /memories. Implement it to keep memories in a place of your choice, and open a memory
// on it with [OpenStore].
//
// Paths are valid and canonical (/memories/notes.md); the root always exists. Each method either succeeds completely, or returns
// an error and changes nothing. Many goroutines may call methods concurrently. docs/stores/write-a-store.md specifies the guarantees of a
// store, and [CheckContract] checks them.
//
// A condition is an error that [errors.Is] matches: [fs.ErrNotExist], [fs.ErrExist], [fs.ErrPermission], or one of package
// syscall: EISDIR, ENOTDIR, EINVAL for a move into itself, ENAMETOOLONG, EROFS, ENOSPC. The model reads a sentence about it. Any
// other error means that the store is broken: the model reads that its memory cannot be reached, and errors.Is matches that error
// in [Reply.Cause], or in the error of the memory's method. So do not wrap a condition that concerns something else, such as the
// socket of your database.
//
// The context belongs to the call of the memory. When it is done, the call no longer waits for the store, and ignores the store's
// later result. A change that has begun is not cancelled: its context is never done, and it has 5 seconds.
type Store interface {
	// Read returns the content of a file. Errors: fs.ErrNotExist, also if a parent is a file; EISDIR.
	Read(ctx context.Context, path string) ([]byte, error)

	// List returns the entries of a directory, one level deep, in any order, with hidden ones. Errors: fs.ErrNotExist; ENOTDIR.
	List(ctx context.Context, path string) ([]Entry, error)

	// Write writes a whole file, and creates missing parents. Without overwrite, creation is exclusive: if two calls create the same
	// path concurrently, exactly one succeeds. Errors: fs.ErrExist if the path is a file, unless overwrite is set, or a directory,
	// always; ENOTDIR if a parent is a file.
	Write(ctx context.Context, path string, content []byte, overwrite bool) error

	// Update reads a file, passes its content to edit, and writes the result. No other write may happen in between. If one did,
	// Update calls edit again with the newer content; only the last call counts. Errors: fs.ErrNotExist; EISDIR.
	Update(ctx context.Context, path string, edit Edit) error

	// Delete deletes a file, or a directory with everything in it. Error: fs.ErrNotExist.
	Delete(ctx context.Context, path string) error

	// Rename moves a file or a directory, and creates missing parents of the new path. It never overwrites. Check the errors
	// in this order. fs.ErrNotExist: the old path does not exist. fs.ErrExist: the new path exists, or is the same. EINVAL: the
	// new path is below the directory. ENOTDIR: a parent of the new path is a file. ENAMETOOLONG: a path below would have more
	// than 64 levels below /memories or more than 4,096 bytes.
	Rename(ctx context.Context, from, to string) error
}

// Edit computes the new content of a file from its content. If write is false, nothing is to be written. It is valid until the
// method Update returns.
type Edit func(content []byte) (edited []byte, write bool)

// StoreOpener is a [Store] that reads a file, or lists a directory several levels deep, in one round trip. Every view is one call
// of it. Without it the memory calls Read and List.
type StoreOpener interface {
	// Open returns the content of a file, or the entries of a directory, depth levels deep, in any order. It may leave out hidden
	// entries and everything below them. Error: fs.ErrNotExist.
	Open(ctx context.Context, path string, depth int) (Opened, error)
}

// Opened is the result of [StoreOpener].
type Opened struct {
	// IsDirectory selects Entries; otherwise Content is valid.
	IsDirectory bool
	// Content is the content of a file.
	Content []byte
	// Entries are the entries of a directory.
	Entries []Entry
}

// StoreTimer is a [Store] that knows when a file was last written without listing its directory.
type StoreTimer interface {
	// Modified returns when a file was last written, or a zero time if the store keeps no times. Errors: fs.ErrNotExist; EISDIR.
	Modified(ctx context.Context, path string) (time.Time, error)
}

// StoreTimeSetter is a [Store] whose times can be set. A copy then keeps the times of the original.
type StoreTimeSetter interface {
	// SetModified sets when a file was last written, to the microsecond. Errors: fs.ErrNotExist; EISDIR.
	SetModified(ctx context.Context, path string, modified time.Time) error
}

// StoreClearer is a [Store] that can delete everything below the root faster than entry by entry.
type StoreClearer interface {
	// Clear deletes everything below the root.
	Clear(ctx context.Context) error
}

// StoreAccessTracker is a [Store] that keeps access times, which the options RecordAccess and ExpireAfter need. The entries of
// its listings have the Accessed of each file.
type StoreAccessTracker interface {
	// RecordAccess records that a file was accessed, to the microsecond. That does not count as a change of the file. The time moves
	// with the file. Errors: fs.ErrNotExist; EISDIR.
	RecordAccess(ctx context.Context, path string, accessed time.Time) error

	// DeleteUnused deletes a file if it was neither written nor accessed at that time or later, and reports whether it deleted it.
	// No write may happen in between. It also returns false if the path does not exist or is a directory.
	DeleteUnused(ctx context.Context, path string, since time.Time) (bool, error)
}

// StoreCaseFolder is a [Store] that may treat names as equal that differ only in case or in how letters are composed, as file
// systems of macOS and Windows do. The memory then compares paths the same way. It calls FoldsCase once, when it is opened.
type StoreCaseFolder interface {
	FoldsCase() bool
}

// PanicError is the error of a method of a [Store] that panicked.
type PanicError struct {
	// Value is the argument of the panic; nil if the method called runtime.Goexit.
	Value any
	// Stack is the stack trace of the panic.
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the store ended its goroutine"
	}
	return "the store panicked: " + shown(e.Value)
}

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// OpenStore opens a memory on a store of your own. The memory has its own slots for concurrent calls, as many as [SetMaxCalls]
// set.
//
// The error is an [*Error] if an option is wrong, or the store fails.
func OpenStore(store Store, options MemoryOptions) (*Memory, error) {
	if store == nil {
		return nil, &Error{Kind: KindConfig, Message: "the store is nil"}
	}
	return openPlace(options, newPlaces(forAll.changing.limit()), func(own func(Store) uint64) any {
		return place{Own: own(store)}
	})
}

// Mount is a store and its mount point in the tree of a memory. It has either an Address or a Store.
type Mount struct {
	// Path is the mount point: /memories, or a path below it.
	Path string
	// Address names the store, as for [Open]. At /memories the files of a directory are in its "memories" directory; below, they are
	// in that very directory.
	Address string
	// Store is a store of your own.
	Store Store
	// ReadOnly says that the store can be viewed but not changed. The store must then exist.
	ReadOnly bool
}

// OpenMounts opens a memory on several stores in one tree. One of them is at /memories.
//
// The error is an [*Error] if a path, an address or an option is wrong, or a store cannot be opened.
func OpenMounts(mounts []Mount, options MemoryOptions) (*Memory, error) {
	shared := forAll
	for _, mount := range mounts {
		if (mount.Address == "") == (mount.Store == nil) {
			return nil, &Error{Kind: KindConfig, Message: "the mount at " + mount.Path + " must have either an Address or a Store"}
		}
		if mount.Store != nil {
			shared = newPlaces(forAll.changing.limit())
		}
	}
	return openPlace(options, shared, func(own func(Store) uint64) any {
		listed := []place{}
		for _, mount := range mounts {
			at := place{Path: mount.Path, Address: mount.Address, ReadOnly: mount.ReadOnly}
			if mount.Store != nil {
				at.Own = own(mount.Store)
			}
			listed = append(listed, at)
		}
		return map[string]any{"mounts": listed}
	})
}

// place is a store, as the library reads it.
type place struct {
	Path     string `json:"path,omitzero"`
	Address  string `json:"address,omitzero"`
	Own      uint64 `json:"own,omitzero"`
	ReadOnly bool   `json:"read_only,omitzero"`
}

// openPlace opens the memory on the places that describe returns. describe gets a function that numbers the application's stores.
func openPlace(options MemoryOptions, places *places, describe func(own func(Store) uint64) any) (*Memory, error) {
	set, err := options.marshal()
	if err != nil {
		return nil, err
	}
	opening := &call{ctx: context.Background()}
	var served []*servedStore
	defer func() {
		for _, store := range served {
			store.opening.Store(nil)
		}
	}()
	described := describe(func(store Store) uint64 {
		made := serveStore(store)
		made.opening.Store(opening)
		served = append(served, made)
		return made.number
	})
	// Releases the stores that the library does not know.
	release := func() {
		for _, store := range served {
			servedStores.Delete(store.number)
		}
	}
	written, err := marshal(described, KindConfig)
	if err != nil {
		release()
		return nil, err
	}
	inPlace, err := newText("place", written)
	if err != nil {
		release()
		return nil, err
	}
	defer inPlace.free()
	inOptions, err := newText("options", set)
	if err != nil {
		release()
		return nil, err
	}
	defer inOptions.free()
	var failed *C.char
	places.changing.acquire(context.Background())
	number := C.open_place(inPlace.c, inOptions.c, &failed)
	places.changing.release()
	if err := opening.explain(failure(failed), nil); err != nil {
		release()
		return nil, err
	}
	return newMemory(number, shared{&options, places, len(served) > 0}), nil
}

// CheckContract checks that the stores that factory makes keep the contract of a store (docs/stores/write-a-store.md), for the tests of your
// own store. It calls factory for a new, empty store for each rule.
//
// It returns nil if all rules are kept, an error for the first rule that is broken and how, or the error of factory.
func CheckContract(factory func() (Store, error)) error {
	checking := &call{ctx: context.Background()}
	made := serveFactory(factory, checking)
	var failed *C.char
	broken := taken(C.check_contract(C.uint64_t(made), &failed))
	if err := checking.explain(failure(failed), nil); err != nil {
		return err
	}
	if broken != "" {
		return errors.New("memdir: " + broken)
	}
	return nil
}
