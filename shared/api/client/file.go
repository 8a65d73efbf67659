package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// fileVersion is the version of the files that this package writes.
const fileVersion = 1

// PrivateFile is a JSON file that only its owner may read, with a version.
type PrivateFile struct {
	Path string
	// WayOut completes the error of a file that cannot be used: "sign in again: lamp login".
	WayOut string
}

// versioned is the form of the file.
type versioned struct {
	Version int             `json:"version"`
	Content json.RawMessage `json:"content"`
}

// Read decodes the content into out. The error is fs.ErrNotExist if the file does not exist. It refuses a file that
// others may read, that is not whole, or that has another version.
func (f PrivateFile) Read(out any) error {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: remove it, and %s", f.Path, f.WayOut)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" { // Windows has no such modes
		return fmt.Errorf("%s may be read by other users (mode %04o): remove it, and %s; or run chmod 600 on it, if "+
			"you are sure that no other user has read it", f.Path, mode, f.WayOut)
	}
	b, err := os.ReadFile(f.Path)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	return f.decode(b, out)
}

func (f PrivateFile) decode(b []byte, out any) error {
	var v versioned
	if json.Unmarshal(b, &v) != nil || v.Version > 0 && len(v.Content) == 0 {
		return fmt.Errorf("%s is not whole, or not a file of this program: remove it, and %s", f.Path, f.WayOut)
	}
	if v.Version != fileVersion {
		return fmt.Errorf("%s has version %d, and this program reads version %d: use the program that wrote it, or "+
			"remove the file, and %s", f.Path, v.Version, fileVersion, f.WayOut)
	}
	if json.Unmarshal(v.Content, out) != nil { // the error may quote a token
		return fmt.Errorf("%s has members that are not expected: remove it, and %s", f.Path, f.WayOut)
	}
	return nil
}

// Write replaces the file as a whole, with mode 0600. A reader sees the old file or the new one, never a part.
func (f PrivateFile) Write(content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.Path, err)
	}
	b, err := json.MarshalIndent(versioned{fileVersion, raw}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.Path, err)
	}
	dir := filepath.Dir(f.Path)
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", f.Path, err)
	}
	tmp, err := os.CreateTemp(dir, ".new-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it has been renamed, or is harmless
	_, err = tmp.Write(append(b, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	if err = os.Rename(tmp.Name(), f.Path); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	return nil
}

const (
	lockTries = 600 // of lockPause each: longer than a refresh takes, with its deadline
	lockPause = 100 * time.Millisecond
)

// lock takes the lock beside the file, which ends with the process at the latest, and returns its release.
func (f PrivateFile) lock(ctx context.Context, sleep func(context.Context, time.Duration) error) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", f.Path, err)
	}
	for range lockTries {
		release, err := tryLock(f.Path + ".lock")
		if err == nil || !errors.Is(err, errLocked) {
			return release, err
		}
		if err = sleep(ctx, lockPause); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("another process holds %s.lock for more than a minute: end it, and try again", f.Path)
}

// errLocked is returned while another process holds a lock.
var errLocked = errors.New("locked by another process")

// IsMissing reports whether err says that a file does not exist.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
