package memdir

// A call of the library: how it ends with its context, and what its errors come from.

// #include "library.h"
import "C"

import (
	"context"
	"errors"
	"sync"
)

// call is what Go knows of a call of the library, while it runs.
type call struct {
	ctx context.Context

	mutex sync.Mutex
	// The errors of stores of the program's own, by the numbers that the library has for them.
	errors map[uint64]error
}

// calls are those in progress on memories that have stores of the program's own, by the numbers of the library. A store is
// told the number.
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

// explain gives an error of the call its cause: that of the context for a call that was cancelled, what a hook returned for a
// failed hook, and for a failed store what the store returned.
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
	case failed.Kind == KindCancelled || failed.givenUp:
		failed.cause = context.Cause(c.ctx)
	case failed.Kind == KindHook:
		failed.cause = ofHook
	}
	return err
}

// begin begins a call of the memory, with a number of its own that ends with the context. isOwn says whether a store of the
// program's own may be asked. done is called when the last function with this number has returned.
func (m *Memory) begin(ctx context.Context, isOwn bool) (begun *call, number C.uint64_t, done func()) {
	begun = &call{ctx: ctx}
	if ctx.Done() == nil && !isOwn {
		return begun, m.number, func() {}
	}
	own := C.memdir_cancellable(m.number)
	if own == 0 {
		// The memory is closed, as the call will say.
		return begun, m.number, func() {}
	}
	if isOwn {
		calls.Store(uint64(own), begun)
	}
	stop := context.AfterFunc(ctx, func() { C.memdir_cancel(own) })
	// Not when a goroutine comes to it.
	if ctx.Err() != nil {
		C.memdir_cancel(own)
	}
	return begun, own, func() {
		stop()
		C.memdir_close(own)
		calls.Delete(uint64(own))
	}
}

// enter waits until a call with this number of a memory may begin. A call whose context is done before need not wait: it
// reaches no store, and its reply says that nothing was changed.
func enter(ctx context.Context, limit *semaphore, number C.uint64_t) (leave func()) {
	if limit.acquire(ctx) {
		return limit.release
	}
	C.memdir_cancel(number)
	brief.acquire(context.Background())
	return brief.release
}
