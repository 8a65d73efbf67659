package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// FolderVault stores objects as files that nobody may write to. It replaces and deletes none. The owner of the folder
// can: the folder protects against a store that was restored, not against the owner.
type FolderVault struct{ root string }

// NewFolderVault returns a vault in the folder at root. The first Add creates the folder.
func NewFolderVault(root string) *FolderVault { return &FolderVault{root} }

// Add writes a temporary file, and links it to the name when it is complete.
func (v *FolderVault) Add(ctx context.Context, name string, content []byte) error {
	if err := errors.Join(CheckName(name), ctx.Err()); err != nil {
		return err
	}
	path := v.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", name, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a leftover file is not an object
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(0o400), file.Sync(), file.Close()); err == nil {
		err = os.Link(file.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		return errAdded(name)
	}
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// errAdded returns the error for an object that exists.
func errAdded(name string) error {
	return fault.New(fault.Conflict, "there is an object %s already", name)
}

// Read reads a file.
func (v *FolderVault) Read(_ context.Context, name string) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(v.path(name)) //nolint:gosec // CheckName lets no name lead out of the folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no object %s in %s", name, v.root)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// Names lists the files of a folder.
func (v *FolderVault) Names(_ context.Context, folder string) ([]string, error) {
	if err := CheckName(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(v.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var names []string
	for _, e := range entries {
		if name := folder + "/" + e.Name(); e.Type().IsRegular() && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (v *FolderVault) path(name string) string {
	return filepath.Join(v.root, filepath.FromSlash(name))
}

var _ Vault = (*FolderVault)(nil)
