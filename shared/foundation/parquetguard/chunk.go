package parquetguard

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"

	"lamplighter.dev/shared/foundation/fault"
)

// pagesOffset is the offset of the pages of every chunk in the file that the library sees.
const pagesOffset = 4

// Chunk shows the pages of a column in a row group: checked, not compressed, each with a new header. The library reads
// it from its beginning to its end. Close it when it is not needed any more.
type Chunk struct {
	file   *File
	column *column
	chunk  *chunk
	group  int
	in     *bufio.Reader

	left       int64 // bytes that were not read
	leftValues int64
	page       int
	dictionary bool
	dictBytes  int64 // estimate of what the dictionary takes
	pageBytes  int64 // and of the current page
	header     []byte
	body       []byte
	waiting    *waitingPage // the current page, until its body is read; nil if body has it
	served     int          // bytes of header and body that were read
	at         int64
	err        error
}

// Chunk returns the pages of a column, both counted from 0.
func (f *File) Chunk(row, col int) *Chunk {
	k := &f.footer.groups[row].chunks[col]
	section := io.NewSectionReader(f.source, k.start(), k.packed)
	c := &Chunk{file: f, column: &f.footer.columns[col], chunk: k, group: row, left: k.packed, leftValues: k.values}
	c.in = f.takeReader(section, k.packed)
	return c
}

// smallChunk is the size of a chunk that gets a buffer of its own size. Most columns of a bill repeat a few values.
const smallChunk = readAhead / 4

// takeReader returns a reader of a chunk of n bytes.
func (f *File) takeReader(section io.Reader, n int64) *bufio.Reader {
	if n <= smallChunk {
		return bufio.NewReaderSize(section, int(n))
	}
	last := len(f.readers) - 1
	if last < 0 {
		return bufio.NewReaderSize(section, readAhead)
	}
	r := f.readers[last]
	f.readers = f.readers[:last]
	r.Reset(section)
	return r
}

// Close lets go of the buffers.
func (c *Chunk) Close() {
	if c.in == nil {
		return
	}
	c.replaceEstimate(&c.pageBytes, 0)
	c.replaceEstimate(&c.dictBytes, 0)
	c.file.giveBack(c.body)
	if c.waiting != nil {
		c.file.giveBack(c.waiting.packed)
		c.waiting = nil
	}
	if c.in.Size() == readAhead {
		c.file.readers = append(c.file.readers, c.in)
	}
	c.in, c.body = nil, nil
}

// Err returns the error that ended the reading, or nil.
func (c *Chunk) Err() error { return c.err }

// ReadAt reads on. It returns fewer bytes than asked for at the end of a page, so that no page is unpacked before it is
// needed.
func (c *Chunk) ReadAt(p []byte, off int64) (int, error) {
	if off != c.at+pagesOffset || c.in == nil {
		return 0, errors.New("the pages of a column can only be read one after the other")
	}
	if c.err == nil && c.isServed() {
		c.err = c.load()
	}
	if c.err != nil {
		return 0, c.err
	}
	n := c.serve(p)
	if c.err != nil {
		return 0, c.err
	}
	c.at += int64(n)
	if c.isServed() { // other columns can use the buffer
		c.file.giveBack(c.body)
		c.header, c.body, c.served = nil, nil, 0
	}
	return n, nil
}

func (c *Chunk) isServed() bool { return c.waiting == nil && c.served == len(c.header)+len(c.body) }

// serve puts the next bytes of the current page into p and returns their number.
func (c *Chunk) serve(p []byte) (n int) {
	if c.served < len(c.header) {
		n = copy(p, c.header[c.served:])
		c.served += n
		if c.waiting != nil || c.served < len(c.header) {
			return n
		}
	}
	if c.waiting != nil {
		if size := c.waiting.size(); len(p) >= size {
			return c.serveWaiting(p[:size])
		}
		c.unpackWaiting(c.file.takeBuffer(c.waiting.size()))
	}
	more := copy(p[n:], c.body[c.served-len(c.header):])
	c.served += more
	return n + more
}

