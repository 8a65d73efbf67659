package table_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/engine/table"
)

// makeStoreFile creates a store file with n items, and returns its bytes.
func makeStoreFile(t *testing.T, path string, n int) []byte {
	t.Helper()
	s, err := table.Open(path, table.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BatchWrite(t.Context(), newRows("p", n)...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// editFile changes a store file without the store.
func editFile(t *testing.T, path string, change func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesWhatItMustNotTouch(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string) []byte
		says string
	}{
		{"a text", func(*testing.T, string) []byte { return []byte("dear diary") }, "is not a Lamplighter store"},
		{"an empty file", func(*testing.T, string) []byte { return nil }, "is not a Lamplighter store"},
		{"a file of another database", func(*testing.T, string) []byte {
			return append([]byte("SQLite format 3\x00"), make([]byte, 8192)...)
		}, "is not a Lamplighter store"},
		{"the same database of another program", func(t *testing.T, path string) []byte {
			t.Helper()
			editFile(t, path, func(tx *bolt.Tx) error {
				_, err := tx.CreateBucket([]byte("theirs"))
				return err
			})
			return readFile(t, path)
		}, "is not a Lamplighter store"},
		{"a newer version", func(t *testing.T, path string) []byte {
			t.Helper()
			makeStoreFile(t, path, 1)
			editFile(t, path, func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("lamplighter")).Put([]byte("version"), []byte("2"))
			})
			return readFile(t, path)
		}, "has version 2"},
		{"a store cut short", func(t *testing.T, path string) []byte {
			t.Helper()
			return makeStoreFile(t, path, 2000)[:300_000]
		}, "is damaged"},
		{"a store with both heads overwritten", func(t *testing.T, path string) []byte {
			t.Helper()
			b := makeStoreFile(t, path, 10)
			copy(b[24:], bytes.Repeat([]byte{0xAA}, 40))
			copy(b[os.Getpagesize()+24:], bytes.Repeat([]byte{0xAA}, 40))
			return b
		}, "is damaged"},
		{"a store of overwritten pages", func(t *testing.T, path string) []byte {
			t.Helper()
			b := makeStoreFile(t, path, 10)
			copy(b[2*os.Getpagesize():], bytes.Repeat([]byte{0xAA}, len(b)-2*os.Getpagesize()))
			return b
		}, "is damaged"},
		{"a store with a page overwritten in the middle", func(t *testing.T, path string) []byte {
			t.Helper()
			b := makeStoreFile(t, path, 20_000)
			at := len(trimFile(b)) / 2 / os.Getpagesize() * os.Getpagesize()
			copy(b[at:], bytes.Repeat([]byte{0xAA}, os.Getpagesize()))
			return b
		}, "is damaged"},
		{"a store without its items", func(t *testing.T, path string) []byte {
			t.Helper()
			makeStoreFile(t, path, 1)
			editFile(t, path, func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("items")) })
			return readFile(t, path)
		}, "is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			want := c.make(t, path)
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := table.Open(path, table.Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("the file was opened")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("the refusal says %q, want %q and the path", err, c.says)
			}
			if !bytes.Equal(readFile(t, path), want) {
				t.Error("the file was touched")
			}
			if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
				t.Errorf("beside the file there is now %q", left)
			}
		})
	}
}

// trimFile returns the file up to its last non-empty page.
func trimFile(b []byte) []byte { return bytes.TrimRight(b, "\x00") }

// readFile returns a file's bytes.
func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenRefusesAStoreInUseAndADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := table.Open(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Open(path, table.Options{}); err == nil ||
		!strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second opening: %v, want it refused as in use", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
	if _, err := s.Get(t.Context(), table.Key{PK: "p", SK: "1"}); err == nil ||
		!strings.Contains(err.Error(), "closed") {
		t.Errorf("a get after close: %v", err)
	}
	if _, err := table.Open(t.TempDir(), table.Options{}); err == nil ||
		!strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a directory: %v, want it refused", err)
	}
}

func TestADamagedItemIsAnErrorNotGarbage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	b := makeStoreFile(t, path, 10)
	s, err := table.Open(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	overwriteFile(t, path, bytes.ReplaceAll(b, []byte(`{"i":3`), []byte(`{"i":4`))) // while it is open
	if it, err := s.Get(t.Context(), table.Key{PK: "p", SK: "00000003"}); err == nil ||
		!strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged item reads as %s, %v", it.Data, err)
	}
	if _, err := s.Get(t.Context(), table.Key{PK: "p", SK: "00000004"}); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
}

// overwriteFile replaces the bytes of a file, which stays the same file.
func overwriteFile(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_RefusesRowsOfAnotherLayout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	open := func(layout int) error {
		s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1, Layout: layout})
		if err != nil {
			return err
		}
		return s.Close()
	}
	for _, c := range []struct {
		layout int
		says   string
	}{{2, ""}, {2, ""}, {0, ""}, {3, "layout 2 and this program reads 3"}, {1, "layout 2 and this program reads 1"}} {
		if err := open(c.layout); c.says == "" && err != nil || c.says != "" &&
			(err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("layout %d: %v; want %q", c.layout, err, c.says)
		}
	}
	editFile(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte("lamplighter")).Delete([]byte("layout")) })
	if err := open(2); err == nil || !strings.Contains(err.Error(), "layout 1 and this program reads 2") {
		t.Errorf("a store of before there were layouts: %v", err)
	}
	if err := open(1); err != nil {
		t.Error(err)
	}
}
