package parquetguard

import (
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
)

// waitingPage is a page that is unpacked when its body is read: if the reader asks for all of it, directly into its
// memory. This saves a buffer and a copy of large pages.
type waitingPage struct {
	page   page
	packed []byte
}

// leastWaiting is the size from which a page waits.
const leastWaiting = 256 << 10

// canWait reports whether a page can be unpacked later: its size must be known before.
func canWait(p *page, packed []byte, codec int64) bool {
	if p.unpacked < leastWaiting || codec != int64(format.Snappy) {
		return false
	}
	n, err := snappy.DecodedLen(packed[p.levelBytes():])
	return err == nil && int64(n) == p.unpacked-p.levelBytes()
}

// size returns the number of bytes of the unpacked page.
func (w *waitingPage) size() int { return int(w.page.unpacked) }

// unpackWaiting unpacks the current page into body, and checks it.
func (c *Chunk) unpackWaiting(body []byte) {
	w := c.waiting
	c.waiting, c.body = nil, body
	levels := copy(body, w.packed[:w.page.levelBytes()])
	_, err := c.file.unpack.into(body[levels:], w.packed[levels:], c.chunk.codec)
	c.file.giveBack(w.packed)
	if err == nil {
		err = c.checkValues(&w.page)
	}
	c.err = c.named(err)
}

// serveWaiting unpacks the current page into the memory of the reader, and ends it.
func (c *Chunk) serveWaiting(p []byte) int {
	c.unpackWaiting(p)
	c.header, c.body, c.served = nil, nil, 0
	return len(p)
}
