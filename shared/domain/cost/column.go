package cost

import (
	"encoding/binary"
	"errors"
)

// A column of words consists of its distinct words and the index of each line's word, in 0, 1, 2 or 4 bytes as needed.

// column is a column of words in memory.
type column struct {
	names []string
	codes []uint32 // by line; nil when all lines have names[0]
}

func (c *column) code(i int) uint32 {
	if c.codes == nil {
		return 0
	}
	return c.codes[i]
}

func (c *column) name(i int) string { return c.names[c.code(i)] }

// columnBuilder builds a column.
type columnBuilder struct {
	words
	codes []uint32
}

func newColumn(size int) *columnBuilder {
	return &columnBuilder{words{map[string]uint32{}, nil}, make([]uint32, 0, size)}
}

func (c *columnBuilder) add(word string) { c.codes = append(c.codes, c.intern(word)) }

func codeWidth(names int) int {
	switch {
	case names <= 1:
		return 0
	case names <= 1<<8:
		return 1
	case names <= 1<<16:
		return 2
	}
	return 4
}

// append appends the encoded column to b.
func (c *columnBuilder) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(c.names)))
	for _, n := range c.names {
		b = appendText(b, n)
	}
	width := codeWidth(len(c.names))
	for _, code := range c.codes {
		for i := range width {
			b = append(b, byte(code>>(8*i)))
		}
	}
	return b
}

// errColumn is the error of a chunk that the encoder cannot have written.
var errColumn = errors.New("costs: malformed column")

// scanner reads columns. After an error it reads nothing.
type scanner struct {
	b   []byte
	bad bool
}

func (r *scanner) fail() { r.bad, r.b = true, nil }

func (r *scanner) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *scanner) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// column reads a column of n lines.
func (r *scanner) column(n int) column {
	count := r.uint()
	if count > uint64(len(r.b)) {
		r.fail()
		return column{}
	}
	c := column{names: r.texts(int(count))} //nolint:gosec // compared above
	width := codeWidth(len(c.names))
	raw := r.take(uint64(width * n)) //nolint:gosec // both small
	if r.bad || len(c.names) == 0 {
		r.fail()
		return column{}
	}
	if width > 0 {
		c.codes = r.codes(raw, width, n)
	}
	for _, code := range c.codes {
		if int(code) >= len(c.names) {
			r.fail()
			return column{}
		}
	}
	return c
}

// texts reads n words as slices of one string.
func (r *scanner) texts(n int) []string {
	from := r.b
	for range n {
		r.take(r.uint())
	}
	all, rest := string(from[:len(from)-len(r.b)]), scanner{b: from}
	if r.bad {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		size := rest.uint()
		at := len(from) - len(rest.b)
		out[i] = all[at : at+len(rest.take(size))]
	}
	return out
}

func (*scanner) codes(raw []byte, width, n int) []uint32 {
	codes := make([]uint32, n)
	for i := range codes {
		switch width {
		case 1:
			codes[i] = uint32(raw[i])
		case 2:
			codes[i] = uint32(binary.LittleEndian.Uint16(raw[2*i:]))
		default:
			codes[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
	}
	return codes
}

// skipColumn skips a column of n lines.
func (r *scanner) skipColumn(n int) {
	count := r.uint()
	if count > uint64(len(r.b)) {
		r.fail()
		return
	}
	for range count {
		r.take(r.uint())
	}
	r.take(uint64(codeWidth(int(count)) * n)) //nolint:gosec // count was compared
}
