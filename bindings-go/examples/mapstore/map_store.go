// Package mapstore is an example of a complete store: a map in this process, with a lock that synchronises writers.
package mapstore

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"syscall"
	"time"

	memdir "github.com/memdir/memdir/bindings-go"
)

const root = "/memories"

// MapStore keeps files in a map from paths to contents.
type MapStore struct {
	mutex sync.RWMutex
	nodes map[string]node
}

// node is a directory, or a file with its content, which is immutable.
type node struct {
	isDirectory        bool
	content            []byte
	modified, accessed time.Time
}

var (
	_ memdir.Store              = (*MapStore)(nil)
	_ memdir.StoreTimeSetter    = (*MapStore)(nil)
	_ memdir.StoreAccessTracker = (*MapStore)(nil)
)

// New makes an empty store.
func New() *MapStore {
	return &MapStore{nodes: map[string]node{root: {isDirectory: true}}}
}

// now is the current time, truncated to the microsecond, which is the precision of a store.
func now() time.Time { return time.Now().Truncate(time.Microsecond) }

func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// file finds a file. The caller holds the lock.
func (s *MapStore) file(path string) (node, error) {
	found, is := s.nodes[path]
	switch {
	case !is:
		return node{}, fs.ErrNotExist
	case found.isDirectory:
		return node{}, syscall.EISDIR
	}
	return found, nil
}

// makeParents creates the missing parents of a path. If one of them is a file, it creates nothing. The caller holds the
// lock.
func (s *MapStore) makeParents(path string) error {
	var missing []string
	for path = parent(path); ; path = parent(path) {
		found, is := s.nodes[path]
		if is && !found.isDirectory {
			return syscall.ENOTDIR
		}
		if is {
			break
		}
		missing = append(missing, path)
	}
	for _, path := range missing {
		s.nodes[path] = node{isDirectory: true}
	}
	return nil
}

// Read returns the content of a file.
func (s *MapStore) Read(_ context.Context, path string) ([]byte, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found, err := s.file(path)
	return found.content, err
}

// List returns the entries of a directory.
func (s *MapStore) List(_ context.Context, path string) ([]memdir.Entry, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	switch found, is := s.nodes[path]; {
	case !is:
		return nil, fs.ErrNotExist
	case !found.isDirectory:
		return nil, syscall.ENOTDIR
	}
	var entries []memdir.Entry
	for at, found := range s.nodes {
		if at == root || parent(at) != path {
			continue
		}
		entry := memdir.Entry{Path: at, Modified: found.modified, Accessed: found.accessed}
		if !found.isDirectory {
			size := int64(len(found.content))
			entry.Size = &size
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// Write writes a whole file.
func (s *MapStore) Write(_ context.Context, path string, content []byte, overwrite bool) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if found, is := s.nodes[path]; is && (found.isDirectory || !overwrite) {
		return fs.ErrExist
	}
	if err := s.makeParents(path); err != nil {
		return err
	}
	s.nodes[path] = node{content: bytes.Clone(content), modified: now()}
	return nil
}

// Update changes a file.
func (s *MapStore) Update(_ context.Context, path string, edit memdir.Edit) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, err := s.file(path)
	if err != nil {
		return err
	}
	if edited, write := edit(found.content); write {
		s.nodes[path] = node{content: edited, modified: now(), accessed: found.accessed}
	}
	return nil
}

// Delete deletes a file, or a directory with everything in it.
func (s *MapStore) Delete(_ context.Context, path string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, is := s.nodes[path]; !is {
		return fs.ErrNotExist
	}
	maps.DeleteFunc(s.nodes, func(at string, _ node) bool { return isWithin(at, path) })
	return nil
}

func isWithin(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// Rename moves a file, or a directory with everything in it.
func (s *MapStore) Rename(_ context.Context, from, to string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, is := s.nodes[from]
	switch {
	case !is:
		return fs.ErrNotExist
	case s.has(to):
		return fs.ErrExist
	case found.isDirectory && isWithin(to, from):
		return syscall.EINVAL
	}
	moved := map[string]node{}
	for at, found := range s.nodes {
		if isWithin(at, from) {
			new := to + at[len(from):]
			if len(new) > 4096 || strings.Count(new, "/") > 65 {
				return syscall.ENAMETOOLONG
			}
			moved[new] = found
		}
	}
	if err := s.makeParents(to); err != nil {
		return err
	}
	maps.DeleteFunc(s.nodes, func(at string, _ node) bool { return isWithin(at, from) })
	maps.Copy(s.nodes, moved)
	return nil
}

func (s *MapStore) has(path string) bool {
	_, is := s.nodes[path]
	return is
}

// SetModified sets when a file was last written.
func (s *MapStore) SetModified(_ context.Context, path string, modified time.Time) error {
	return s.setTimes(path, func(file *node) { file.modified = modified })
}

// RecordAccess records that a file was accessed.
func (s *MapStore) RecordAccess(_ context.Context, path string, accessed time.Time) error {
	return s.setTimes(path, func(file *node) { file.accessed = accessed })
}

func (s *MapStore) setTimes(path string, set func(*node)) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, err := s.file(path)
	if err != nil {
		return err
	}
	set(&found)
	s.nodes[path] = found
	return nil
}

// DeleteUnused deletes a file that was neither written nor accessed since a time.
func (s *MapStore) DeleteUnused(_ context.Context, path string, since time.Time) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, err := s.file(path)
	if err != nil || !found.modified.Before(since) || !found.accessed.Before(since) {
		return false, nil
	}
	delete(s.nodes, path)
	return true, nil
}
