package memdir

// Reads the conformance cases, and rejects anything that is not in the format (tests/README.md).

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is the whole content of a store: canonical path → content in Base64, nil for an empty directory. A store reports a
// long content only in the form of [tree.shown].
type tree map[string]*string

type caseFile struct {
	About string
	Cases []*conformanceCase
}

type conformanceCase struct {
	Name, Rule  string
	Options     map[string]any
	Hooks       *struct{ Before []rule }
	Given, Then caseTree
	Steps       []step
	file        string
}

// rule is the decision of a hook about some commands.
type rule struct {
	When    expanded
	Deny    *expanded
	Replace []expanded
	Fail    *expanded
}

type step struct {
	Input         expanded
	Content       json.RawMessage
	IsError       bool `json:"is_error"`
	Kind          ErrorKind
	WithoutImages json.RawMessage `json:"without_images"`
	Event         expanded
	Expires       bool

	Meanwhile caseTree

	Age map[string]int

	Expire *struct {
		OlderThan float64 `json:"older_than"`
		DryRun    bool    `json:"dry_run"`
	}
	Removed []string
	Refused bool
}

// expanded is a JSON value in which texts replace the descriptions of texts.
type expanded struct{ value any }

func (e *expanded) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	// Numbers stay as they are written.
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	var err error
	e.value, err = expand(value)
	return err
}

func (e expanded) text() string { return e.value.(string) }

func expand(value any) (any, error) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			var err error
			if value[i], err = expand(value[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range value {
			if strings.HasPrefix(name, "$") {
				return described(value)
			}
		}
		for name := range value {
			var err error
			if value[name], err = expand(value[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func described(form map[string]any) (string, error) {
	number := func(value any) int {
		n, _ := value.(json.Number).Int64()
		return int(n)
	}
	switch keys := strings.Join(slices.Sorted(maps.Keys(form)), " "); keys {
	case "$text":
		var made strings.Builder
		for _, piece := range form["$text"].([]any) {
			piece, err := expand(piece)
			if err != nil {
				return "", err
			}
			made.WriteString(piece.(string))
		}
		return made.String(), nil
	case "$repeat $times":
		return strings.Repeat(form["$repeat"].(string), number(form["$times"])), nil
	case "$count $each":
		var made strings.Builder
		numbers := form["$count"].([]any)
		for n := number(numbers[0]); n <= number(numbers[1]); n++ {
			numbered := strings.NewReplacer("{n}", fmt.Sprint(n), "{n:6}", fmt.Sprintf("%6d", n))
			made.WriteString(numbered.Replace(form["$each"].(string)))
		}
		return made.String(), nil
	default:
		return "", fmt.Errorf("an object with the keys %s describes no text", keys)
	}
}

// caseTree is a tree in the format of the cases.
type caseTree struct {
	tree  tree
	given bool
}

func (t *caseTree) UnmarshalJSON(data []byte) error {
	var nodes map[string]json.RawMessage
	if err := json.Unmarshal(data, &nodes); err != nil {
		return err
	}
	t.tree, t.given = tree{}, true
	for path, node := range nodes {
		var bytes struct {
			Base64 *string `json:"$base64"`
		}
		if string(node) == "null" {
			t.tree[path] = nil
		} else if json.Unmarshal(node, &bytes) == nil && bytes.Base64 != nil {
			t.tree[path] = bytes.Base64
		} else {
			var text expanded
			if err := json.Unmarshal(node, &text); err != nil {
				return err
			}
			encoded := base64.StdEncoding.EncodeToString([]byte(text.text()))
			t.tree[path] = &encoded
		}
	}
	return nil
}

// shown returns the tree in the format of "testing.tree".
func (t tree) shown() tree {
	shown := tree{}
	for path, content := range t {
		shown[path] = content
		if content == nil {
			continue
		}
		if bytes, err := base64.StdEncoding.DecodeString(*content); err == nil && len(bytes) > 1_000 {
			hash := fnv.New64a()
			hash.Write(bytes)
			long := fmt.Sprintf("%d bytes, %016x", len(bytes), hash.Sum64())
			shown[path] = &long
		}
	}
	return shown
}

// expectedReply returns the content of a step: a text, or an image.
func (s *step) expectedReply(t *testing.T) Reply {
	t.Helper()
	var image struct {
		MediaType string `json:"$image"`
		Data      string `json:"$base64"`
	}
	if json.Unmarshal(s.Content, &image) == nil && image.MediaType != "" {
		return Reply{Image: &Image{image.MediaType, image.Data}, IsError: s.IsError, Kind: s.Kind}
	}
	var text expanded
	if err := json.Unmarshal(s.Content, &text); err != nil {
		t.Fatal(err)
	}
	return Reply{Text: text.text(), IsError: s.IsError, Kind: s.Kind}
}

func loadCases(t *testing.T) []*conformanceCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "tests/cases/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no cases", err)
	}
	var cases []*conformanceCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		var read caseFile
		if err := decoder.Decode(&read); err != nil {
			t.Fatal(file, err)
		}
		for _, one := range read.Cases {
			one.file = filepath.Base(file)
		}
		cases = append(cases, read.Cases...)
	}
	return cases
}

// optionsOf returns the options of a case.
func optionsOf(t *testing.T, given map[string]any) MemoryOptions {
	t.Helper()
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	var options MemoryOptions
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&options); err != nil {
		t.Fatal(err)
	}
	return options
}

// root is the project's root.
func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}
