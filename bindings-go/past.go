package memdir

// What the history of a memory knows of times before.

import (
	"context"
	"time"
)

// GrepHistory finds names and lines that are in the history, and that the files do not have any more: newest first, each
// with the newest version that has it. The path of the options is what is or was there, and below it.
func (m *Memory) GrepHistory(ctx context.Context, query string, options GrepOptions) ([]HistoryMatch, error) {
	arguments := struct {
		Query string `json:"query"`
		GrepOptions
	}{query, options}
	var found []HistoryMatch
	err := m.call(ctx, "grep_history", arguments, &found)
	return found, err
}

// ResolveID returns the whole id of the version or of the change that a person means by a part of it: its beginning or its end,
// at least 6 digits. Dashes and the case of letters do not matter. The kind of the error is [HistoryAmbiguous] if several have
// this part, [HistoryUnknown] if none has it, and [HistoryNoID] if it is no part of an id.
func (m *Memory) ResolveID(ctx context.Context, part string) (string, error) {
	var id string
	err := m.call(ctx, "resolve_id", map[string]any{"part": part}, &id)
	return id, err
}

// ExportHistory returns the history as a stream for git fast-import, as a whole: a commit for each change, with its actor as
// the author, on the branch main. The same history always gives the same commits. A content that was removed from the history
// is replaced by a text that says so.
func (m *Memory) ExportHistory(ctx context.Context) ([]byte, error) {
	var stream content
	if err := m.call(ctx, "export_history", map[string]any{}, &stream); err != nil {
		return nil, err
	}
	return stream.bytes()
}

// FilesAt returns the files that there were at a time, in the order of their paths. A file that nobody changed since the
// history is kept is among them as it is now, if it was last written before that time.
func (m *Memory) FilesAt(ctx context.Context, moment time.Time) ([]PastFile, error) {
	var files []PastFile
	err := m.call(ctx, "files_at", map[string]any{"at": moment}, &files)
	return files, err
}

// ReadAt returns what a file held at a time; nil if there was no file.
func (m *Memory) ReadAt(ctx context.Context, path string, moment time.Time) ([]byte, error) {
	var held *content
	if err := m.call(ctx, "read_at", map[string]any{"path": path, "at": moment}, &held); err != nil || held == nil {
		return nil, err
	}
	return held.bytes()
}

// Blame returns for each line of a file as it is now the version that brought it, its actor and its time. A line that was
// removed and brought back is of the version that brought it back. It stays what it is when its file is renamed. The kind of
// the error is [HistoryNoFile] if no file is there, and [HistoryNotText] if it is not UTF-8.
func (m *Memory) Blame(ctx context.Context, path string) ([]BlamedLine, error) {
	var lines []BlamedLine
	err := m.call(ctx, "blame", map[string]any{"path": path}, &lines)
	return lines, err
}
