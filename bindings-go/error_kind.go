package memdir

import "io/fs"

// Is makes errors.Is match the equivalent error of the standard library: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission.
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

// Unwrap returns the cause: the error of the hook Before, the error of a method of your own [Store], or the error of the
// done context, such as context.Canceled. It is nil for any other error.
func (e *Error) Unwrap() error { return e.cause }
