package tabletest

import (
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// Size is what is in a partition.
type Size struct{ Rows, Bytes int }

// Sizes returns what is in each partition of the file of an embedded store that nobody has open.
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
