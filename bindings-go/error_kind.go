package memdir

import "io/fs"

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

// Unwrap is what the hook Before returned, or a method of your own [Store], or why the context was done, such as
// context.Canceled; nil for any other error.
func (e *Error) Unwrap() error { return e.cause }
