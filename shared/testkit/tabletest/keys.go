package tabletest

import (
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/engine/table"
)

// StoredKeys returns the keys of all that the embedded store at path holds, as the engine spells them, those of what has expired and
// was not yet removed and those of the list of expiries too; not those of its feed. The store must be closed. No Store can
// be asked for them: this is for tests of what must be left of nothing.
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

// StoredItems returns the keys of the items that the embedded store at path holds, in their order, but for those whose
// partition key has a zero byte in it. The store must be closed.
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
