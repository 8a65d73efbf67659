// Package parquetguard opens Parquet files of unknown origin for a library that trusts them. The library allocates
// the sizes that a footer, a page header or a run of values claims, so a file of 71 bytes can crash the process: its
// fatal errors cannot be recovered.
//
// The guard decodes the footer itself, within bounds, and gives the library a new footer that holds only checked
// fields. It reads each page, checks its header, unpacks it into a buffer of at most MaxPageBytes, checks the runs in
// it, and gives the library the unpacked page. So the library never sees a byte of the footer, of a page header or of
// compressed data.
package parquetguard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a file. Each is several times the size in real files; docs/decisions/051-untrusted-files.md has the
// sources.
const (
	MaxFooterBytes = 64 << 20
	MaxElements    = 10_000  // of a schema, groups included
	MaxDepth       = 16      // of a schema, the root included
	MaxRowGroups   = 32_767  // as the library numbers them
	MaxChunks      = 262_144 // columns of all row groups together
	MaxPageBytes   = 128 << 20
	MaxPageValues  = 16 << 20
	// MaxOpenBytes is an upper estimate of the memory that the current pages and dictionaries of all columns take
	// together.
	MaxOpenBytes = 1 << 30
	// A file has at most freeRows + rowsPerByte rows for each of its bytes: a row of nothing but repeated values takes
	// no space.
	freeRows    = 16 << 20
	rowsPerByte = 100
)

// readAhead is the number of bytes of a column that are read at once, and so the largest page header.
const readAhead = 64 << 10

var magic = []byte("PAR1")

// File is a checked Parquet file. It is for one goroutine.
type File struct {
	source io.ReaderAt
	size   int64
	footer footer
	tail   []byte // the new footer, with its length and the magic bytes

	open    int64    // estimated bytes of the current pages
	spare   [][]byte // buffers of pages that were read
	readers []*bufio.Reader
	unpack  unpacker
}

// Open reads and checks the footer of a file of the given size. It allocates at most a small multiple of the footer. A
// file that breaks a rule is fault.Invalid; errors of r keep their kind.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{source: r, size: size}
	raw, err := f.readFooter()
	if err != nil {
		return nil, err
	}
	if f.footer, err = decodeFooter(raw); err != nil {
		return nil, err
	}
	if err = f.footer.check(size - int64(len(raw)) - 8); err != nil {
		return nil, err
	}
	if f.tail, err = f.footer.encode(); err != nil {
		return nil, fmt.Errorf("encode the checked footer: %w", err)
	}
	return f, nil
}

// readFooter returns the bytes of the footer.
func (f *File) readFooter() ([]byte, error) {
	if f.size < 12 {
		return nil, refuse("the file has %d bytes; a Parquet file has at least 12", f.size)
	}
	var head [4]byte
	var end [8]byte
	if err := readFull(f.source, head[:], 0); err != nil {
		return nil, err
	}
	if err := readFull(f.source, end[:], f.size-8); err != nil {
		return nil, err
	}
	switch {
	case string(end[4:]) == "PARE":
		return nil, fault.New(fault.Invalid, "the Parquet file is encrypted: export it without encryption")
	case !bytes.Equal(head[:], magic), !bytes.Equal(end[4:], magic):
		return nil, fault.New(fault.Invalid,
			"open the Parquet file, which may be cut off: it begins with %q and ends with %q; both must be %q", head[:],
			end[4:], magic)
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if most := min(f.size-12, MaxFooterBytes); n > most {
		return nil, refuse("the footer length is %d bytes; in a file of %d bytes it is at most %d", n, f.size, most)
	}
	raw := make([]byte, n)
	return raw, readFull(f.source, raw, f.size-8-n)
}

// readFull reads all of p. A file that ends before is io.ErrUnexpectedEOF.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF { //nolint:errorlint // the bare error of an io.ReaderAt
		err = io.ErrUnexpectedEOF
	}
	return err
}

// refuse returns the error of a file that breaks a rule.
func refuse(format string, args ...any) error {
	return fault.New(fault.Invalid,
		"%s. The Parquet file is damaged or was not written by an exporter: export it again",
		fmt.Sprintf(format, args...))
}

// Size returns the size of the file that ReadAt shows.
func (f *File) Size() int64 { return int64(len(magic) + len(f.tail)) }

// ReadAt reads a file without pages: the magic bytes and the new footer.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, from := 0, off
	for _, part := range [][]byte{magic, f.tail} {
		if from < int64(len(part)) {
			copied := copy(p[n:], part[max(from, 0):])
			n += copied
			from += int64(copied)
		}
		from -= int64(len(part))
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// takeBuffer returns a buffer of n bytes, whose content is undefined: the smallest spare one that is large enough, so
// that a compressed page does not take the buffer of an unpacked one.
func (f *File) takeBuffer(n int) []byte {
	best := -1
	for i, b := range f.spare {
		if cap(b) >= n && (best < 0 || cap(b) < cap(f.spare[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]byte, n, n+n/8) // pages of a file are about as large as each other
	}
	b := f.spare[best]
	f.spare = slices.Delete(f.spare, best, best+1)
	return b[:n]
}

// maxSpare is the number of buffers that are kept for later pages: one for a compressed page, and one for it unpacked.
const maxSpare = 2

// giveBack keeps the buffer for a later page, instead of a smaller one.
func (f *File) giveBack(b []byte) {
	if len(f.spare) < maxSpare {
		f.spare = append(f.spare, b)
		return
	}
	for i := range f.spare {
		if cap(f.spare[i]) < cap(b) {
			f.spare[i], b = b, f.spare[i]
		}
	}
}
