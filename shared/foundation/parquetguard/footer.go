package parquetguard

import (
	"errors"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"lamplighter.dev/shared/foundation/fault"
)

// absent is the value of an optional integer that the file does not have.
const absent = -1

// element is an element of the schema: a column, or a group of elements.
type element struct {
	name                        string
	kind, length, repetition    int64
	children, converted         int64
	scale, precision            int64
	logical, unit               int64 // the ids of the logical type, and of its unit of time
	logicalScale, logicalDigits int64
}

func (e *element) isLeaf() bool { return e.kind != absent }

// column is a leaf of the schema.
type column struct {
	element
	repetitions, definitions int // the maximal levels
}

// chunk is the part of a column in a row group.
type chunk struct {
	codec, values      int64
	packed             int64 // bytes of all pages with their headers
	data, dictionary   int64 // offsets of the first pages
	external, isSealed bool
	described          bool
}

// start returns the offset of the first page.
func (c *chunk) start() int64 {
	if c.dictionary != 0 {
		return c.dictionary
	}
	return c.data
}

// group is a row group.
type group struct {
	rows   int64
	chunks []chunk
}

// footer is the metadata of a file, as far as its values are needed.
type footer struct {
	elements []element
	columns  []column
	groups   []group
	chunks   int
	sealed   bool
}

// decodeFooter decodes the struct FileMetaData.
func decodeFooter(raw []byte) (footer, error) {
	var f footer
	c := &cursor{b: raw, left: len(raw)}
	err := c.readStruct(func(at field) (bool, error) { return f.readField(c, at) })
	if errors.Is(err, errShort) {
		return f, refuse("the footer of %d bytes ends within a value", len(raw))
	}
	if err == nil && c.at != len(raw) {
		return f, refuse("the footer has %d bytes behind its end", len(raw)-c.at)
	}
	return f, err
}

func (f *footer) readField(c *cursor, at field) (bool, error) {
	switch {
	case at.id == 2 && at.kind == typeList:
		return true, c.eachStruct("schema element", MaxElements, func(int) error { return f.readElement(c) })
	case at.id == 4 && at.kind == typeList:
		return true, c.eachStruct("row group", MaxRowGroups, func(int) error { return f.readGroup(c) })
	case at.id == 8:
		f.sealed = true
	}
	return false, nil
}

func (f *footer) readElement(c *cursor) error {
	e := element{kind: absent, length: absent, repetition: absent, converted: absent, scale: absent, precision: absent}
	integers := map[int64]*int64{
		1: &e.kind, 2: &e.length, 3: &e.repetition, 5: &e.children, 6: &e.converted, 7: &e.scale, 8: &e.precision,
	}
	err := c.readStruct(func(at field) (bool, error) {
		if to := integers[at.id]; to != nil {
			return c.integer(at, to)
		}
		switch {
		case at.id == 4 && at.kind == typeBinary:
			b, err := c.readBinary()
			e.name = string(b)
			return true, err
		case at.id == 10 && at.kind == typeStruct:
			return true, c.readStruct(func(at field) (bool, error) { return e.readLogical(c, at) })
		}
		return false, nil
	})
	f.elements = append(f.elements, e)
	return err
}

// readLogical reads the logical type. It uses only the details of decimals and timestamps.
func (e *element) readLogical(c *cursor, of field) (bool, error) {
	if of.kind != typeStruct {
		return false, nil
	}
	e.logical = of.id
	return true, c.readStruct(func(at field) (bool, error) {
		switch {
		case of.id == logicalDecimal && at.id == 1:
			return c.integer(at, &e.logicalScale)
		case of.id == logicalDecimal && at.id == 2:
			return c.integer(at, &e.logicalDigits)
		case of.id == logicalTimestamp && at.id == 2 && at.kind == typeStruct:
			return true, c.readStruct(func(unit field) (bool, error) { e.unit = unit.id; return false, nil })
		}
		return false, nil
	})
}

func (f *footer) readGroup(c *cursor) error {
	g := group{rows: absent}
	err := c.readStruct(func(at field) (bool, error) {
		switch {
		case at.id == 1 && at.kind == typeList:
			return true, c.eachStruct("column chunk", MaxChunks-f.chunks, func(int) error { return f.readChunk(c, &g) })
		case at.id == 3:
			return c.integer(at, &g.rows)
		}
		return false, nil
	})
	f.groups = append(f.groups, g)
	return err
}

func (f *footer) readChunk(c *cursor, g *group) error {
	var k chunk
	f.chunks++
	err := c.readStruct(func(at field) (bool, error) {
		switch at.id {
		case 1:
			if at.kind == typeBinary {
				path, err := c.readBinary()
				k.external = len(path) > 0
				return true, err
			}
		case 3:
			if k.described = at.kind == typeStruct; k.described {
				return true, c.readStruct(func(at field) (bool, error) { return k.readMetadata(c, at) })
			}
		case 8:
			k.isSealed = true
		}
		return false, nil
	})
	g.chunks = append(g.chunks, k)
	return err
}