// load reads, checks and unpacks the next page; io.EOF behind the last one.
func (c *Chunk) load() error {
	if c.left == 0 {
		return io.EOF
	}
	c.page++
	return c.named(c.loadPage())
}

// named adds the number of the page to an error of the file.
func (c *Chunk) named(err error) error {
	if err == nil || !fault.Is(err, fault.Invalid) {
		return err
	}
	return fault.New(fault.Invalid, "page %d: %s", c.page, fault.Message(err))
}

func (c *Chunk) loadPage() error {
	p, err := c.readHeader()
	if err == nil {
		err = p.check(c.left, c.leftValues)
	}
	if err == nil {
		err = c.readBody(&p)
	}
	if err == nil && c.waiting == nil {
		err = c.checkValues(&p)
	}
	if err != nil {
		return err
	}
	if !p.isDictionary() {
		c.leftValues -= p.values
	}
	size := len(c.body)
	if c.waiting != nil {
		size = c.waiting.size()
	}
	c.served = 0
	c.header, err = p.encode(size)
	return err
}

// readHeader reads the header of the next page.
func (c *Chunk) readHeader() (page, error) {
	for n := min(256, c.left); ; n = min(readAhead, c.left) {
		b, err := c.in.Peek(int(n))
		if err != nil {
			return page{}, cutOff(err)
		}
		p, length, err := decodePage(b)
		if err == nil {
			c.left -= int64(length)
			_, err = c.in.Discard(length)
			return p, err
		}
		if !errors.Is(err, errShort) {
			return p, err
		}
		if n == min(readAhead, c.left) {
			return p, refuse("its header does not end within %d bytes", n)
		}
	}
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readBody reads the page into body, unpacked, or lets it wait.
func (c *Chunk) readBody(p *page) error {
	cost := &c.pageBytes
	if p.isDictionary() {
		cost = &c.dictBytes
	}
	if err := c.account(cost, p.estimate()); err != nil {
		return err
	}
	packed := c.file.takeBuffer(int(p.packed))
	if _, err := io.ReadFull(c.in, packed); err != nil {
		return cutOff(err)
	}
	c.left -= p.packed
	if err := p.checkSum(packed); err != nil {
		return err
	}
	if c.chunk.codec == 0 || p.plain {
		c.body = packed
		return nil
	}
	if canWait(p, packed, c.chunk.codec) {
		c.waiting = &waitingPage{*p, packed}
		return nil
	}
	defer c.file.giveBack(packed)
	body := c.file.takeBuffer(int(p.unpacked))
	levels := copy(body, packed[:p.levelBytes()])
	n, err := c.file.unpack.into(body[levels:], packed[levels:], c.chunk.codec)
	c.body = body[:levels+n]
	return err
}

// checkSum compares a page with the checksum of its header, if there is one.
func (p *page) checkSum(packed []byte) error {
	if p.checksum == 0 {
		return nil
	}
	want := uint32(p.checksum) //nolint:gosec // 32 bits
	if sum := crc32.ChecksumIEEE(packed); sum != want {
		return refuse("its checksum is %08x; its header says %08x", sum, want)
	}
	return nil
}

// account replaces the estimated size of the page or dictionary by n bytes.
func (c *Chunk) account(was *int64, n int64) error {
	if open := c.file.open + n - *was; n > 0 && open > MaxOpenBytes {
		return fault.New(fault.Invalid,
			"it takes %d bytes, which makes %d for the current pages of all columns; at most %d are read: export the "+
				"file with smaller pages",
			n, open, int64(MaxOpenBytes))
	}
	c.replaceEstimate(was, n)
	return nil
}

func (c *Chunk) replaceEstimate(was *int64, n int64) {
	c.file.open += n - *was
	*was = n
}

// estimate returns how many bytes of memory the page takes at most, once it is decoded: levels, offsets or indexes, and
// values.
func (p *page) estimate() int64 {
	const perValue, perStoredValue = 12, 32
	stored := max(p.unpacked, p.packed)
	return 2*stored + perValue*p.values + perStoredValue*min(p.values, stored/2)
}
