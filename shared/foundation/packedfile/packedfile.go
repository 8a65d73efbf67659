// Package packedfile reads files that are embedded in the program in compressed form, because API functions have a
// limit of size.
package packedfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Read returns the content of an embedded file that was compressed with gzip. The file is part of the program, and
// tests check it (packedfiletest.Check): one that cannot be read is a broken build, so Read panics.
func Read(packed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Errorf("open an embedded file: %w", err))
	}
	content, err := io.ReadAll(z)
	if err != nil {
		panic(fmt.Errorf("read an embedded file: %w", err))
	}
	return content
}
