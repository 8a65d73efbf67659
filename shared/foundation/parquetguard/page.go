package parquetguard

import (
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// page is the header of a page.
type page struct {
	kind             int64
	unpacked, packed int64 // bytes
	checksum         int64
	values, nulls    int64
	rows, encoding   int64
	definitionEnc    int64
	repetitionEnc    int64
	definitionBytes  int64 // of a page of version 2, whose levels are not compressed
	repetitionBytes  int64
	plain            bool // a page of version 2 that is not compressed
	described        bool
}

// decodePage decodes the struct PageHeader at the beginning of b and returns its length. It is errShort when b ends
// before.
func decodePage(b []byte) (page, int, error) {
	p := page{kind: absent}
	c := &cursor{b: b, left: maxFields}
	err := c.readStruct(func(at field) (bool, error) { return p.readField(c, at) })
	return p, c.at, err
}

func (p *page) readField(c *cursor, at field) (bool, error) {
	if at.id <= 4 {
		return c.integer(at, [...]*int64{&p.kind, &p.unpacked, &p.packed, &p.checksum}[at.id-1])
	}
	integers := p.details(at.id)
	if integers == nil || at.kind != typeStruct {
		return false, nil
	}
	p.described = true
	return true, c.readStruct(func(in field) (bool, error) {
		if at.id == 8 && in.id == 7 && in.isBool() {
			p.plain = in.kind == typeFalse
			return true, nil
		}
		if in.id > int64(len(integers)) {
			return false, nil
		}
		return c.integer(in, integers[in.id-1])
	})
}

// details returns the integers of the struct that describes a page of the kind, by their ids from 1 on, or nil.
func (p *page) details(id int64) []*int64 {
	switch {
	case id == 5 && p.kind == int64(format.DataPage):
		return []*int64{&p.values, &p.encoding, &p.definitionEnc, &p.repetitionEnc}
	case id == 7 && p.kind == int64(format.DictionaryPage):
		return []*int64{&p.values, &p.encoding}
	case id == 8 && p.kind == int64(format.DataPageV2):
		return []*int64{&p.values, &p.nulls, &p.rows, &p.encoding, &p.definitionBytes, &p.repetitionBytes}
	}
	return nil
}

// check checks the header of a page, of whose column left bytes and leftValues values are not read.
func (p *page) check(left, leftValues int64) error {
	switch {
	case !p.described:
		return refuse("its header describes no page of kind %d", p.kind)
	case p.packed < 0 || p.packed > left:
		return refuse("its header claims %d bytes; %d are left of the column", p.packed, left)
	case p.unpacked < 0 || max(p.unpacked, p.packed) > MaxPageBytes:
		return refuse("its header claims %d bytes when unpacked; at most %d are read", max(p.unpacked, p.packed),
			MaxPageBytes)
	}
	return p.checkCounts(leftValues)
}

// checkCounts checks the numbers of values and the bytes of levels that a header claims.
func (p *page) checkCounts(leftValues int64) error {
	switch {
	case p.values < 0 || p.values > MaxPageValues:
		return refuse("its header claims %d values; a page has at most %d", p.values, MaxPageValues)
	case !p.isDictionary() && p.values > leftValues:
		return refuse("its header claims %d values; %d are left of the column", p.values, leftValues)
	case p.nulls < 0 || p.nulls > p.values || p.rows < 0 || p.rows > p.values:
		return refuse("its header claims %d nulls and %d rows of %d values", p.nulls, p.rows, p.values)
	case p.definitionBytes < 0 || p.repetitionBytes < 0 || p.levelBytes() > min(p.packed, p.unpacked):
		return refuse("its header claims %d bytes of levels in a page of %d bytes", p.levelBytes(), p.packed)
	}
	return nil
}

func (p *page) isDictionary() bool { return p.kind == int64(format.DictionaryPage) }

// levelBytes returns the number of bytes of levels, which are not compressed, at the beginning of a page of version 2.
func (p *page) levelBytes() int64 { return p.definitionBytes + p.repetitionBytes }

// plainDictionary is format.PlainDictionary: it is deprecated, and older programs still write it.
const plainDictionary = 2

// hasIndexes reports whether the values of a data page are indexes into the dictionary.
func (p *page) hasIndexes() bool {
	return p.encoding == plainDictionary || p.encoding == int64(format.RLEDictionary)
}

// encode returns the header of the unpacked page of n bytes.
func (p *page) encode(n int) ([]byte, error) {
	size := int32(n) //nolint:gosec // checked
	h := format.PageHeader{Type: format.PageType(p.kind), UncompressedPageSize: size, CompressedPageSize: size}
	values, encoding := int32(p.values), format.Encoding(p.encoding) //nolint:gosec // checked
	switch h.Type {
	case format.DataPage:
		h.DataPageHeader = thrift.New(format.DataPageHeader{
			NumValues: values, Encoding: encoding,
			DefinitionLevelEncoding: format.Encoding(p.definitionEnc), //nolint:gosec // checked
			RepetitionLevelEncoding: format.Encoding(p.repetitionEnc), //nolint:gosec // checked
		})
	case format.DictionaryPage:
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: values, Encoding: encoding})
	case format.DataPageV2:
		h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{
			NumValues: values, Encoding: encoding,
			NumNulls: int32(p.nulls), NumRows: int32(p.rows), //nolint:gosec // checked
			DefinitionLevelsByteLength: int32(p.definitionBytes), //nolint:gosec // checked
			RepetitionLevelsByteLength: int32(p.repetitionBytes), //nolint:gosec // checked
		})
	case format.IndexPage:
		return nil, errors.New("an index page is not shown")
	}
	return thrift.Marshal(new(thrift.CompactProtocol), &h)
}
