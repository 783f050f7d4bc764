package memdir

// A call of the library: how it ends when its context is done, and the causes of its errors.

// #include "library.h"
import "C"

import (
	"context"
	"errors"
	"sync"
)

// call is Go's state of a running call of the library.
type call struct {
	ctx context.Context

	mutex sync.Mutex
	// The errors of the application's stores, by their numbers in the library.
	errors map[uint64]error
}

// calls are the running calls on memories with stores of the application, by the numbers of the library. The library passes
// the number to the store.
var calls sync.Map

// keep keeps the error of a store until the call has ended, and returns a number for it. Several steps of one call may fail.
func (c *call) keep(err error) uint64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.errors == nil {
		c.errors = map[uint64]error{}
	}
	number := uint64(len(c.errors) + 1)
	c.errors[number] = err
	return number
}

// explain sets the cause of the call's error. A cancelled call gets the error of its context, a failed hook the error that
// the hook returned, and a failed store the error that the store returned.
func (c *call) explain(err, ofHook error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case failed.own != 0:
		failed.cause = c.errors[failed.own]
	case failed.Kind == KindCancelled || failed.SyncKind == SyncStopped || failed.givenUp:
		failed.cause = context.Cause(c.ctx)
	case failed.Kind == KindHook:
		failed.cause = ofHook
	}
	return err
}

// begin begins a call of the memory. The call has its own number, and is cancelled when the context is done. isOwn says
// whether the call may use a store of the application. done must be called when the last function with this number has
// returned.
func (m *Memory) begin(ctx context.Context, isOwn bool) (begun *call, number C.uint64_t, done func()) {
	begun = &call{ctx: ctx}
	if ctx.Done() == nil && !isOwn {
		return begun, m.number, func() {}
	}
	own := C.memdir_cancellable(m.number)
	if own == 0 {
		// The memory is closed, and the call will return that error.
		return begun, m.number, func() {}
	}
	if isOwn {
		calls.Store(uint64(own), begun)
	}
	stop := context.AfterFunc(ctx, func() { C.memdir_cancel(own) })
	// Cancelled here because AfterFunc runs in a goroutine, which may start late.
	if ctx.Err() != nil {
		C.memdir_cancel(own)
	}
	return begun, own, func() {
		stop()
		C.memdir_close(own)
		calls.Delete(uint64(own))
	}
}

// enter waits until a call with this number of a memory may begin. If the context is done before, the call does not wait: it
// does not reach a store, and its reply says that nothing was changed.
func enter(ctx context.Context, limit *semaphore, number C.uint64_t) (leave func()) {
	if limit.acquire(ctx) {
		return limit.release
	}
	C.memdir_cancel(number)
	brief.acquire(context.Background())
	return brief.release
}
