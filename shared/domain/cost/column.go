package cost

import (
	"encoding/binary"
	"errors"
	"math"

	"lamplighter.dev/shared/foundation/money"
)

// A column of words is its words, each once, and for each line which one it is: in 0, 1, 2 or 4 bytes, as many as it takes. A column
// of amounts is integers of a scale that all of them have in common; where these do not fit into 64 bits, amounts as money writes them.

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

// columnBuilder puts a column together.
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

// append writes the column.
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

// errColumn says that a chunk is not what was written.
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
	c := column{names: make([]string, count)}
	for i := range c.names {
		c.names[i] = string(r.take(r.uint()))
	}
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

// skipColumn steps over a column of n lines.
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

// amounts is a column of amounts in memory: integers of a scale, or wide ones.
type amounts struct {
	places int
	narrow []int64
	wide   []money.Amount
}

func (a *amounts) len() int { return max(len(a.narrow), len(a.wide)) }

const (
	wideAmounts  = 255  // in place of the number of places
	sameAsBefore = 0xff // in place of an amount that money writes
)

// appendAmounts writes amounts, each as what it differs by from the one lag before: 0 is from none.
func appendAmounts(b []byte, all []money.Amount, lag int) []byte {
	places, narrow := narrowed(all)
	if narrow == nil {
		return appendWide(append(b, wideAmounts), all, lag)
	}
	b = append(b, byte(places))
	for i, v := range narrow {
		if lag > 0 && i >= lag {
			v -= narrow[i-lag]
		}
		b = binary.AppendVarint(b, v)
	}
	return b
}

// narrowed returns amounts as integers of the smallest scale that they have in common; nil when there is none.
func narrowed(all []money.Amount) (int, []int64) {
	places := 0
	for i := range all {
		for !all[i].IsZero() {
			if _, ok := all[i].Scaled(places); ok {
				break
			}
			if places++; places > money.Scale {
				return 0, nil
			}
		}
	}
	out := make([]int64, len(all))
	for i := range all {
		n, ok := all[i].Scaled(places)
		if !ok || n == math.MinInt64 {
			return 0, nil
		}
		out[i] = n
	}
	return places, out
}

func appendWide(b []byte, all []money.Amount, lag int) []byte {
	for i := range all {
		if lag > 0 && i >= lag && all[i] == all[i-lag] {
			b = append(b, sameAsBefore)
			continue
		}
		b = all[i].AppendBinary(b)
	}
	return b
}

// amounts reads n amounts.
func (r *scanner) amounts(n, lag int) amounts {
	head := r.take(1)
	if r.bad || n > len(r.b) {
		r.fail()
		return amounts{}
	}
	switch {
	case head[0] == wideAmounts:
		return amounts{wide: r.wide(n, lag)}
	case int(head[0]) > money.Scale:
		r.fail()
		return amounts{}
	}
	return amounts{places: int(head[0]), narrow: r.narrow(n, lag)}
}

func (r *scanner) narrow(n, lag int) []int64 {
	out := make([]int64, n)
	b := r.b
	for i := range out {
		var v int64
		if len(b) > 0 && b[0] < 0x80 { // nearly always, of what differs little
			v = int64(b[0]>>1) ^ -int64(b[0]&1)
			b = b[1:]
		} else {
			w, size := binary.Varint(b)
			if size <= 0 {
				r.fail()
				return nil
			}
			v, b = w, b[size:]
		}
		if lag > 0 && i >= lag {
			v += out[i-lag]
		}
		out[i] = v
	}
	r.b = b
	return out
}

func (r *scanner) wide(n, lag int) []money.Amount {
	out := make([]money.Amount, n)
	for i := range out {
		if lag > 0 && i >= lag && len(r.b) > 0 && r.b[0] == sameAsBefore {
			out[i], r.b = out[i-lag], r.b[1:]
			continue
		}
		a, size := money.DecodeBinary(r.b)
		if size == 0 {
			r.fail()
			return nil
		}
		out[i], r.b = a, r.b[size:]
	}
	return out
}
