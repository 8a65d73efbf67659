package tabletest

import (
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/engine/table"
)

// StoredKeys returns the stored keys of the closed embedded store at path, including expired items and the list of
// expiries, without the feed. It is for tests that require that nothing of a record is left, which a Store cannot
// tell.
func StoredKeys(tb testing.TB, path string) []string {
	tb.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	var out []string
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if string(name) == "feed" {
				return nil
			}
			return b.ForEach(func(k, _ []byte) error {
				out = append(out, strings.ToValidUTF8(string(k), "�"))
				return nil
			})
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// StoredItems returns the keys of the items of the closed embedded store at path, in order, except those whose
// partition key contains a zero byte.
func StoredItems(tb testing.TB, path string) []table.Key {
	tb.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	var out []table.Key
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("items")).ForEach(func(k, _ []byte) error {
			if pk, sk, ok := strings.Cut(string(k), "\x00\x01"); ok && !strings.Contains(pk, "\x00") {
				out = append(out, table.Key{PK: pk, SK: sk})
			}
			return nil
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
