package memdir

// What a call answers, and how it fails.

// #include "library.h"
import "C"

import (
	"encoding/json"
	"fmt"
)

// Reply is the answer to one tool call.
type Reply struct {
	// Text is the content of the tool_result; empty if it is an image.
	Text string
	// Image is the image to be shown in place of the text; nil if the reply is text.
	Image *Image
	// IsError is the is_error of the tool_result.
	IsError bool
	// Kind is what kind of error it is; empty if there is none.
	Kind ErrorKind
	// Cause is the error, if the store itself or a hook failed, or the context was done. It is for your log, and never for
	// the model.
	Cause error
}

// Image is an image that a view shows.
type Image struct {
	// MediaType is "image/png" or "image/jpeg", according to the content and not the name.
	MediaType string
	// Data is the whole file, in Base64.
	Data string
}

// Kind says what an [Error] is about.
type Kind string

const (
	// KindConfig is about the address or an option.
	KindConfig Kind = "config"
	// KindStore is about the store: a broken disk, a server that is gone.
	KindStore Kind = "store"
	// KindCancelled is a call whose context was done before it began to write. Nothing was changed.
	KindCancelled Kind = "cancelled"
	// KindRefused is what a policy refused.
	KindRefused Kind = "refused"
	// KindHook is an error of your own hook.
	KindHook Kind = "hook"
	// KindHistory is about the history: the memory has none, a version is not known, files were changed since.
	KindHistory Kind = "history"
	// KindCopy is a copy whose destination holds something else, or that was stopped.
	KindCopy Kind = "copy"
	// KindUsage is a memory that is closed, or was never opened.
	KindUsage Kind = "usage"
	// KindInternal is a fault of memdir.
	KindInternal Kind = "internal"
)

// Error is why a call failed. It is for you, and never for the model.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	// ReplyKind is the kind that the reply to a model has that ended with this error; empty if it is not about a command.
	ReplyKind ErrorKind `json:"reply_kind"`
	// Option is the option that is wrong, under its common name, such as "max_files".
	Option string `json:"option"`
	// HistoryKind is the case of a KindHistory.
	HistoryKind HistoryKind `json:"history_kind"`
	// Paths are the files in question, such as those of a HistoryConflict or of a KindCopy.
	Paths []string `json:"paths"`
	// Conflicts are for each path of a HistoryConflict the later change, its actor and its time.
	Conflicts []Conflict `json:"conflicts"`

	cause error
	// The number of the error of a store of the program's own, which is the cause; 0 if it is none.
	own uint64
	// Whether such a store had not answered when the call was cancelled.
	givenUp bool
}

// HistoryKind is the case of a call about the history that failed. Nothing was changed, unless it is HistoryPartly.
type HistoryKind string

const (
	// HistoryOff is a memory without the option History.
	HistoryOff HistoryKind = "off"
	// HistoryReadOnly is a memory that is read-only.
	HistoryReadOnly HistoryKind = "read_only"
	// HistoryNoID is a text that is not an id.
	HistoryNoID HistoryKind = "no_id"
	// HistoryPath is a text that is not a path below /memories.
	HistoryPath HistoryKind = "path"
	// HistoryUnknown is a version or change that is not there, or was removed because of a limit.
	HistoryUnknown HistoryKind = "unknown"
	// HistoryAmbiguous is a part of an id that several versions or changes have.
	HistoryAmbiguous HistoryKind = "ambiguous"
	// HistoryNoContent is a version that is a deletion.
	HistoryNoContent HistoryKind = "no_content"
	// HistoryNoFile is a path where no file is.
	HistoryNoFile HistoryKind = "no_file"
	// HistoryNotText is a file that is not UTF-8, so it has no lines.
	HistoryNotText HistoryKind = "not_text"
	// HistoryRedacted is a content that was removed from the history.
	HistoryRedacted HistoryKind = "redacted"
	// HistoryDamaged is a content that cannot be computed, because records are damaged or missing.
	HistoryDamaged HistoryKind = "damaged"
	// HistoryConflict is about files that were changed since, or what is in the way.
	HistoryConflict HistoryKind = "conflict"
	// HistoryTrimmed is about a file whose earlier state was removed because of a limit.
	HistoryTrimmed HistoryKind = "trimmed"
	// HistoryIsCurrent is about a content that a file holds now.
	HistoryIsCurrent HistoryKind = "is_current"
	// HistoryPartly is a store that failed after some of the files were written.
	HistoryPartly HistoryKind = "partly"
)

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
