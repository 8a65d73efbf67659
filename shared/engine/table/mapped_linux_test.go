package table

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func TestEmbedded_ReleasesMappedPagesAndReadsThemAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	e, err := Open(path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	ctx, text := t.Context(), strings.Repeat("a", 10_000)
	var keys []Key
	for i := range 100 {
		keys = append(keys, Key{PK: "A", SK: strconv.Itoa(i)})
		it, err := NewItem(keys[i], map[string]string{"text": text})
		if err == nil {
			_, err = e.Write(ctx, Put(it))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	readAll := func() {
		if got, err := e.BatchGet(ctx, keys...); err != nil || len(got) != len(keys) ||
			!strings.Contains(string(got[keys[99]].Data), text) {
			t.Fatalf("%d items of %d, %v", len(got), len(keys), err)
		}
	}
	readAll()
	before := mappedBytes(t, path)
	err = e.db.View(func(tx *bolt.Tx) error { return adviseUnneeded(e.db.Info().Data, tx.Size()) })
	if after := mappedBytes(t, path); err != nil || before < 1000 || after > before/10 {
		t.Errorf("%d kB of the file were mapped, and %d are: %v", before, after, err)
	}
	readAll()
}

// mappedBytes returns how many kB of a file are mapped and resident.
func mappedBytes(t *testing.T, path string) (kB int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), path)
	if !found {
		t.Fatalf("%s is not mapped", path)
	}
	_, rest, _ = strings.Cut(rest, "\nRss:")
	if _, err = fmt.Sscan(rest, &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}
