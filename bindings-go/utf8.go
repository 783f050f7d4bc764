package memdir

// Encodes text for the library, which reads UTF-8.

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// marshal writes options or arguments as JSON. encoding/json would replace bytes that are not UTF-8, so a different text
// would be stored, or a different path used. Here they are an error of this kind, which names the field.
func marshal(value any, kind Kind) (string, error) {
	if name, found := notUTF8(reflect.ValueOf(value), ""); found {
		failed := &Error{Kind: kind, Message: name + " is not valid UTF-8"}
		if kind == KindConfig {
			failed.Option = name
		}
		return "", failed
	}
	written, err := json.Marshal(value)
	if err != nil {
		return "", &Error{Kind: kind, Message: err.Error()}
	}
	return string(written), nil
}

// notUTF8 finds a text that is not UTF-8, and the name of its field.
func notUTF8(value reflect.Value, name string) (string, bool) {
	switch value.Kind() {
	case reflect.String:
		return name, !utf8.ValidString(value.String())
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			return notUTF8(value.Elem(), name)
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if found, is := notUTF8(value.Index(i), name); is {
				return found, true
			}
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			inner := name
			if key.Kind() == reflect.String {
				if !utf8.ValidString(key.String()) {
					return name, true
				}
				if inner == "" {
					inner = key.String()
				}
			}
			if found, is := notUTF8(value.MapIndex(key), inner); is {
				return found, true
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			inner := name
			if inner == "" {
				inner, _, _ = strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			}
			if found, is := notUTF8(value.Field(i), inner); is {
				return found, true
			}
		}
	}
	return "", false
}
