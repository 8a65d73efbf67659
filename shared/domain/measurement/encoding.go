package measurement

import (
	"encoding/binary"
	"errors"
	"math"

	"lamplighter.dev/shared/foundation/packing"
)

// errSeries says that encode did not write this item.
var errSeries = errors.New("measurements: malformed series")

// maxDecoded limits the decoded size of an item, in bytes, before memory is allocated for it.
const maxDecoded = 32 << 20

var (
	compressor   packing.Packer
	decompressor = packing.Unpacker{Max: maxDecoded}
)

// encode writes series: the names, the hours that have a value, and the values, grouped by byte position, so that
// similar bytes are adjacent.
func encode(all []Series) []byte {
	var names []string
	number := map[string]uint64{}
	intern := func(s string) uint64 {
		n, ok := number[s]
		if !ok {
			n = uint64(len(names))
			number[s], names = n, append(names, s)
		}
		return n
	}
	var b, planes []byte
	var values []uint32
	for _, s := range all {
		for _, name := range []string{s.UID, s.Measure.Namespace, s.Measure.Metric, s.Measure.Statistic} {
			b = binary.AppendUvarint(b, intern(name))
		}
		var there uint64
		for h, v := range s.Hours {
			if !math.IsNaN(float64(v)) {
				there |= 1 << h
				values = append(values, math.Float32bits(v))
			}
		}
		b = binary.AppendUvarint(b, there)
	}
	for shift := 24; shift >= 0; shift -= 8 {
		for _, v := range values {
			planes = append(planes, byte(v>>shift))
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(names)))
	for _, n := range names {
		out = append(binary.AppendUvarint(out, uint64(len(n))), n...)
	}
	out = binary.AppendUvarint(out, uint64(len(all)))
	return compressor.Append(nil, append(append(out, b...), planes...))
}

// decode decodes the output of encode.
func decode(z []byte) ([]Series, error) {
	var b block
	if err := b.unpack(z); err != nil {
		return nil, err
	}
	all := make([]Series, len(b.series))
	for i := range b.series {
		one := &b.series[i]
		all[i] = Series{UID: string(b.names[one.uid]), Measure: b.measure(one)}
		expand(&all[i].Hours, one.there, b.values(one, nil))
	}
	return all, nil
}

// reader reads numbers and texts. After an error it reads zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads the number of the following values, each of at least size bytes.
func (r *reader) count(size int) int {
	v := r.uint()
	if v > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(v) //nolint:gosec // no more than there are bytes
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
