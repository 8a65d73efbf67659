// Package packedfiletest keeps a compressed file equal to the readable file beside it.
package packedfiletest

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"lamplighter.dev/shared/foundation/packedfile"
)

// Check fails t unless <name>.gz has the content of the file of that name. With update it writes <name>.gz instead.
func Check(t *testing.T, name string, update bool) {
	t.Helper()
	plain, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		write(t, name+".gz", plain)
		return
	}
	packed, err := os.ReadFile(name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packedfile.Read(packed), plain) {
		t.Errorf("%s.gz has another content than %s: run %s with -update", name, name, t.Name())
	}
}

// write writes a file whose bytes depend on the content alone.
func write(t *testing.T, name string, plain []byte) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err = z.Close(); err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
