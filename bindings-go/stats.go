package memdir

// The contents of a memory as a whole: sensitive text in it, its size, and erasing it.

import "context"

// FindSensitive finds sensitive text in names and lines at a path and below it, with the built-in rules and those of
// SensitiveRules. The text itself is not returned. The option SensitiveText has no effect here. An empty path is everything;
// a limit of 0 or less is 100.
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

// Erase removes everything for good: files, directories, the whole history, and the leftovers of killed processes. The model
// cannot call it, and no policy applies. It works with and without a history, is not recorded, and cannot be undone. With
// dryRun it only counts. Mounted stores that are read-only are not changed.
//
// Afterwards the memory is empty and still usable, also for other processes. If the call fails or is killed, a second call
// removes the rest. Data that memdir cannot reach stays: backups, and deleted data that a disk or a server still keeps.
func (m *Memory) Erase(ctx context.Context, dryRun bool) (Erased, error) {
	var erased Erased
	err := m.call(ctx, "erase", map[string]any{"dry_run": dryRun}, &erased)
	return erased, err
}
