package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a page of bbolt, in bytes. Numbers have the byte order of the machine.
const (
	pageHeadBytes = 16 // id (8), flags (2), count (2), overflow (4)
	boltHeadBytes = 64 // of a head, after the head of its page
	boltVersion   = 2
	boltMagic     = 0xED0CDAED
	// smallestPage and largestPage limit the page size of a file. bbolt takes that of the system.
	smallestPage = 1 << 10
	largestPage  = 16 << 20
	// noFreelist says that the list of free pages was not written. bbolt then finds the free pages itself.
	noFreelist = ^uint64(0)
)

// boltHead is one of the two heads of a bbolt file. Transactions write them in turn: transaction n writes head n%2.
type boltHead struct {
	pageSize  uint64
	root      uint64 // page of the bucket of buckets
	freelist  uint64
	pages     uint64 // number of pages in use
	txid      uint64
	stored    []byte // the bytes of the head
	unaltered bool   // the checksum is that of the head
}

// readBoltHead reads the head in the page at an offset.
func readBoltHead(f io.ReaderAt, at int64) boltHead {
	b := make([]byte, boltHeadBytes)
	if _, err := f.ReadAt(b, at+pageHeadBytes); err != nil {
		return boltHead{stored: make([]byte, boltHeadBytes)}
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	return boltHead{
		pageSize: uint64(u32(b[8:])), root: u64(b[16:]), freelist: u64(b[32:]), pages: u64(b[40:]), txid: u64(b[48:]),
		stored: b, unaltered: u32(b) == boltMagic && u32(b[4:]) == boltVersion && u64(b[56:]) == sumOfHead(b),
	}
}

// sumOfHead returns the checksum of a head.
func sumOfHead(head []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(head[:56]) // a hash never fails
	return h.Sum64()
}

// hasMagic reports whether the head is one of bbolt, damaged or not.
func (h *boltHead) hasMagic() bool { return binary.NativeEndian.Uint32(h.stored) == boltMagic }

// hadTransaction reports whether the damaged head was that of a transaction before the damage. It is certain if the
// damage is in the number of the transaction, or is not.
func (h *boltHead) hadTransaction(txid uint64) bool {
	if h.txid == txid {
		return true
	}
	mended := append([]byte(nil), h.stored...)
	binary.NativeEndian.PutUint64(mended[48:], txid)
	return sumOfHead(mended) == binary.NativeEndian.Uint64(h.stored[56:])
}

// errNoHeads is the error for a file without a head of bbolt.
var errNoHeads = errors.New("it has no head of a store")

// readHead returns the head with the last transaction of a file.
func readHead(f io.ReaderAt, size int64) (boltHead, error) {
	h, err := findHead(f, size)
	if err == nil {
		err = h.checkPages(size)
	}
	return h, err
}

// findHead finds the heads, and returns the newer one.
func findHead(f io.ReaderAt, size int64) (boltHead, error) {
	first := readBoltHead(f, 0)
	if first.unaltered {
		if n := first.pageSize; n < smallestPage || n > largestPage || n&(n-1) != 0 {
			return first, fmt.Errorf("its pages have %d bytes", n)
		}
		return newerHead(first, readBoltHead(f, int64(first.pageSize)), 0) //nolint:gosec // at most largestPage
	}
	for at := int64(smallestPage); at <= largestPage && at < size; at *= 2 {
		if second := readBoltHead(f, at); second.unaltered && second.pageSize == uint64(at) {
			return newerHead(second, first, 1)
		}
	}
	if !first.hasMagic() {
		return first, errNoHeads
	}
	return first, errors.New("both of its heads were altered")
}

// checkPages checks that the pages of a head are in the file.
func (h *boltHead) checkPages(size int64) error {
	switch {
	case h.pages < 4 || h.pages > uint64(size)/h.pageSize: //nolint:gosec // a size is not negative
		return fmt.Errorf("%d bytes are there of %d pages of %d bytes", size, h.pages, h.pageSize)
	case h.root < 2 || h.root >= h.pages:
		return fmt.Errorf("its root is the page %d of %d", h.root, h.pages)
	}
	return nil
}

// newerHead returns the newer one of two heads, of which one is unaltered and in the page index. If the other one was
// damaged, it must have been the older: otherwise the last change, which was acknowledged, would be missing.
func newerHead(h, other boltHead, index uint64) (boltHead, error) {
	switch {
	case h.txid%2 != index:
		return h, fmt.Errorf("its head %d has the number %d", index, h.txid)
	case !other.unaltered && (other.hadTransaction(h.txid+1) || !other.hadTransaction(h.txid-1)):
		return h, fmt.Errorf("its head %d was altered, and the last change would be missing", 1-index)
	case !other.unaltered:
		return h, nil
	case other.txid == h.txid+1 && other.pageSize == h.pageSize:
		return other, nil
	case other.txid == h.txid-1 && other.pageSize == h.pageSize:
		return h, nil
	}
	return h, errors.New("its two heads do not belong together")
}
