// Package archivetest tests the contract of archive.Store.
package archivetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"lamplighter.dev/shared/engine/archive"
)

// Reader reads an object without the store. It returns nil if the object does not exist.
type Reader func(name string) []byte

// Run tests that a store keeps the contract.
func Run(t *testing.T, s archive.Store, read Reader) {
	t.Helper()
	t.Run("an object is kept under its name, and put anew", func(t *testing.T) {
		putText(t, s, "org_1/2026-03/actions-0001.ndjson.gz", "first")
		putText(t, s, "org_1/2026-03/actions-0001.ndjson.gz", "second")
		wantText(t, read, "org_1/2026-03/actions-0001.ndjson.gz", "second")
	})
	t.Run("a large object is kept whole", func(t *testing.T) {
		large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
		putText(t, s, "org_1/large", string(large))
		if got := read("org_1/large"); !bytes.Equal(got, large) {
			t.Errorf("%d bytes of %d", len(got), len(large))
		}
	})
	t.Run("what cannot be written leaves what was there", func(t *testing.T) {
		putText(t, s, "org_1/kept", "whole")
		broken := errors.New("the source broke off")
		for _, name := range []string{"org_1/kept", "org_1/never"} {
			err := s.Put(t.Context(), name, func(w io.Writer) error {
				_, _ = io.WriteString(w, "half")
				return broken
			})
			if !errors.Is(err, broken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantText(t, read, "org_1/kept", "whole")
		wantText(t, read, "org_1/never", "")
	})
	t.Run("a folder is erased, and none beside it", func(t *testing.T) {
		for n := range 5 {
			putText(t, s, fmt.Sprintf("org_2/2026-%02d/actions", n+1), "x")
		}
		putText(t, s, "org_22/2026-01/actions", "x")
		for range 2 { // the second time is no error
			if err := s.Erase(t.Context(), "org_2"); err != nil {
				t.Fatal(err)
			}
		}
		wantText(t, read, "org_2/2026-01/actions", "")
		wantText(t, read, "org_2/2026-05/actions", "")
		wantText(t, read, "org_22/2026-01/actions", "x")
	})
	t.Run("no name leads elsewhere", func(t *testing.T) {
		for _, name := range []string{"", "/", "a/../b", "../b", "a//b", "/a", "a/", ".hidden", "a b", `a\b`} {
			if s.Put(t.Context(), name, func(io.Writer) error { return nil }) == nil {
				t.Errorf("put %q", name)
			}
			if s.Erase(t.Context(), name) == nil {
				t.Errorf("erased %q", name)
			}
		}
	})
}

func putText(t *testing.T, s archive.Store, name, content string) {
	t.Helper()
	err := s.Put(t.Context(), name, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantText requires that an object holds the text. The empty text means that there is no object.
func wantText(t *testing.T, read Reader, name, text string) {
	t.Helper()
	if got := read(name); string(got) != text {
		t.Errorf("%s holds %q; want %q", name, got, text)
	}
}
