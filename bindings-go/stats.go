package memdir

// What a memory holds: sensitive text, and how much it is; and how everything of it is removed.

import "context"

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

// Stats returns how much the memory holds: files, bytes, the largest file, the oldest one.
func (m *Memory) Stats(ctx context.Context) (Stats, error) {
	var stats Stats
	err := m.call(ctx, "stats", nil, &stats)
	return stats, err
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
