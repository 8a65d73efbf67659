package billfile

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// mapColumn reads a column that maps keys to values, such as the tags of AWS.
type mapColumn struct {
	target       *[]bill.Tag
	cache        *cache
	keys, values repeated
	bytes        []byte

	block   numbered[[]bill.Tag]
	numbers map[*bill.Tag]int32 // by the first tag of a set
}

func newMapColumn(b binding, l leaf) (columnReader, error) {
	if b.tags == nil {
		return nil, fault.New(fault.Invalid, "it is a map, where a single value is wanted")
	}
	return &mapColumn{
		target: b.tags, cache: b.cache, keys: newRepeated(l.key), values: newRepeated(l.value),
		numbers: map[*bill.Tag]int32{},
	}, nil
}

func (m *mapColumn) open(g rowGroup) {
	m.keys.open(g)
	m.values.open(g)
}

func (m *mapColumn) close() error {
	if err := m.keys.close(); err != nil {
		return err
	}
	return m.values.close()
}

func (m *mapColumn) next() error {
	keys, err := m.keys.next()
	if err != nil {
		return err
	}
	values, err := m.values.next()
	if err != nil {
		return err
	}
	if len(values) != len(keys) {
		return fault.New(fault.Invalid, "%d keys but %d values", len(keys), len(values))
	}
	*m.target = m.tags(keys, values)
	return nil
}

// tags returns the tags of a row. It reuses the previous result for equal bytes, because consecutive rows mostly have
// the same tags.
func (m *mapColumn) tags(keys, values []parquet.Value) []bill.Tag {
	m.bytes = m.bytes[:0]
	for i := range keys {
		m.bytes = appendCounted(m.bytes, keys[i].ByteArray())
		m.bytes = appendCounted(m.bytes, m.text(&values[i]))
	}
	if found, ok := m.cache.tags[string(m.bytes)]; ok {
		return found
	}
	var out []bill.Tag
	for i := range keys {
		if !keys[i].IsNull() { // null in an empty or missing map
			out = append(out,
				bill.Tag{Key: m.cache.text(keys[i].ByteArray()), Value: m.cache.text(m.text(&values[i]))})
		}
	}
	return m.cache.keepTags(m.bytes, sortTags(out))
}

func appendCounted[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// text returns the value of a tag.
func (m *mapColumn) text(v *parquet.Value) []byte {
	if v.Kind() == parquet.ByteArray || v.IsNull() {
		return v.ByteArray()
	}
	return []byte(v.String())
}

// maxRowTags is the most tags of a row. AWS allows 50 tags of users, and adds about 100 columns of products.
const maxRowTags = 10_000

// repeated reads a column with any number of values per row.
type repeated struct {
	column int
	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	batch  [valueBatch]parquet.Value
	held   []parquet.Value // of batch, not handed out
	row    []parquet.Value
}

func newRepeated(c *parquet.Column) repeated { return repeated{column: c.Index()} }

func (r *repeated) open(g rowGroup) {
	r.pages, r.reader, r.held = g.pages(r.column), nil, nil
}

func (r *repeated) close() error {
	if r.pages == nil {
		return nil
	}
	r.release()
	err := r.pages.Close()
	r.pages = nil
	return err
}

func (r *repeated) release() {
	if r.page != nil {
		parquet.Release(r.page)
		r.page, r.reader = nil, nil
	}
}

// next returns the values of the next row. For a row without values it returns one null.
func (r *repeated) next() ([]parquet.Value, error) {
	r.row = r.row[:0]
	for {
		for i := range r.held {
			if r.held[i].RepetitionLevel() == 0 && len(r.row) > 0 {
				r.held = r.held[i:]
				return r.row, nil
			}
			r.row = append(r.row, r.held[i])
		}
		if len(r.row) > maxRowTags {
			return nil, fault.New(fault.Invalid, "the row has more than %d tags", maxRowTags)
		}
		r.held = nil
		if err := r.fill(); isEnd(err) && len(r.row) > 0 {
			return r.row, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// fill reads more values. It keeps those of the current row, which may continue on the next page.
func (r *repeated) fill() error {
	for {
		if r.reader == nil {
			page, err := r.pages.ReadPage()
			if err != nil {
				return err
			}
			r.page, r.reader = page, page.Values()
		}
		n, err := r.reader.ReadValues(r.batch[:])
		r.held = r.batch[:n]
		if n > 0 {
			return nil
		}
		if !isEnd(err) {
			return err
		}
		r.keep()
		r.release()
	}
}

func (r *repeated) keep() {
	for i := range r.row {
		r.row[i] = r.row[i].Clone()
	}
}
