package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter.dev/shared/foundation/fault"
)

// Folder stores objects as files that only their owner may read.
type Folder struct{ root string }

// NewFolder returns a store in the folder at root. The first Put creates the folder.
func NewFolder(root string) *Folder { return &Folder{root} }

// Put writes a temporary file, and renames it when it is complete.
func (f *Folder) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := errors.Join(CheckName(name), ctx.Err()); err != nil {
		return err
	}
	path := f.path(name)
	// CheckName lets no name lead out of the folder
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { //nolint:gosec // CheckName validated it
		return fmt.Errorf("make the folder of %s: %w", name, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it no longer exists if all went well
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path) //nolint:gosec // as above
	}
	if err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return nil
}

// Erase deletes the folder with all its files.
func (f *Folder) Erase(ctx context.Context, folder string) error {
	if err := errors.Join(CheckName(folder), ctx.Err()); err != nil {
		return err
	}
	if err := os.RemoveAll(f.path(folder)); err != nil {
		return fmt.Errorf("erase %s from the archive: %w", folder, err)
	}
	return nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// Size returns the size of the file.
func (f *Folder) Size(_ context.Context, name string) (int64, error) {
	if err := CheckName(name); err != nil {
		return 0, err
	}
	about, err := os.Stat(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fault.New(fault.NotFound, "there is no file %s", name)
	}
	if err != nil {
		return 0, fmt.Errorf("look for %s: %w", name, err)
	}
	return about.Size(), nil
}

// ReadAt reads the file.
func (f *Folder) ReadAt(_ context.Context, name string, p []byte, off int64) error {
	if err := CheckName(name); err != nil {
		return err
	}
	file, err := os.Open(f.path(name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if _, err = file.ReadAt(p, off); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

var _ Files = (*Folder)(nil)
