package memdir

// The types of options.

import (
	"encoding/json"
	"time"
)

// Opt is an option that is set, or set to no value, or left at its default.
type Opt[T any] struct {
	value T
	state uint8
}

const (
	byDefault uint8 = iota
	none
	set
)

// Of sets an option.
func Of[T any](value T) Opt[T] { return Opt[T]{value: value, state: set} }

// None sets an option to no value, so there is no limit.
func None[T any]() Opt[T] { return Opt[T]{state: none} }

// IsZero reports whether the option is left at its default.
func (o Opt[T]) IsZero() bool { return o.state == byDefault }

// MarshalJSON writes the option as the library reads it: a duration as a number of seconds.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != set {
		return []byte("null"), nil
	}
	if span, ok := any(o.value).(time.Duration); ok {
		return json.Marshal(span.Seconds())
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads the format that [Opt.MarshalJSON] writes, for example in a configuration file: null is None.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = None[T]()
		return nil
	}
	var value T
	if span, ok := any(&value).(*time.Duration); ok {
		var seconds float64
		if err := json.Unmarshal(text, &seconds); err != nil {
			return err
		}
		*span = time.Duration(seconds * float64(time.Second))
	} else if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*o = Of(value)
	return nil
}

// EncryptionKey is the key of an encrypted store: "hex:…" or "base64:…" for 32 bytes, or else a passphrase. fmt does not
// print it.
type EncryptionKey string

func (EncryptionKey) String() string { return "[key]" }

// GoString returns the text for %#v.
func (EncryptionKey) GoString() string { return "[key]" }

// MarshalText returns the text for JSON, and so for slog. The library gets the key in another way.
func (EncryptionKey) MarshalText() ([]byte, error) { return []byte("[key]"), nil }
