package parquetguard

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"lamplighter.dev/shared/foundation/fault"
)

// runSlack is how many values more than a page has its runs may hold: writers fill the last run up, by 504 values at
// most.
const runSlack = 512

// checkValues checks the sizes that the body of a page claims: the lengths of runs and lists. The library allocates
// buffers of these sizes.
func (c *Chunk) checkValues(p *page) error {
	if p.isDictionary() {
		return c.checkDictionary(p)
	}
	rest, err := c.checkLevels(p)
	if err != nil {
		return err
	}
	n := int(p.values)
	switch {
	case p.hasIndexes() && !c.dictionary:
		return refuse("its values are indexes into a dictionary, which the column does not have before it")
	case p.hasIndexes():
		return checkIndexes(rest, n)
	}
	return checkEncoded(rest, p, n, c.column.kind)
}

func (c *Chunk) checkDictionary(p *page) error {
	switch {
	case c.dictionary:
		return refuse("it is the second dictionary of the column")
	case p.encoding != int64(format.Plain) && p.encoding != plainDictionary:
		return refuse("the encoding of its dictionary is %d; dictionaries are PLAIN", p.encoding)
	case c.column.kind == int64(format.ByteArray) && p.values*4 > int64(len(c.body)):
		return refuse("its header claims %d texts in %d bytes", p.values, len(c.body))
	}
	c.dictionary = true
	return nil
}

// checkLevels checks the levels of a data page, and returns the bytes behind them.
func (c *Chunk) checkLevels(p *page) ([]byte, error) {
	repeated, defined := levelWidth(c.column.repetitions), levelWidth(c.column.definitions)
	if p.kind == int64(format.DataPageV2) {
		at := p.repetitionBytes
		err := checkRuns(c.body[:at], repeated, int(p.values))
		if err == nil {
			err = checkRuns(c.body[at:p.levelBytes()], defined, int(p.values))
		}
		return c.body[p.levelBytes():], err
	}
	rest := c.body
	for _, l := range [][2]int64{{int64(repeated), p.repetitionEnc}, {int64(defined), p.definitionEnc}} {
		if l[0] == 0 {
			continue
		}
		behind, err := checkCounted(rest, int(l[0]), int(p.values), l[1] == int64(format.RLE))
		if err != nil {
			return nil, err
		}
		rest = behind
	}
	return rest, nil
}

// checkCounted checks runs behind their length in bytes, and returns the bytes behind them. Without runs the bytes are
// bits.
func checkCounted(b []byte, width, values int, runs bool) ([]byte, error) {
	if len(b) < 4 {
		return nil, refuse("it ends within its levels")
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; int64(n) > int64(len(b)) {
		return nil, refuse("its levels claim %d bytes; the page has %d", n, len(b))
	}
	if !runs {
		return b[n:], nil
	}
	return b[n:], checkRuns(b[:n], width, values)
}

// checkRuns checks that runs of the hybrid of run lengths and bit packing hold about as many values as the page.
func checkRuns(b []byte, width, values int) error {
	if width == 0 {
		return nil // nobody reads them
	}
	total := 0
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return refuse("it ends within the length of a run")
		}
		b = b[n:]
		count, bytes := head>>1, uint64(width+7)/8 //nolint:gosec // at most 32
		if head&1 == 1 {
			bytes = min(count, MaxPageValues) * uint64(width) //nolint:gosec // at most 32
			count = min(count, MaxPageValues) * 8
		}
		if count > uint64(values-total+runSlack) { //nolint:gosec // total is at most values + runSlack
			return refuse("a run claims %d values; the page has %d", count, values)
		}
		if bytes > uint64(len(b)) && count > 0 {
			return refuse("a run claims %d bytes; %d are left of the page", bytes, len(b))
		}
		if count > 0 {
			b = b[bytes:]
		}
		total += int(count) //nolint:gosec // at most values + runSlack
	}
	return nil
}

// checkIndexes checks indexes into a dictionary: their width, and runs.
func checkIndexes(b []byte, values int) error {
	if len(b) == 0 {
		return nil
	}
	if b[0] > 32 {
		return refuse("its indexes have %d bits; at most 32 are possible", b[0])
	}
	if b[0] == 0 {
		return checkZeros(b[1:], values)
	}
	return checkRuns(b[1:], int(b[0]), values)
}

