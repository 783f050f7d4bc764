package memdir

// What a memory holds: sensitive text, and how much it is; and how everything of it is removed.

import (
	"context"
	"time"
)

// SensitiveMatch is a place where [Memory.FindSensitive] found something. It does not have the text itself.
type SensitiveMatch struct {
	// Path is the path of the file, or of the directory whose name it is.
	Path string `json:"path"`
	// Line is the number of the line, from 1 on; 0 if it is in the name.
	Line int `json:"line"`
	// Rule is the id of the rule.
	Rule string `json:"rule"`
}

// FindSensitive finds sensitive text in names and lines at a path and below it, with the built-in rules and those of
// SensitiveRules. The text itself is not returned. Whether commands may write such text does not matter here. An empty path
// is everything; a limit of 0 or less is 100.
func (m *Memory) FindSensitive(ctx context.Context, path string, limit int) ([]SensitiveMatch, error) {
	arguments := map[string]any{"path": orNull(path)}
	if limit > 0 {
		arguments["limit"] = limit
	}
	var found []SensitiveMatch
	err := m.call(ctx, "find_sensitive", arguments, &found)
	return found, err
}

// Stats is how much a memory holds. Hidden files count, as they do for the limits; the files of the history do not.
type Stats struct {
	Files int
	// Directories are those below /memories. A hidden one counts if there is a file in it.
	Directories int
	// Bytes are those of all files together.
	Bytes int64
	// Largest is the largest file; nil if there are no files.
	Largest *SizedPath
	// Oldest is the file whose last change is the longest ago, and Newest the one that was changed last; nil if the store does
	// not keep times.
	Oldest, Newest *TimedPath
	// LeastRecentlyUsed is the file that was not used for the longest time, and when it was used last; nil if the store does
	// not keep accesses, or is read-only. Without RecordAccess, only changes count as uses.
	LeastRecentlyUsed *TimedPath
	// History is how much the history holds; nil if the memory has none.
	History *HistorySize
}

// SizedPath is a file and its size.
type SizedPath struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// TimedPath is a file and a time of it.
type TimedPath struct {
	Path string
	Time time.Time
}

// HistorySize is how much a history holds.
type HistorySize struct {
	// Versions are those of all files, of deleted ones as well.
	Versions int `json:"versions"`
	// Bytes are those of its records, as HistoryMaxBytes counts them.
	Bytes int64 `json:"bytes"`
}

// Stats returns how much the memory holds: files, bytes, the largest file, the oldest one.
func (m *Memory) Stats(ctx context.Context) (Stats, error) {
	type timed struct {
		Path string  `json:"path"`
		Time float64 `json:"time"`
	}
	var found struct {
		Files       int          `json:"files"`
		Directories int          `json:"directories"`
		Bytes       int64        `json:"bytes"`
		Largest     *SizedPath   `json:"largest"`
		Oldest      *timed       `json:"oldest"`
		Newest      *timed       `json:"newest"`
		LastUsed    *timed       `json:"least_recently_used"`
		History     *HistorySize `json:"history"`
	}
	if err := m.call(ctx, "stats", nil, &found); err != nil {
		return Stats{}, err
	}
	path := func(file *timed) *TimedPath {
		if file == nil {
			return nil
		}
		return &TimedPath{file.Path, at(&file.Time)}
	}
	return Stats{
		found.Files, found.Directories, found.Bytes, found.Largest,
		path(found.Oldest), path(found.Newest), path(found.LastUsed), found.History,
	}, nil
}

// Erased is how much [Memory.Erase] removed for good, or would.
type Erased struct {
	// Files are all files, hidden ones as well.
	Files int `json:"files"`
	// Bytes are those of all files together.
	Bytes int64 `json:"bytes"`
	// Versions are those in the history, of deleted files as well.
	Versions int `json:"versions"`
	// HistoryBytes are those of its records.
	HistoryBytes int64 `json:"history_bytes"`
}

// Erase removes everything for good: files, directories, the whole history, and what killed processes left. The model cannot
// ask for it, and no policy applies. It works whether or not the memory has a history, is not recorded, and cannot be undone.
// With dryRun it only counts. Mounted stores that are read-only stay as they are.
//
// Afterwards the memory goes on as an empty one, also for other processes. If it fails or is killed, a second call does the
// rest. What memdir cannot reach stays: backups, and what a disk or a server keeps of deleted data.
func (m *Memory) Erase(ctx context.Context, dryRun bool) (Erased, error) {
	var erased Erased
	err := m.call(ctx, "erase", map[string]any{"dry_run": dryRun}, &erased)
	return erased, err
}
