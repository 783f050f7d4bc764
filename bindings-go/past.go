package memdir

// Queries about the past of a memory, answered from its history.

import (
	"context"
	"time"
)

// GrepHistory finds names and lines that are in the history and no longer in the files, newest first. Each match names the
// newest version that has it. The Path of the options is a current or former file or directory, and includes everything
// below it.
func (m *Memory) GrepHistory(ctx context.Context, query string, options GrepOptions) ([]HistoryMatch, error) {
	arguments := struct {
		Query string `json:"query"`
		GrepOptions
	}{query, options}
	var found []HistoryMatch
	err := m.call(ctx, "grep_history", arguments, &found)
	return found, err
}

// ResolveID resolves a part of an id to the whole id of the version or of the change. The part is the beginning or the end
// of the id, with at least 6 digits. Dashes and the case of letters do not matter. The kind of the error is
// [HistoryAmbiguous] if several ids match, [HistoryUnknown] if no id matches, and [HistoryNoID] if it cannot be part of an
// id.
func (m *Memory) ResolveID(ctx context.Context, part string) (string, error) {
	var id string
	err := m.call(ctx, "resolve_id", map[string]any{"part": part}, &id)
	return id, err
}

// ExportHistory returns the whole history as a stream for git fast-import: a commit for each change, with its actor as the
// author, on the branch main. The same history always gives the same commits. A content that was removed from the history is
// replaced by a text that says so.
func (m *Memory) ExportHistory(ctx context.Context) ([]byte, error) {
	var stream content
	if err := m.call(ctx, "export_history", map[string]any{}, &stream); err != nil {
		return nil, err
	}
	return stream.bytes()
}

// FilesAt returns the files that existed at a time, in the order of their paths. A file that was not changed since the
// history began is included with its current content, if it was last written before that time. The zero time is an error.
func (m *Memory) FilesAt(ctx context.Context, at time.Time) ([]PastFile, error) {
	if err := notZero("at", at); err != nil {
		return nil, err
	}
	var files []PastFile
	err := m.call(ctx, "files_at", map[string]any{"at": at}, &files)
	return files, err
}

// ReadAt returns the content of a file at a time; nil if the file did not exist. The zero time is an error.
func (m *Memory) ReadAt(ctx context.Context, path string, at time.Time) ([]byte, error) {
	if err := notZero("at", at); err != nil {
		return nil, err
	}
	var held *content
	if err := m.call(ctx, "read_at", map[string]any{"path": path, "at": at}, &held); err != nil || held == nil {
		return nil, err
	}
	return held.bytes()
}

// Blame returns, for each current line of a file, the version that added it, with its actor and time. A line that was
// removed and added again belongs to the version that added it again. Renaming the file does not change the result. The kind
// of the error is [HistoryNoFile] if the file does not exist, and [HistoryNotText] if it is not UTF-8.
func (m *Memory) Blame(ctx context.Context, path string) ([]BlamedLine, error) {
	var lines []BlamedLine
	err := m.call(ctx, "blame", map[string]any{"path": path}, &lines)
	return lines, err
}