// checkZeros checks runs of values of no bits, which have no bytes besides their lengths.
func checkZeros(b []byte, values int) error {
	total := uint64(0)
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return refuse("it ends within the length of a run")
		}
		count := head >> 1
		if head&1 == 1 {
			count = min(count, MaxPageValues) * 8
		}
		total += min(count, 2*MaxPageValues)
		if total > uint64(values+runSlack) { //nolint:gosec // at most MaxPageValues
			return refuse("a run claims %d values; the page has %d", count, values)
		}
		b = b[n:]
	}
	return nil
}

// checkEncoded checks values that are not indexes.
func checkEncoded(b []byte, p *page, values int, kind int64) error {
	switch format.Encoding(p.encoding) { //nolint:gosec // others are refused
	case format.Plain, format.ByteStreamSplit:
		return nil
	case format.RLE:
		_, err := checkCounted(b, 1, values, true)
		return err
	case format.DeltaBinaryPacked:
		_, err := checkDelta(b, values, deltaWidth(kind))
		return err
	case format.DeltaLengthByteArray:
		_, err := checkDelta(b, values, 32)
		return err
	case format.DeltaByteArray:
		return checkPrefixes(b, values)
	default:
		return fault.New(fault.Invalid,
			"its encoding is %d; PLAIN, dictionaries, RLE, the DELTA encodings and BYTE_STREAM_SPLIT are read",
			p.encoding)
	}
}

func deltaWidth(kind int64) int {
	if kind == int64(format.Int32) {
		return 32
	}
	return 64
}

// checkPrefixes checks texts that share prefixes with the previous text. Decoded they may be many times as large.
func checkPrefixes(b []byte, values int) error {
	total := int64(0)
	for range 2 { // the lengths of the prefixes, then those of the rest
		n, err := checkDelta(b, values, 32)
		if err != nil {
			return err
		}
		lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, b[:n:n])
		if err != nil {
			return refuse("its lengths of texts cannot be read: %s", err)
		}
		for _, l := range lengths {
			if total += int64(l); l < 0 || total > MaxPageBytes {
				return refuse("its texts have more than %d bytes, or a text of %d bytes", MaxPageBytes, l)
			}
		}
		b = b[n:]
	}
	return nil
}

// checkDelta checks a list of differences, and returns its length in bytes. It passes over the blocks as the library
// does.
func checkDelta(b []byte, values, width int) (int, error) {
	head, at, err := readDeltaHead(b)
	if err != nil {
		return 0, err
	}
	block, parts, total := head[0], head[1], head[2]
	if total > uint64(values) { //nolint:gosec // at most MaxPageValues
		return 0, refuse("a list of differences claims %d values; the page has %d", total, values)
	}
	d := deltaBlocks{
		b: b, at: at, width: width,
		parts: int(parts), perPart: int(block / parts), //nolint:gosec // bounded
	}
	for left := int(total) - 1; left > 0 && d.at < len(b); { //nolint:gosec // bounded
		n, err := d.pass(left)
		if err != nil {
			return 0, err
		}
		left -= n
	}
	return d.at, nil
}

// readDeltaHead reads the header of a list of differences, and returns its length in bytes: the values of a block, the
// parts of a block, all values, and the first value.
func readDeltaHead(b []byte) (head [4]uint64, at int, err error) {
	for i := range head {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return head, 0, refuse("it ends within the header of a list of differences")
		}
		head[i] = v
		at += n
	}
	block, parts := head[0], head[1]
	if block == 0 || block%128 != 0 || block > 65_536 || parts == 0 || parts > block/32 || block/parts%32 != 0 {
		return head, 0, refuse("a list of differences has blocks of %d values in %d parts", block, parts)
	}
	return head, at, nil
}

// deltaBlocks passes over blocks of differences.
type deltaBlocks struct {
	b              []byte
	at             int
	parts, perPart int
	width          int // the most bits of a value
}

// pass skips a block, and returns how many of its values count: at most left.
func (d *deltaBlocks) pass(left int) (int, error) {
	_, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		return 0, refuse("it ends within a block of differences")
	}
	d.at += n
	widths := d.b[d.at:min(d.at+d.parts, len(d.b))]
	d.at += len(widths)
	got := 0
	for _, w := range widths {
		if int(w) > d.width {
			return 0, refuse("differences have %d bits; at most %d are possible", w, d.width)
		}
		d.at = min(d.at+d.perPart*int(w)/8, len(d.b))
		if got += min(d.perPart, left-got); got == left {
			break
		}
	}
	if got == 0 {
		return 0, refuse("a block of differences is empty")
	}
	return got, nil
}
