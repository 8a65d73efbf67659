package tabletest

import (
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// Size is the number and the size of a partition's items.
type Size struct{ Rows, Bytes int }

// Sizes returns the size of each partition in the file of a closed embedded store.
func Sizes(tb testing.TB, path string) map[string]Size {
	tb.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	out := map[string]Size{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("items")).ForEach(func(k, v []byte) error {
			pk, _, _ := strings.Cut(string(k), "\x00\x01")
			out[pk] = Size{out[pk].Rows + 1, out[pk].Bytes + len(k) + len(v)}
			return nil
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
