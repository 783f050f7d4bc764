package memdir_test

// The server of docs/guides/many-users.md, and the statuses of docs/reference/errors.md. The pages quote this file.

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	memdir "github.com/memdir/memdir/bindings-go"
)

func memoryOf(user string) (*memdir.Memory, error) {
	return memdir.Open(os.Getenv("MEMORIES"), memdir.MemoryOptions{
		Namespace:     "user:" + user,
		MaxFiles:      memdir.Of(200),
		MaxTotalBytes: memdir.Of(1_000_000),
		LockTimeout:   memdir.Of(2 * time.Second),
	})
}

type opener func(user string) (*memdir.Memory, error)

// tool answers one tool call, for a conversation that runs elsewhere.
func (open opener) tool(w http.ResponseWriter, r *http.Request) {
	memory, err := open(userOf(r))
	if err != nil {
		fail(w, memdir.ErrorUnavailable, err)
		return
	}
	defer memory.Close()
	input, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "The request is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	reply := memory.Execute(r.Context(), input)
	if reply.Cause != nil {
		fail(w, reply.Kind, reply.Cause)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"content": reply.Text, "is_error": reply.IsError})
}

// fail answers for a failed store. Only a request that changed nothing is worth another try.
func fail(w http.ResponseWriter, kind memdir.ErrorKind, cause error) {
	log.Print(cause)
	switch kind {
	case memdir.ErrorBusy, memdir.ErrorCancelled, memdir.ErrorUnavailable:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "The memory cannot be used now.", http.StatusServiceUnavailable)
	default:
		http.Error(w, "The change may or may not have been made.", http.StatusInternalServerError)
	}
}

// statusOf returns the HTTP status for a kind of error.
func statusOf(kind memdir.ErrorKind) int {
	switch kind {
	case memdir.ErrorInvalid, memdir.ErrorNoMatch, memdir.ErrorSeveralMatches:
		return http.StatusBadRequest
	case memdir.ErrorReadOnly, memdir.ErrorPermissionDenied, memdir.ErrorFixed, memdir.ErrorSensitive, memdir.ErrorDenied:
		return http.StatusForbidden
	case memdir.ErrorNotFound:
		return http.StatusNotFound
	case memdir.ErrorExists, memdir.ErrorIsADirectory, memdir.ErrorNotADirectory, memdir.ErrorStale, memdir.ErrorChanged:
		return http.StatusConflict
	case memdir.ErrorTooLarge:
		return http.StatusRequestEntityTooLarge
	case memdir.ErrorNotText:
		return http.StatusUnsupportedMediaType
	case memdir.ErrorBusy, memdir.ErrorCancelled, memdir.ErrorUnavailable:
		return http.StatusServiceUnavailable
	case memdir.ErrorFull:
		return http.StatusInsufficientStorage
	default: // ErrorOutcomeUnknown, ErrorHookFailed, ErrorConfig
		return http.StatusInternalServerError
	}
}

// forget erases everything of a user, including the history, at the user's request.
func (open opener) forget(w http.ResponseWriter, r *http.Request) {
	memory, err := open(userOf(r))
	if err != nil {
		fail(w, memdir.ErrorUnavailable, err)
		return
	}
	defer memory.Close()
	erased, err := memory.Erase(r.Context(), false)
	if err != nil {
		fail(w, memdir.ErrorOutcomeUnknown, err)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"files": erased.Files, "versions": erased.Versions})
}

// userOf returns the user's id. Your own server checks a session or a token; this one trusts the client.
func userOf(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
