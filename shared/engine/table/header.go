package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"lamplighter.dev/shared/foundation/fault"
)

// The header of a store file, in its own bucket.
const (
	formatName = "lamplighter table"
	version    = 1 // version of the file; increased if older programs cannot read it
)

var (
	formatKey  = []byte("format")
	versionKey = []byte("version")
	// layoutKey is the key of Options.Layout. Older files have none, which means 1.
	layoutKey = []byte("layout")
)

// prepareFile creates the file at path if it does not exist. Otherwise it returns an error for a file that this program
// must not write to. It only reads, so a refused file does not change. It returns the contents of the file, and the
// number of its last transaction.
func prepareFile(path string, layout int) (contents, uint64, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err = createFile(path, layout); err != nil {
			return contents{}, 0, err
		}
	case err != nil:
		return contents{}, 0, errUnreadable(path, err)
	case !info.Mode().IsRegular():
		return contents{}, 0, fault.New(fault.Invalid, "%s is not a file; name a file for the store", path)
	}
	return inspectFile(path, layout)
}

// errUnreadable returns the error for a file that cannot be read.
func errUnreadable(path string, err error) error {
	return fault.NewWithCause(fault.Unavailable, err, "the store file %s cannot be read; check its permissions", path)
}

// createFile creates an empty store next to path, and renames it when it is complete, so that path is never an
// incomplete store.
func createFile(path string, layout int) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the directory %s for the store cannot be made", dir)
	}
	tmp, err := os.CreateTemp(dir, filepath.Base(path)+".new-*")
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the directory %s for the store cannot be written to", dir)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // no effect after the rename
	if err := errors.Join(tmp.Close(), formatFile(tmp.Name(), layout)); err != nil {
		return fmt.Errorf("create %s: %w", tmp.Name(), err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return syncDir(dir)
}

// formatFile writes the header and the empty buckets.
func formatFile(path string, layout int) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		h, err := tx.CreateBucket(headerBucket)
		if err != nil {
			return err
		}
		for _, name := range [][]byte{itemBucket, expiryBucket, feedBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return errors.Join(h.Put(formatKey, []byte(formatName)), h.Put(versionKey, []byte(strconv.Itoa(version))),
			h.Put(layoutKey, []byte(strconv.Itoa(layout))))
	})
	return errors.Join(err, db.Close())
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator's own directory
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// errForeign returns the error for a file of another program.
func errForeign(path string) error {
	return fault.New(fault.Invalid, "%s is not a Lamplighter store; name another file, or move this one away", path)
}

// errDamaged returns the error for a damaged store file.
func errDamaged(path string, why any) error {
	return fault.New(fault.Invalid, "the store file %s is damaged (%v); restore a copy, or move it away to start empty",
		path, why)
}

// inspectFile checks that the file is a complete store. bbolt locks it meanwhile against programs that write to it.
func inspectFile(path string, layout int) (c contents, txid uint64, err error) {
	f, err := os.Open(path) //nolint:gosec // the operator's own file
	if err != nil {
		return c, 0, errUnreadable(path, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return c, 0, errUnreadable(path, err)
	}
	db, err := openEngine(path, &bolt.Options{Timeout: lockWait, ReadOnly: true})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return c, 0, explainOpenError(path, err)
	}
	c, txid, refusal := inspectStore(f, path, info.Size(), layout)
	switch {
	case refusal != nil && db != nil:
		return c, 0, errors.Join(refusal, db.Close())
	case refusal != nil:
		return c, 0, refusal
	case err != nil:
		return c, 0, explainOpenError(path, err)
	}
	return c, txid, db.Close()
}

// openEngine opens the file with bbolt. A panic or a fault of memory becomes an error.
func openEngine(path string, o *bolt.Options) (db *bolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = errDamaged(path, r)
		}
	}()
	return bolt.Open(path, 0o600, o)
}

// explainOpenError returns the operator's message for an error of bbolt.
func explainOpenError(path string, err error) error {
	switch {
	case fault.Is(err, fault.Invalid):
		return err
	case errors.Is(err, bolterrors.ErrTimeout):
		return fault.NewWithCause(fault.Unavailable, err,
			"the store file %s is in use by another process; stop it, or name another file", path)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch):
		return errDamaged(path, err)
	case errors.Is(err, fs.ErrPermission):
		return fault.NewWithCause(fault.Unavailable, err, "the store file %s cannot be opened; check its permissions",
			path)
	default:
		return fault.NewWithCause(fault.Unavailable, err, "the store file %s cannot be opened", path)
	}
}
