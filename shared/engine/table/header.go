package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// must not write to. It opens the file read-only, so a refused file does not change.
func prepareFile(path string, layout int) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createFile(path, layout)
	case err != nil:
		return fault.NewWithCause(fault.Unavailable, err, "the store file %s cannot be read; check its permissions",
			path)
	case !info.Mode().IsRegular():
		return fault.New(fault.Invalid, "%s is not a file; name a file for the store", path)
	}
	if err := inspectMagic(path); err != nil {
		return err
	}
	return inspectFile(path, info.Size(), layout)
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

// boltMagic is at byte 16 of both heads of a bbolt file.
const boltMagic = 0xED0CDAED

// inspectMagic returns an error for a file of another program, without opening it with bbolt.
func inspectMagic(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator's own file
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the store file %s cannot be read; check its permissions",
			path)
	}
	var head [20]byte
	_, err = f.ReadAt(head[:], 0)
	_ = f.Close() // it was only read
	if err != nil || binary.NativeEndian.Uint32(head[16:]) != boltMagic {
		return errForeign(path)
	}
	return nil
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

// inspectFile opens the file read-only, and checks that it is a complete store.
func inspectFile(path string, size int64, layout int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errDamaged(path, r)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, ReadOnly: true})
	if err != nil {
		return explainOpenError(path, err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		if tx.Size() > size {
			return errDamaged(path, fmt.Sprintf("%d of %d bytes are there", size, tx.Size()))
		}
		if err := errors.Join(inspectHeader(tx, path), inspectLayout(tx, path, layout)); err != nil {
			return err
		}
		return inspectPages(tx, path)
	})
	return errors.Join(err, db.Close())
}

// inspectSize is the largest size, in bytes, of a file whose pages are all checked. The check takes a third of a
// millisecond per megabyte.
const inspectSize = 512 << 20

// inspectPages checks that the pages form valid trees. In larger files, damage is detected when a damaged page is read.
func inspectPages(tx *bolt.Tx, path string) error {
	if tx.Size() > inspectSize {
		return nil
	}
	var first error
	for err := range tx.Check() { // read to the end, which releases the checker
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return errDamaged(path, first)
	}
	return nil
}

// inspectHeader checks the header's format and version, and that the buckets exist.
func inspectHeader(tx *bolt.Tx, path string) error {
	h := tx.Bucket(headerBucket)
	if h == nil || string(h.Get(formatKey)) != formatName {
		return errForeign(path)
	}
	v, err := strconv.Atoi(string(h.Get(versionKey)))
	if err != nil || v < 1 {
		return errDamaged(path, "its version is unreadable")
	}
	if v > version {
		return fault.New(fault.Invalid,
			"the store file %s has version %d and this program reads up to %d; use the newer program", path, v, version)
	}
	for _, name := range [][]byte{itemBucket, expiryBucket, feedBucket} {
		if tx.Bucket(name) == nil {
			return errDamaged(path, "the part "+string(name)+" is missing")
		}
	}
	return nil
}

// inspectLayout returns an error for a file with another layout version; 0 accepts every version.
func inspectLayout(tx *bolt.Tx, path string, layout int) error {
	h := tx.Bucket(headerBucket)
	if layout == 0 || h == nil {
		return nil
	}
	has := 1
	if text := h.Get(layoutKey); text != nil {
		var err error
		if has, err = strconv.Atoi(string(text)); err != nil {
			return errDamaged(path, "its layout is unreadable")
		}
	}
	if has != layout && has != 0 {
		return fault.New(fault.Invalid,
			"the store file %s has its rows in layout %d and this program reads %d: use the program that wrote it, "+
				"or move the file away to start empty", path, has, layout)
	}
	return nil
}

// explainOpenError returns the operator's message for an error of bbolt.
func explainOpenError(path string, err error) error {
	switch {
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
