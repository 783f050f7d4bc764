package memdir

import "io/fs"

// ErrorKind is what kind of error a call ended with. A model reads sentences; a program should look at this.
type ErrorKind string

const (
	// ErrorNotFound means: nothing is at the path.
	ErrorNotFound ErrorKind = "not_found"
	// ErrorExists means: something is at the path already.
	ErrorExists ErrorKind = "exists"
	// ErrorIsADirectory means: a directory is where a file is needed.
	ErrorIsADirectory ErrorKind = "is_a_directory"
	// ErrorNotADirectory means: a file is where a directory is needed.
	ErrorNotADirectory ErrorKind = "not_a_directory"
	// ErrorInvalid means: the input, a parameter or a path is wrong, whatever the memory holds. A symbolic link on
	// the path is such a case, too.
	ErrorInvalid ErrorKind = "invalid"
	// ErrorNoMatch means: the text to replace is not in the file.
	ErrorNoMatch ErrorKind = "no_match"
	// ErrorSeveralMatches means: the text to replace is in the file more than once.
	ErrorSeveralMatches ErrorKind = "several_matches"
	// ErrorNotText means: the file cannot be shown or edited as what it is: it is not UTF-8, no whole image, or no
	// file at all but a device.
	ErrorNotText ErrorKind = "not_text"
	// ErrorReadOnly means: the memory, the store or the path is read-only.
	ErrorReadOnly ErrorKind = "read_only"
	// ErrorPermissionDenied means: the operating system or the server does not allow it.
	ErrorPermissionDenied ErrorKind = "permission_denied"
	// ErrorFixed means: this cannot be deleted or moved: /memories itself, a mount, a directory that its store cannot
	// move as a whole.
	ErrorFixed ErrorKind = "fixed"
	// ErrorTooLarge means: a file is, or would be, larger than one may be.
	ErrorTooLarge ErrorKind = "too_large"
	// ErrorFull means: the memory would hold more than it may, or the store is full.
	ErrorFull ErrorKind = "full"
	// ErrorSensitive means: the text or the path holds sensitive text.
	ErrorSensitive ErrorKind = "sensitive"
	// ErrorStale means: the model has not seen what the file holds now (the option stale_guard).
	ErrorStale ErrorKind = "stale"
	// ErrorChanged means: the file does not hold what it was expected to hold.
	ErrorChanged ErrorKind = "changed"
	// ErrorDenied means: the hook before denied it.
	ErrorDenied ErrorKind = "denied"
	// ErrorBusy means: other writers have kept the store locked for too long. Nothing was changed.
	ErrorBusy ErrorKind = "busy"
	// ErrorCancelled means: the caller cancelled it before it began to write. Nothing was changed.
	ErrorCancelled ErrorKind = "cancelled"
	// ErrorUnavailable means: the store failed, and nothing was changed.
	ErrorUnavailable ErrorKind = "unavailable"
	// ErrorOutcomeUnknown means: the store failed, and the change may or may not have been made.
	ErrorOutcomeUnknown ErrorKind = "outcome_unknown"
	// ErrorHookFailed means: the hook before failed. Nothing was changed.
	ErrorHookFailed ErrorKind = "hook_failed"
	// ErrorConfig means: an option or the store's address is wrong.
	ErrorConfig ErrorKind = "config"
)

// Is makes errors.Is find what the standard library calls such an error: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission.
func (e *Error) Is(target error) bool {
	switch e.ReplyKind {
	case ErrorNotFound:
		return target == fs.ErrNotExist
	case ErrorExists:
		return target == fs.ErrExist
	case ErrorReadOnly, ErrorPermissionDenied, ErrorDenied:
		return target == fs.ErrPermission
	}
	return false
}

// Unwrap is what the hook Before returned, or why the context was done, such as context.Canceled; nil for any other error.
func (e *Error) Unwrap() error { return e.cause }
