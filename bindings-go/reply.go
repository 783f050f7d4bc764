package memdir

// The answer of a call, and its errors.

// #include "library.h"
import "C"

import (
	"encoding/json"
	"fmt"
)

// Reply is the answer to one tool call.
type Reply struct {
	// Text is the content of the tool_result; empty if it is an image.
	Text string `json:"text"`
	// Image is the image to show instead of the text; nil if the reply is text.
	Image *Image `json:"image"`
	// IsError is the is_error of the tool_result.
	IsError bool `json:"is_error"`
	// Kind is the kind of error; empty if there is no error.
	Kind ErrorKind `json:"kind"`
	// Cause is the error, if the store itself or a hook failed, or the context was done. It is for your log, and never for
	// the model: it may name paths and hosts. So it is not a part of the JSON.
	Cause error `json:"-"`
}

// Image is an image that a view shows.
type Image struct {
	// MediaType is "image/png" or "image/jpeg", according to the content and not the name.
	MediaType string `json:"media_type"`
	// Data is the whole file, in Base64.
	Data string `json:"data"`
}

// Kind is the subject of an [Error].
type Kind string

const (
	// KindConfig concerns the address or an option.
	KindConfig Kind = "config"
	// KindStore concerns the store, such as a broken disk or a lost connection.
	KindStore Kind = "store"
	// KindCancelled is a call whose context was done before it began to write. Nothing was changed.
	KindCancelled Kind = "cancelled"
	// KindRefused is a refused call: a policy forbids it, or it is not possible, for example because the path does not exist.
	KindRefused Kind = "refused"
	// KindHook is an error of your own hook.
	KindHook Kind = "hook"
	// KindHistory concerns the history: the memory has none, a version does not exist, or files were changed since.
	KindHistory Kind = "history"
	// KindCopy is a copy that was stopped, or whose destination holds something else.
	KindCopy Kind = "copy"
	// KindSync is a sync that did not run to its end.
	KindSync Kind = "sync"
	// KindUsage is a call of a memory that is closed, or was never opened.
	KindUsage Kind = "usage"
	// KindInternal is a fault of memdir.
	KindInternal Kind = "internal"
)

// Error is the reason why a call failed. It is for you, and never for the model.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	// ReplyKind is the kind of the reply that the model got for this error; empty if the error does not concern a command.
	ReplyKind ErrorKind `json:"reply_kind"`
	// Option is the wrong option, under its name in all languages, such as "max_files".
	Option string `json:"option"`
	// HistoryKind is the case of a KindHistory.
	HistoryKind HistoryKind `json:"history_kind"`
	// SyncKind is the case of a KindSync.
	SyncKind SyncKind `json:"sync_kind"`
	// Paths are the affected files, such as those of a HistoryConflict or of a KindCopy.
	Paths []string `json:"paths"`
	// Conflicts name the later change of each path of a HistoryConflict, with its actor and its time.
	Conflicts []Conflict `json:"conflicts"`

	cause error
	// The number of the error of the application's store that is the cause; 0 if there is none.
	own uint64
	// True if such a store had not answered when the call was cancelled.
	givenUp bool
}

func (e *Error) Error() string { return "memdir: " + e.Message }

func newReply(made, failed *C.char) Reply {
	var read struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
		Kind    ErrorKind       `json:"kind"`
	}
	reply := Reply{Cause: failure(failed)}
	err := json.Unmarshal([]byte(taken(made)), &read)
	reply.IsError, reply.Kind = read.IsError, read.Kind
	if err == nil && json.Unmarshal(read.Content, &reply.Text) != nil {
		var blocks []struct {
			Source struct {
				MediaType string `json:"media_type"`
				Data      string `json:"data"`
			} `json:"source"`
		}
		if err = json.Unmarshal(read.Content, &blocks); err == nil && len(blocks) == 1 {
			reply.Image = &Image{blocks[0].Source.MediaType, blocks[0].Source.Data}
		}
	}
	if err != nil {
		return Reply{Text: "Error: The memory cannot be used now.", IsError: true, Kind: ErrorUnavailable, Cause: fmt.Errorf("memdir: %w", err)}
	}
	return reply
}
