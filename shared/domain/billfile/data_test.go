package billfile_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
)

// dataPath returns the path of a shared test file. These files are kept beside the repository, not in it.
func dataPath(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("LAMPLIGHTER_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("NOT TESTED against real bills: %v (set LAMPLIGHTER_DATA to the folder that has them)", err)
	}
	return path
}

func readData(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(dataPath(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func inMemory(b []byte) cloud.BillReader { return memory{bytes.NewReader(b)} }

func (m memory) Close() error { return nil }

// readAll reads a file and returns its charges.
func readAll(form cloud.BillForm, name string, b []byte) ([]bill.Charge, billfile.Totals, error) {
	var out []bill.Charge
	totals, err := billfile.Read(context.Background(), form, name, inMemory(b), func(c *bill.Charge) error {
		out = append(out, *c)
		return nil
	})
	return out, totals, err
}
