package memdir

// What the history of a memory knows of times before.

import (
	"context"
	"time"
)

// HistoryMatch is a place where [Memory.GrepHistory] found something that is not there any more.
type HistoryMatch struct {
	// Version is the newest version that has it.
	Version Version
	// Line is the number of the line in that version, from 1 on; 0 if the name was found.
	Line int
	// Text is the line, or the name. A long line is cut around the match.
	Text string
}

// GrepHistory finds names and lines that are in the history, and that the files do not have any more: newest first, each
// with the newest version that has it. The path of the options is what is or was there, and below it.
func (m *Memory) GrepHistory(ctx context.Context, query string, options GrepOptions) ([]HistoryMatch, error) {
	arguments := struct {
		Query string `json:"query"`
		GrepOptions
	}{query, options}
	var found []struct {
		Version sentVersion `json:"version"`
		Line    int         `json:"line"`
		Text    string      `json:"text"`
	}
	if err := m.call(ctx, "grep_history", arguments, &found); err != nil {
		return nil, err
	}
	matches := make([]HistoryMatch, len(found))
	for i, one := range found {
		matches[i] = HistoryMatch{one.Version.version(), one.Line, one.Text}
	}
	return matches, nil
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

// PastFile is a file as it was at a time.
type PastFile struct {
	// Path is where it was.
	Path string
	// Size is its size in bytes; nil if its content is redacted, or nobody has read it since it was moved.
	Size *int64
	// Modified is when it was last changed before that time; zero if that is not known.
	Modified time.Time
	// Version is the id of its version; empty for a file that was not changed since the history is kept.
	Version string
}

// FilesAt returns the files that there were at a time, in the order of their paths. A file that nobody changed since the
// history is kept is among them as it is now, if it was last written before that time.
func (m *Memory) FilesAt(ctx context.Context, moment time.Time) ([]PastFile, error) {
	var found []struct {
		Path     string   `json:"path"`
		Size     *int64   `json:"size"`
		Modified *float64 `json:"modified"`
		Version  string   `json:"version"`
	}
	if err := m.call(ctx, "files_at", map[string]any{"at": seconds(moment)}, &found); err != nil {
		return nil, err
	}
	files := make([]PastFile, len(found))
	for i, one := range found {
		files[i] = PastFile{one.Path, one.Size, at(one.Modified), one.Version}
	}
	return files, nil
}

// ReadAt returns what a file held at a time; nil if there was no file.
func (m *Memory) ReadAt(ctx context.Context, path string, moment time.Time) ([]byte, error) {
	var held *content
	if err := m.call(ctx, "read_at", map[string]any{"path": path, "at": seconds(moment)}, &held); err != nil || held == nil {
		return nil, err
	}
	return held.bytes()
}

// BlamedLine is a line of a file, and the version that brought it.
type BlamedLine struct {
	// Line is the number of the line, from 1 on.
	Line int
	// Text is the line without its line feed. A carriage return before that is a part of the text.
	Text string
	// Version is the id of the version that brought the line. It is empty if the history does not know of it: another program
	// changed the file since its last version, or it has no version.
	Version string
	// Change is the id of the change that made this version.
	Change string
	// Operation is what this change did: "external" if another program brought the line.
	Operation Operation
	// Actor made this change, as the memory was told.
	Actor string
	// Time is when; of an external version, when it was noticed. It is zero if there is no version.
	Time time.Time
	// MayBeOlder says whether the line may be older than this version: another program brought it, or earlier versions were
	// removed for their age, redacted or damaged.
	MayBeOlder bool
}

// Blame returns for each line of a file as it is now the version that brought it, its actor and its time. A line that was
// removed and brought back is of the version that brought it back. It stays what it is when its file is renamed. The kind of
// the error is [HistoryNoFile] if no file is there, and [HistoryNotText] if it is not UTF-8.
func (m *Memory) Blame(ctx context.Context, path string) ([]BlamedLine, error) {
	var found []struct {
		Line       int       `json:"line"`
		Text       string    `json:"text"`
		Version    string    `json:"version"`
		Change     string    `json:"change"`
		Operation  Operation `json:"operation"`
		Actor      string    `json:"actor"`
		Time       *float64  `json:"time"`
		MayBeOlder bool      `json:"may_be_older"`
	}
	if err := m.call(ctx, "blame", map[string]any{"path": path}, &found); err != nil {
		return nil, err
	}
	lines := make([]BlamedLine, len(found))
	for i, one := range found {
		lines[i] = BlamedLine{
			one.Line, one.Text, one.Version, one.Change, one.Operation, one.Actor, at(one.Time), one.MayBeOlder,
		}
	}
	return lines, nil
}
