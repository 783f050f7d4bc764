package memdir

// Operations on the files for your own code, which bypass the commands. The model cannot call them, and they call no hooks.

import (
	"context"
	"encoding/json"
)

// Read returns the text of a file unchanged, including text that views redact. It does not count as use of the file.
//
// Here and below, the error is an [*Error]: KindRefused if the call is wrong, KindStore if the store failed.
func (m *Memory) Read(ctx context.Context, path string) (string, error) {
	var text string
	err := m.call(ctx, "read", map[string]any{"path": path}, &text)
	return text, err
}

// ReadShown returns the text of a file as a model may see it: redacted if views are, and without line numbers. Like a view,
// it counts as use of the file. Use it to give a file to a model by other means than a view.
func (m *Memory) ReadShown(ctx context.Context, path string) (string, error) {
	var text string
	err := m.call(ctx, "read_shown", map[string]any{"path": path}, &text)
	return text, err
}

// Write creates a file, with its parents, or replaces its whole content. The policies of the commands apply. Afterwards the
// stale guard requires the model to view the file again.
func (m *Memory) Write(ctx context.Context, path, text string) error {
	return m.call(ctx, "write", map[string]any{"path": path, "text": text}, nil)
}

// WriteIfUnchanged is Write for a file that still contains the text that [Memory.Read] returned. Otherwise the write is
// refused, and nothing is changed.
func (m *Memory) WriteIfUnchanged(ctx context.Context, path, text, read string) error {
	return m.call(ctx, "write", map[string]any{"path": path, "text": text, "if_unchanged": read}, nil)
}

// IsDirectory reports whether the entry is a directory.
func (e Entry) IsDirectory() bool { return e.Size == nil }

// List returns the entries below a directory, depth levels deep, in the order of their paths and without hidden ones. A
// depth of 0 or less is every level. For a file, it returns the file itself.
func (m *Memory) List(ctx context.Context, path string, depth int) ([]Entry, error) {
	arguments := map[string]any{"path": path}
	if depth > 0 {
		arguments["depth"] = depth
	}
	var entries []Entry
	err := m.call(ctx, "list", arguments, &entries)
	return entries, err
}

// Exists reports whether a file or a directory exists.
func (m *Memory) Exists(ctx context.Context, path string) (bool, error) {
	var exists bool
	err := m.call(ctx, "exists", map[string]any{"path": path}, &exists)
	return exists, err
}

// GrepOptions are the options of [Memory.Grep].
type GrepOptions struct {
	// Regex says that the query is a regular expression, in the syntax of Rust's regex-lite.
	Regex bool `json:"regex,omitempty"`
	// IgnoreCase ignores case.
	IgnoreCase bool `json:"ignore_case,omitempty"`
	// Path is the file or directory to search; empty for everything.
	Path string `json:"path,omitempty"`
	// Limit is the most matches; 0 for 100.
	Limit int `json:"limit,omitempty"`
}

// Grep finds names of files and directories, and lines of files, in the order of the paths and lines. Hidden entries and
// files that are not text are left out. It searches the text that a view shows.
func (m *Memory) Grep(ctx context.Context, query string, options GrepOptions) ([]GrepMatch, error) {
	arguments := struct {
		Query string `json:"query"`
		GrepOptions
	}{query, options}
	var found []GrepMatch
	err := m.call(ctx, "grep", arguments, &found)
	return found, err
}

// SearchOptions are the options of [Memory.Search].
type SearchOptions struct {
	// Path is the file or directory to search; empty for everything.
	Path string `json:"path,omitempty"`
	// Limit is the most files, and never more than 1,000; 0 for 10.
	Limit int `json:"limit,omitempty"`
}

// Search finds the files that answer a question best, the best first, with their best passages. For exact lines use
// [Memory.Grep].
//
// A file is a hit if it has any word of the question, whatever its ending. "green tea" in quotes requires a phrase,
// -coffee excludes a word, path:notes requires a text in the path. Hidden files are left out. It searches the text that a
// view shows.
//
// It finds every write that was acknowledged before it, by any process. The first search of a memory reads all files,
// later ones only what has changed. The texts are held in memory, up to the option SearchMaxBytes.
func (m *Memory) Search(ctx context.Context, query string, options SearchOptions) (SearchResults, error) {
	arguments := struct {
		Query string `json:"query"`
		SearchOptions
	}{query, options}
	var found SearchResults
	err := m.call(ctx, "search", arguments, &found)
	return found, err
}

// Index returns a table of contents for a system prompt, of at most maxChars characters: each file with its path, its size
// and its first line.
func (m *Memory) Index(ctx context.Context, maxChars int) (string, error) {
	var index string
	err := m.call(ctx, "index", map[string]any{"max_chars": maxChars}, &index)
	return index, err
}

// Project is the content of the files that [Memory.Bootstrap] creates.
type Project struct {
	// About is the subject of the project, in a line or a paragraph.
	About string `json:"about"`
	// Features are the features to build, one after the other.
	Features []string `json:"features"`
	// Init says how the project is set up and started, such as a command.
	Init string `json:"init,omitempty"`
}

// Bootstrap creates the files with which a project of several sessions begins: progress.md, features.md and init.md. An
// existing file is not changed. It returns the paths of the created files.
func (m *Memory) Bootstrap(ctx context.Context, project Project) ([]string, error) {
	if project.Features == nil {
		project.Features = []string{}
	}
	var made []string
	err := m.call(ctx, "bootstrap", project, &made)
	return made, err
}

// ForgetViews makes the stale guard refuse edits of every file that the model has seen, until the model views the file
// again. Call it when the conversation was compacted, because the guard cannot notice that. It is not needed after context
// editing that keeps the memory's results.
func (m *Memory) ForgetViews() error {
	return m.call(context.Background(), "forget_views", nil, nil)
}

// ToolDefinition returns the tool as JSON, for a host that does not know Anthropic's memory tool. The dialect is
// "json-schema", "openai", "openai-chat", "anthropic-custom" or "gemini".
func (m *Memory) ToolDefinition(dialect string) (json.RawMessage, error) {
	var definition json.RawMessage
	err := m.call(context.Background(), "tool_definition", map[string]any{"dialect": dialect}, &definition)
	return definition, err
}

// ToolDefinitions returns one tool for each command, named by the prefix and the command, as a JSON array.
func (m *Memory) ToolDefinitions(dialect, prefix string) (json.RawMessage, error) {
	var definitions json.RawMessage
	arguments := map[string]any{"dialect": dialect, "prefix": prefix}
	err := m.call(context.Background(), "tool_definitions", arguments, &definitions)
	return definitions, err
}

// SearchToolDefinition returns the search as a tool beside the memory tool, named by the prefix and "search", as JSON. Its
// calls are for [Memory.ExecuteSearch]. "memory_" is a usual prefix.
func (m *Memory) SearchToolDefinition(dialect, prefix string) (json.RawMessage, error) {
	var definition json.RawMessage
	arguments := map[string]any{"dialect": dialect, "prefix": prefix}
	err := m.call(context.Background(), "search_tool_definition", arguments, &definition)
	return definition, err
}
