package measurement

import (
	"fmt"
	"math"
	"math/bits"

	"lamplighter.dev/shared/cloud"
)

// block is the output of encode, unpacked. It decodes the values of a series when they are asked for. It is reused, so
// that the next output takes no memory. One goroutine uses it.
type block struct {
	z, b   []byte // packed and unpacked
	names  [][]byte
	series []blockSeries
	planes []byte // the first bytes of all values, then the second ones, and so on
	total  int    // number of values
}

// blockSeries is a series of a block: the numbers of its names, and its values.
type blockSeries struct {
	uid     uint32
	measure [3]uint32 // namespace, metric and statistic
	there   uint32    // bit n: hour n has a value
	at      uint32    // number of its first value
}

// unpack replaces the block by the series in z.
func (b *block) unpack(z []byte) (err error) {
	if b.b, err = decompressor.Append(b.b[:0], z); err != nil {
		return fmt.Errorf("%w: %w", errSeries, err)
	}
	r := &reader{b: b.b}
	b.readNames(r)
	b.readSeries(r)
	if b.planes = r.b; r.bad || len(b.planes) != 4*b.total {
		return errSeries
	}
	return nil
}

func (b *block) readNames(r *reader) {
	b.names = b.names[:0]
	for range r.count(1) {
		b.names = append(b.names, r.take(r.uint()))
	}
}

func (b *block) readSeries(r *reader) {
	b.series, b.total = b.series[:0], 0
	for range r.count(5) {
		one := blockSeries{uid: b.readName(r)}
		for i := range one.measure {
			one.measure[i] = b.readName(r)
		}
		one.there, one.at = uint32(r.uint()&(1<<hours-1)), uint32(b.total) //nolint:gosec // fewer than maxDecoded
		b.total += bits.OnesCount32(one.there)
		b.series = append(b.series, one)
	}
}

// readName reads the number of a name.
func (b *block) readName(r *reader) uint32 {
	n := r.uint()
	if n >= uint64(len(b.names)) {
		r.bad = true
		return 0
	}
	return uint32(n) //nolint:gosec // no more than there are names
}

// measure returns the measure of a series.
func (b *block) measure(s *blockSeries) cloud.Measure {
	return cloud.Measure{
		Namespace: string(b.names[s.measure[0]]), Metric: string(b.names[s.measure[1]]),
		Statistic: string(b.names[s.measure[2]]),
	}
}

// isOf reports whether a series is of a measure.
func (b *block) isOf(s *blockSeries, m cloud.Measure) bool {
	return string(b.names[s.measure[1]]) == m.Metric && string(b.names[s.measure[2]]) == m.Statistic &&
		string(b.names[s.measure[0]]) == m.Namespace
}

// values appends the values of a series, those of the hours that have one.
func (b *block) values(s *blockSeries, to []float32) []float32 {
	p := b.planes
	end := int(s.at) + bits.OnesCount32(s.there)
	for n := int(s.at); n < end; n++ {
		v := uint32(p[n])<<24 | uint32(p[b.total+n])<<16 | uint32(p[2*b.total+n])<<8 | uint32(p[3*b.total+n])
		to = append(to, math.Float32frombits(v))
	}
	return to
}

// expand sets the hours of a day from the values of those that have one; the others are NaN.
func expand(to *[hours]float32, there uint32, values []float32) {
	if there == 1<<hours-1 {
		copy(to[:], values)
		return
	}
	n := 0
	for h := range to {
		if there>>h&1 == 0 {
			to[h] = float32(math.NaN())
			continue
		}
		to[h] = values[n]
		n++
	}
}
