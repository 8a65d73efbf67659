package parquetguard

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The ids of logical types whose details matter to readers of bills. Of others the physical type is enough.
const (
	logicalMap       = 2
	logicalList      = 3
	logicalDecimal   = 5
	logicalTimestamp = 8
)

// encode returns the new footer: the same columns and row groups, with pages that are not compressed.
func (f *footer) encode() ([]byte, error) {
	meta := format.FileMetaData{Version: 1, CreatedBy: "parquetguard"}
	for i := range f.elements {
		meta.Schema = append(meta.Schema, f.elements[i].schema(i == 0))
	}
	for i := range f.groups {
		g := format.RowGroup{
			NumRows: f.groups[i].rows, Columns: make([]format.ColumnChunk, len(f.columns)),
			Ordinal: int16(i), //nolint:gosec // MaxRowGroups
		}
		for k := range g.Columns {
			g.Columns[k].MetaData = format.ColumnMetaData{
				Type:     format.Type(f.columns[k].kind), //nolint:gosec // checked
				Encoding: []format.Encoding{format.Plain}, NumValues: f.groups[i].chunks[k].values,
				DataPageOffset: pagesOffset, TotalCompressedSize: math.MaxInt64 / 2,
			}
		}
		meta.NumRows += g.NumRows
		meta.RowGroups = append(meta.RowGroups, g)
	}
	raw, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(raw))) //nolint:gosec // a few times MaxFooterBytes at most
	return append(raw, magic...), err
}

// schema returns the element as the library has it.
func (e *element) schema(root bool) format.SchemaElement {
	out := format.SchemaElement{Name: e.name}
	if e.isLeaf() {
		out.Type = thrift.New(format.Type(e.kind)) //nolint:gosec // checked
		out.LogicalType, out.ConvertedType = e.logicalType(), e.convertedType()
		out.Scale, out.Precision = optional(e.scale), optional(e.precision)
	} else {
		out.NumChildren = thrift.New(int32(e.children)) //nolint:gosec // checked
	}
	if e.kind == int64(format.FixedLenByteArray) {
		out.TypeLength = thrift.New(int32(max(e.length, 0))) //nolint:gosec // checked
	}
	if !root {
		out.RepetitionType = thrift.New(format.FieldRepetitionType(max(e.repetition, 0))) //nolint:gosec // checked
	}
	return out
}

func optional(v int64) thrift.Null[int32] {
	if v < 0 || v > math.MaxInt32 {
		return thrift.Null[int32]{}
	}
	return thrift.New(int32(v))
}

// logicalType returns the type of decimals and timestamps; others need none.
func (e *element) logicalType() format.LogicalType {
	switch {
	case e.logical == logicalDecimal && e.canBeDecimal():
		return format.LogicalType{Value: &format.DecimalType{
			Scale: optional(e.logicalScale).V, Precision: optional(e.logicalDigits).V,
		}}
	case e.logical == logicalTimestamp:
		return format.LogicalType{Value: &format.TimestampType{IsAdjustedToUTC: true, Unit: e.timeUnit()}}
	}
	return format.LogicalType{}
}

func (e *element) timeUnit() format.TimeUnit {
	switch e.unit {
	case 1:
		return format.TimeUnit{Value: new(format.MilliSeconds)}
	case 3:
		return format.TimeUnit{Value: new(format.NanoSeconds)}
	}
	return format.TimeUnit{Value: new(format.MicroSeconds)}
}

// convertedType returns the type of the older format that decimals and timestamps have; others need none.
func (e *element) convertedType() thrift.Null[deprecated.ConvertedType] {
	switch t := deprecated.ConvertedType(e.converted); t { //nolint:gosec // compared
	case deprecated.TimestampMillis, deprecated.TimestampMicros:
		return thrift.New(t)
	case deprecated.Decimal:
		if e.canBeDecimal() {
			return thrift.New(t)
		}
	default:
	}
	return thrift.Null[deprecated.ConvertedType]{}
}

func (e *element) canBeDecimal() bool {
	switch format.Type(e.kind) { //nolint:gosec // checked
	case format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray:
		return true
	default:
		return false
	}
}
