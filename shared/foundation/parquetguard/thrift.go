package parquetguard

import (
	"encoding/binary"
	"errors"

	"lamplighter.dev/shared/foundation/fault"
)

// The types of Thrift's compact protocol.
const (
	typeStop   = 0
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeStruct = 12
)

// maxNesting is the depth of structs and lists in a footer or a page header. Parquet's own types are 7 deep.
const maxNesting = 16

// maxFields bounds the fields and elements of a page header. A footer is bounded by its size.
const maxFields = 4096

// errShort says that the bytes end before the value does.
var errShort = errors.New("the bytes end within a value")

// cursor reads values of the compact protocol. It allocates nothing but strings that are asked for, and never more than
// its bytes.
type cursor struct {
	b     []byte
	at    int
	depth int
	left  int // fields and elements that may still be read
}

func (c *cursor) readByte() (byte, error) {
	if c.at >= len(c.b) {
		return 0, errShort
	}
	c.at++
	return c.b[c.at-1], nil
}

func (c *cursor) readUvarint() (uint64, error) {
	v, n := binary.Uvarint(c.b[c.at:])
	if n == 0 {
		return 0, errShort
	}
	if n < 0 {
		return 0, refuse("a number at byte %d of the metadata has more than 64 bits", c.at)
	}
	c.at += n
	return v, nil
}

// readInt returns an integer of any width.
func (c *cursor) readInt() (int64, error) {
	v, err := c.readUvarint()
	return int64(v>>1) ^ -int64(v&1), err //nolint:gosec // zigzag
}

// readBinary returns the bytes of a text, which are those of the cursor.
func (c *cursor) readBinary() ([]byte, error) {
	n, err := c.readUvarint()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(c.b)-c.at) {
		return nil, errShort
	}
	c.at += int(n) //nolint:gosec // it is at most len(c.b)
	return c.b[c.at-int(n) : c.at], nil
}

// readList returns the number and the type of the elements of a list. Each takes at least a byte, so there are no more
// than bytes.
func (c *cursor) readList() (n int, element byte, err error) {
	b, err := c.readByte()
	if err != nil {
		return 0, 0, err
	}
	size := uint64(b >> 4)
	if size == 15 {
		if size, err = c.readUvarint(); err != nil {
			return 0, 0, err
		}
	}
	if rest := len(c.b) - c.at; size > uint64(rest) {
		return 0, 0, refuse("a list claims %d elements in %d bytes", size, rest)
	}
	return int(size), b & 15, c.count(int(size)) //nolint:gosec // it is at most len(c.b)
}

// count takes n fields or elements of those that may be read.
func (c *cursor) count(n int) error {
	if c.left -= n; c.left < 0 {
		return refuse("the metadata has too many fields")
	}
	return nil
}

// field is one field of a struct.
type field struct {
	id   int64
	kind byte
}

// isBool reports whether the field is a bool, whose value is its kind.
func (f field) isBool() bool { return f.kind == typeTrue || f.kind == typeFalse }

// readStruct calls visit with each field of a struct. visit reads the value, or reports false to have it skipped.
func (c *cursor) readStruct(visit func(field) (bool, error)) error {
	if c.depth++; c.depth > maxNesting {
		return refuse("the metadata is nested more than %d levels deep", maxNesting)
	}
	defer func() { c.depth-- }()
	var f field
	for {
		var err error
		if f, err = c.readField(f.id); err != nil || f.kind == typeStop {
			return err
		}
		taken, err := visit(f)
		if err == nil && !taken {
			err = c.skip(f.kind, false)
		}
		if err != nil {
			return err
		}
	}
}

// readField reads the header of the field after the field with the id last.
func (c *cursor) readField(last int64) (field, error) {
	b, err := c.readByte()
	if err != nil || b == typeStop {
		return field{}, err
	}
	f := field{last + int64(b>>4), b & 15}
	if b>>4 == 0 {
		if f.id, err = c.readInt(); err != nil {
			return field{}, err
		}
	}
	if f.id < 1 || f.id > 32_767 {
		return field{}, refuse("the metadata has a field %d; fields are numbered 1 to 32767", f.id)
	}
	return f, c.count(1)
}

// skip passes over a value. A bool of a list takes a byte, one of a struct none.
func (c *cursor) skip(kind byte, listed bool) error {
	var err error
	switch kind {
	case typeTrue, typeFalse:
		if listed {
			_, err = c.readByte()
		}
	case typeByte:
		_, err = c.readByte()
	case typeI16, typeI32, typeI64:
		_, err = c.readUvarint()
	case typeDouble:
		if c.at += 8; c.at > len(c.b) {
			err = errShort
		}
	case typeBinary:
		_, err = c.readBinary()
	case typeList, typeSet:
		err = c.skipList()
	case typeStruct:
		err = c.readStruct(func(field) (bool, error) { return false, nil })
	default:
		err = fault.New(fault.Invalid,
			"the metadata of the Parquet file has a value of type %d at byte %d, which Parquet does not use: "+
				"export the file again", kind, c.at)
	}
	return err
}

func (c *cursor) skipList() error {
	if c.depth++; c.depth > maxNesting {
		return refuse("the metadata is nested more than %d levels deep", maxNesting)
	}
	defer func() { c.depth-- }()
	n, kind, err := c.readList()
	for i := 0; i < n && err == nil; i++ {
		err = c.skip(kind, true)
	}
	return err
}

// eachStruct calls read for each element of a list of structs. It returns an error for more than most elements.
func (c *cursor) eachStruct(what string, most int, read func(i int) error) error {
	n, kind, err := c.readList()
	if err != nil || n == 0 {
		return err
	}
	if kind != typeStruct {
		return refuse("the list of %ss has elements of type %d, not structs", what, kind)
	}
	if n > most {
		return fault.New(fault.Invalid, "the Parquet file has %d %ss; at most %d are read: split the file", n, what,
			most)
	}
	for i := 0; i < n && err == nil; i++ {
		err = read(i)
	}
	return err
}

// integer reads an integer field into to.
func (c *cursor) integer(f field, to *int64) (bool, error) {
	if f.kind != typeI16 && f.kind != typeI32 && f.kind != typeI64 {
		return false, nil
	}
	v, err := c.readInt()
	*to = v
	return true, err
}
