package billfile

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// newColumnReader returns the reader of a column for the type of its binding.
func newColumnReader(b binding, l leaf) (columnReader, error) {
	if l.key != nil {
		return newMapColumn(b, l)
	}
	switch {
	case b.text != nil:
		return newValueColumn(b, l, b.text, textOf(l.value.Type(), b.cache)), nil
	case b.amount != nil:
		return newValueColumn(b, l, b.amount, amountOf(l.value.Type())), nil
	case b.at != nil:
		return newValueColumn(b, l, b.at, b.timeOf(l.value.Type())), nil
	default:
		return newValueColumn(b, l, b.tags, func(v *parquet.Value) ([]bill.Tag, error) {
			return b.cache.tagsOf(v.ByteArray())
		}), nil
	}
}

func newValueColumn[T any](b binding, l leaf, target *T, convert func(*parquet.Value) (T, error)) columnReader {
	return &valueColumn[T]{
		column: l.value.Index(), defined: byte(l.value.MaxDefinitionLevel()), target: target, filled: b.filled,
		required: b.required && b.text == nil, convert: convert,
	}
}

// textOf returns the conversion of a column to text. Values of other types, such as numeric account IDs in some files,
// get the form that CSV has.
func textOf(t parquet.Type, c *cache) func(*parquet.Value) (string, error) {
	switch t.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return func(v *parquet.Value) (string, error) { return longText(c, v.ByteArray()) }
	case parquet.Int32, parquet.Int64:
		return func(v *parquet.Value) (string, error) { return strconv.FormatInt(integer(v), 10), nil }
	default:
		return func(v *parquet.Value) (string, error) { return v.String(), nil }
	}
}

// longText returns a text. Its length is limited to that of a row of CSV.
func longText(c *cache, b []byte) (string, error) {
	if len(b) > MaxRowBytes {
		return "", longTextError(len(b))
	}
	return c.columnText(b), nil
}

func longTextError(n int) error {
	return fault.New(fault.Invalid, "a text of %d bytes; at most %d are read", n, MaxRowBytes)
}

func integer(v *parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// amountOf returns the conversion of a column to an amount: exact for decimals, and the shortest equal decimal for
// doubles.
func amountOf(t parquet.Type) func(*parquet.Value) (money.Amount, error) {
	places, decimal := decimalPlaces(t)
	switch t.Kind() {
	case parquet.Double:
		return func(v *parquet.Value) (money.Amount, error) { return money.FromFloat(v.Double()) }
	case parquet.Float:
		return func(v *parquet.Value) (money.Amount, error) {
			return money.Parse(strconv.FormatFloat(float64(v.Float()), 'e', -1, 32))
		}
	case parquet.Int32, parquet.Int64:
		return func(v *parquet.Value) (money.Amount, error) {
			return decimalAmount(binary.BigEndian.AppendUint64(nil, uint64(integer(v))), places)
		}
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if decimal {
			return func(v *parquet.Value) (money.Amount, error) { return decimalAmount(v.ByteArray(), places) }
		}
		return func(v *parquet.Value) (money.Amount, error) { return parseAmount(v.ByteArray()) }
	default:
		return func(*parquet.Value) (money.Amount, error) { return money.Amount{}, wrongType(t, "a number") }
	}
}

func wrongType(t parquet.Type, wanted string) error {
	return fault.New(fault.Invalid, "its type is %s, where %s is wanted", t, wanted)
}

func decimalPlaces(t parquet.Type) (places int, decimal bool) {
	l := t.LogicalType()
	if l == nil {
		return 0, false
	}
	d, decimal := l.Value.(*format.DecimalType)
	if !decimal {
		return 0, false
	}
	return int(d.Scale), true
}

func decimalAmount(b []byte, places int) (money.Amount, error) {
	a, ok := money.FromDecimal(b, places)
	if !ok {
		return a, fault.New(
			fault.Invalid, "a decimal of %d bytes with %d places is larger or finer than amounts are", len(b), places)
	}
	return a, nil
}

// timeOf returns the conversion of a column to a time in UTC.
func timeOf(t parquet.Type) func(*parquet.Value) (time.Time, error) {
	switch t.Kind() {
	case parquet.Int64:
		unit := timeUnit(t)
		return func(v *parquet.Value) (time.Time, error) { return sinceEpoch(v.Int64(), unit), nil }
	case parquet.Int32:
		return func(v *parquet.Value) (time.Time, error) { return time.Unix(int64(v.Int32())*86400, 0).UTC(), nil }
	case parquet.Int96:
		return func(v *parquet.Value) (time.Time, error) { return fromInt96(v.Int96()), nil }
	case parquet.ByteArray:
		return func(v *parquet.Value) (time.Time, error) { return parseTime(v.ByteArray()) }
	default:
		return func(*parquet.Value) (time.Time, error) { return time.Time{}, wrongType(t, "a time") }
	}
}

func timeUnit(t parquet.Type) time.Duration {
	if l := t.LogicalType(); l != nil {
		if stamp, ok := l.Value.(*format.TimestampType); ok {
			switch stamp.Unit.Value.(type) {
			case *format.MilliSeconds:
				return time.Millisecond
			case *format.NanoSeconds:
				return time.Nanosecond
			}
			return time.Microsecond
		}
	}
	if c := t.ConvertedType(); c != nil && *c == deprecated.TimestampMillis {
		return time.Millisecond
	}
	return time.Microsecond
}

func sinceEpoch(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	seconds := n / perSecond
	return time.Unix(seconds, (n-seconds*perSecond)*int64(unit)).UTC()
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2440588

// fromInt96 decodes a time of Spark and Impala: nanoseconds of the day, then the Julian day.
func fromInt96(i deprecated.Int96) time.Time {
	nanos := int64(i[0]) | int64(i[1])<<32
	return time.Unix((int64(i[2])-julianEpoch)*86400, nanos).UTC()
}