func (c *chunk) readMetadata(r *cursor, at field) (bool, error) {
	switch at.id {
	case 4:
		return r.integer(at, &c.codec)
	case 5:
		return r.integer(at, &c.values)
	case 7:
		return r.integer(at, &c.packed)
	case 9:
		return r.integer(at, &c.data)
	case 11:
		return r.integer(at, &c.dictionary)
	}
	return false, nil
}

// check checks the schema and the row groups, whose pages end before the offset end.
func (f *footer) check(end int64) error {
	if f.sealed {
		return fault.New(fault.Invalid, "the Parquet file is encrypted: export it without encryption")
	}
	if len(f.elements) == 0 || f.elements[0].isLeaf() {
		return refuse("the schema has no root")
	}
	next, err := f.checkElement(0, levels{})
	if err != nil {
		return err
	}
	if next != len(f.elements) {
		return refuse("the schema has %d elements, of which %d belong to no group", len(f.elements),
			len(f.elements)-next)
	}
	return f.checkGroups(end)
}

// levels is where an element stands in the schema.
type levels struct{ depth, repetitions, definitions int }

// checkElement checks the element at index i and the elements under it, and returns the index of the next one.
func (f *footer) checkElement(i int, at levels) (int, error) {
	if i >= len(f.elements) {
		return 0, refuse("the schema has %d elements, and its groups claim more", len(f.elements))
	}
	if at.depth++; at.depth > MaxDepth {
		return 0, refuse("the schema is nested more than %d levels deep", MaxDepth)
	}
	e := &f.elements[i]
	if i > 0 && e.repetition > 0 {
		at.definitions++
		at.repetitions += int(e.repetition / 2)
	}
	if err := e.check(len(f.elements) - i - 1); err != nil {
		return 0, err
	}
	if e.isLeaf() {
		f.columns = append(f.columns, column{*e, at.repetitions, at.definitions})
		return i + 1, nil
	}
	next := i + 1
	for range e.children {
		after, err := f.checkElement(next, at)
		if err != nil {
			return 0, err
		}
		next = after
	}
	return next, nil
}

// check checks an element that rest elements follow.
func (e *element) check(rest int) error {
	isColumn := e.kind >= 0 && e.kind <= 7 && e.children <= 0
	if e.repetition > 2 || e.isLeaf() && !isColumn || e.length > MaxPageBytes {
		return refuse("column %.100q has type %d, length %d, repetition %d and %d children, which no column has",
			e.name, e.kind, e.length, e.repetition, e.children)
	}
	if !e.isLeaf() && (e.children < 0 || e.children > int64(rest)) {
		return refuse("group %.100q of the schema claims %d children; %d elements follow", e.name, e.children, rest)
	}
	return nil
}

func (f *footer) checkGroups(end int64) error {
	rows, most := int64(0), freeRows+rowsPerByte*end
	for i := range f.groups {
		g := &f.groups[i]
		if g.rows < 0 || g.rows > most-rows {
			return refuse("row group %d claims %d rows, after %d rows; a file of this size has at most %d", i+1, g.rows,
				rows, most)
		}
		rows += g.rows
		if len(g.chunks) != len(f.columns) {
			return refuse("row group %d has %d columns; the schema has %d", i+1, len(g.chunks), len(f.columns))
		}
		for k := range g.chunks {
			if err := f.checkChunk(g, k, end, most); err != nil {
				return fault.New(fault.Invalid, "row group %d, column %.100q: %s", i+1, f.columns[k].name,
					fault.Message(err))
			}
		}
	}
	return nil
}

func (f *footer) checkChunk(g *group, k int, end, most int64) error {
	c := &g.chunks[k]
	if f.columns[k].repetitions == 0 {
		most = g.rows
	}
	switch {
	case c.isSealed:
		return fault.New(fault.Invalid, "it is encrypted: export the file without encryption")
	case c.external, !c.described:
		return refuse("its values are in another file")
	case c.values < 0 || c.values > most:
		return refuse("it claims %d values; at most %d are possible", c.values, most)
	case c.values == 0 && c.packed == 0:
		return nil
	}
	return c.checkPlace(end)
}

// checkPlace checks where the pages of a chunk are, before the offset end, and how they are compressed.
func (c *chunk) checkPlace(end int64) error {
	switch {
	case c.start() < 4 || c.packed < 0 || c.start() > end || c.packed > end-c.start():
		return refuse("its pages are at offset %d and have %d bytes; pages are in the bytes 4 to %d", c.start(),
			c.packed, end)
	case !isKnownCodec(c.codec):
		return fault.New(fault.Invalid,
			"its compression is codec %d; GZIP, SNAPPY, ZSTD, BROTLI, LZ4_RAW and none are read", c.codec)
	}
	return nil
}

// levelWidth returns the number of bits of a level.
func levelWidth(most int) int { return bits.Len(uint(most)) } //nolint:gosec // it is at most MaxDepth

func isKnownCodec(codec int64) bool {
	switch format.CompressionCodec(codec) { //nolint:gosec // other values are unknown in any width
	case format.Uncompressed, format.Gzip, format.Snappy, format.Zstd, format.Brotli, format.Lz4Raw:
		return codec == int64(int32(codec)) //nolint:gosec // compared
	default:
		return false
	}
}
