package memdir

// What a program does with the files itself, past the commands. The model cannot ask for it, and no hook is called.

import (
	"context"
	"encoding/json"
)

// Read returns the text of a file, as it is: also what views hide. It is no use of the file.
//
// Here and below, the error is an [*Error]: KindRefused says what is wrong with the call, KindStore that the store failed.
func (m *Memory) Read(ctx context.Context, path string) (string, error) {
	var text string
	err := m.call(ctx, "read", map[string]any{"path": path}, &text)
	return text, err
}

// ReadShown returns the text of a file as a model may see it: redacted if views are, and without line numbers. It is a use of
// the file, as a view is. It is for giving a file to a model other than by a view.
func (m *Memory) ReadShown(ctx context.Context, path string) (string, error) {
	var text string
	err := m.call(ctx, "read_shown", map[string]any{"path": path}, &text)
	return text, err
}

// Write makes a file, with its parents, or replaces it as a whole. The policies are those of the commands. For the stale
// guard it is somebody else's change: the model has to view the file again.
func (m *Memory) Write(ctx context.Context, path, text string) error {
	return m.call(ctx, "write", map[string]any{"path": path, "text": text}, nil)
}

// WriteIfUnchanged is Write for a file that still holds what [Memory.Read] returned. Otherwise it is refused, and nothing
// is changed.
func (m *Memory) WriteIfUnchanged(ctx context.Context, path, text, read string) error {
	return m.call(ctx, "write", map[string]any{"path": path, "text": text, "if_unchanged": read}, nil)
}

// IsDirectory reports whether it is a directory.
func (e Entry) IsDirectory() bool { return e.Size == nil }

// List returns the entries below a directory, so many levels deep, in the order of their paths and without hidden ones. A
// depth of 0 or less is every level. Of a file, it returns the file itself.
func (m *Memory) List(ctx context.Context, path string, depth int) ([]Entry, error) {
	arguments := map[string]any{"path": path}
	if depth > 0 {
		arguments["depth"] = depth
	}
	var entries []Entry
	err := m.call(ctx, "list", arguments, &entries)
	return entries, err
}

// Exists reports whether there is a file or a directory.
func (m *Memory) Exists(ctx context.Context, path string) (bool, error) {
	var exists bool
	err := m.call(ctx, "exists", map[string]any{"path": path}, &exists)
	return exists, err
}

// GrepOptions say how [Memory.Grep] searches.
type GrepOptions struct {
	// Regex says that the query is a regular expression, in the syntax of Rust's regex-lite.
	Regex bool `json:"regex,omitempty"`
	// IgnoreCase ignores case.
	IgnoreCase bool `json:"ignore_case,omitempty"`
	// Path is where to search; empty for everywhere.
	Path string `json:"path,omitempty"`
	// Limit is the most matches; 0 for 100.
	Limit int `json:"limit,omitempty"`
}

// Grep finds names of files and directories, and lines of files, in the order of the paths and lines. Hidden entries and
// files that are not text are left out. It searches what a view would show.
func (m *Memory) Grep(ctx context.Context, query string, options GrepOptions) ([]GrepMatch, error) {
	arguments := struct {
		Query string `json:"query"`
		GrepOptions
	}{query, options}
	var found []GrepMatch
	err := m.call(ctx, "grep", arguments, &found)
	return found, err
}

// Index is a table of contents for a system prompt, in at most so many characters: each file with its path, its size and
// its first line.
func (m *Memory) Index(ctx context.Context, maxChars int) (string, error) {
	var index string
	err := m.call(ctx, "index", map[string]any{"max_chars": maxChars}, &index)
	return index, err
}

// Project is what [Memory.Bootstrap] writes down.
type Project struct {
	// About is what the project is about, in a line or a paragraph.
	About string `json:"about"`
	// Features are what is to be built, one after the other.
	Features []string `json:"features"`
	// Init is how the project is set up and started, such as a command.
	Init string `json:"init,omitempty"`
}

// Bootstrap lays out the files with which a project of several sessions begins: progress.md, features.md and init.md. A
// file that is there already stays as it is. It returns the paths of those that were made.
func (m *Memory) Bootstrap(ctx context.Context, project Project) ([]string, error) {
	if project.Features == nil {
		project.Features = []string{}
	}
	var made []string
	err := m.call(ctx, "bootstrap", project, &made)
	return made, err
}

// ForgetViews makes the stale guard refuse edits of every file that the model has seen, until it views the file again. Call it
// when the conversation was compacted, of which the guard cannot know. Not after context editing that spares the memory's
// results.
func (m *Memory) ForgetViews() error {
	return m.call(context.Background(), "forget_views", nil, nil)
}

// ToolDefinition is the tool for a host that does not know Anthropic's, as JSON. The dialect is "json-schema", "openai",
// "openai-chat", "anthropic-custom" or "gemini".
func (m *Memory) ToolDefinition(dialect string) (json.RawMessage, error) {
	var definition json.RawMessage
	err := m.call(context.Background(), "tool_definition", map[string]any{"dialect": dialect}, &definition)
	return definition, err
}

// ToolDefinitions is a tool for each command, named by the prefix and the command, as a JSON array.
func (m *Memory) ToolDefinitions(dialect, prefix string) (json.RawMessage, error) {
	var definitions json.RawMessage
	arguments := map[string]any{"dialect": dialect, "prefix": prefix}
	err := m.call(context.Background(), "tool_definitions", arguments, &definitions)
	return definitions, err
}
