package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// How a file is fetched. A read from the beginning fetches long pieces. A read at an offset fetches short pieces, and
// a few of those are cached. A piece is one call with its own deadline, and is fetched again when the connection
// breaks off.
const (
	longPiece  = 8 << 20
	shortPiece = 1 << 20
	keptPieces = 48
	pieceTries = 3
)

// rangedBill reads a file by ranges.
type rangedBill struct {
	ctx   context.Context
	size  int64
	fetch func(ctx context.Context, p []byte, off int64) error

	long []byte // the unread rest of a long piece
	next int64  // where the one after it begins

	mu    sync.Mutex
	short map[int64][]byte
	order []int64 // of short, the longest unused first
}

// NewRangedBill returns a reader of a file of the given size. fetch fills p with the bytes at offset off, or returns
// an error. The end of ctx ends the reading.
func NewRangedBill(ctx context.Context, size int64,
	fetch func(ctx context.Context, p []byte, off int64) error,
) BillReader {
	return &rangedBill{ctx: ctx, size: size, fetch: fetch, short: map[int64][]byte{}}
}

// Size returns the size of the file in bytes.
func (r *rangedBill) Size() int64 { return r.size }

// Close frees the fetched pieces.
func (r *rangedBill) Close() error {
	r.long, r.short, r.order = nil, map[int64][]byte{}, nil
	return nil
}

// Read continues after the last Read.
func (r *rangedBill) Read(p []byte) (int, error) {
	if len(r.long) == 0 {
		if r.next >= r.size {
			return 0, io.EOF
		}
		piece, err := r.piece(r.next, min(longPiece, r.size-r.next))
		if err != nil {
			return 0, err
		}
		r.long, r.next = piece, r.next+int64(len(piece))
	}
	n := copy(p, r.long)
	r.long = r.long[n:]
	return n, nil
}

// piece fetches a range. It repeats a fetch that breaks off, if the error may pass.
func (r *rangedBill) piece(off, n int64) ([]byte, error) {
	p := make([]byte, n)
	for try := 1; ; try++ {
		err := r.fetch(r.ctx, p, off)
		if err == nil {
			return p, nil
		}
		if e, ok := errors.AsType[*Error](err); ok && e.Class != Transient || try == pieceTries || r.ctx.Err() != nil {
			return nil, err
		}
	}
}

// ReadAt reads the bytes at offset off.
func (r *rangedBill) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at %d: before the beginning of the file", off)
	}
	done := 0
	for done < len(p) {
		at := off + int64(done)
		if at >= r.size {
			return done, io.EOF
		}
		piece, err := r.keptPiece(at / shortPiece)
		if err != nil {
			return done, err
		}
		done += copy(p[done:], piece[at%shortPiece:])
	}
	return done, nil
}

// keptPiece returns the short piece of the number.
func (r *rangedBill) keptPiece(n int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.order {
		if one == n {
			r.order = append(append(r.order[:i:i], r.order[i+1:]...), n)
			return r.short[n], nil
		}
	}
	off := n * shortPiece
	piece, err := r.piece(off, min(shortPiece, r.size-off))
	if err != nil {
		return nil, err
	}
	if len(r.order) == keptPieces {
		delete(r.short, r.order[0])
		r.order = r.order[1:]
	}
	r.short[n], r.order = piece, append(r.order, n)
	return piece, nil
}

// pagedBill reads the pages of an answer, one after another.
type pagedBill struct {
	next func() ([]byte, error)
	left []byte
	err  error
}

// NewPagedBill returns a reader of the pages that next returns, until next returns io.EOF.
func NewPagedBill(next func() ([]byte, error)) BillReader { return &pagedBill{next: next} }

// Read reads on.
func (r *pagedBill) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.left, r.err = r.next()
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// ReadAt fails: an answer has no places.
func (r *pagedBill) ReadAt([]byte, int64) (int, error) {
	return 0, fmt.Errorf("read an answer anywhere but on: %w", errors.ErrUnsupported)
}

// Size is not known.
func (r *pagedBill) Size() int64 { return -1 }

// Close ends the reading.
func (r *pagedBill) Close() error {
	r.left, r.err = nil, io.ErrClosedPipe
	return nil
}
