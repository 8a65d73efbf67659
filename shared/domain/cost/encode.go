package cost

import (
	"encoding/binary"
	"fmt"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// blockLines is the number of lines in the columns of a block, small enough to limit the memory of a question.
const blockLines = 16_384

// The families of columns. Each is stored in its own items, so a question reads only the columns that it needs.
const (
	wordsFamily    = "D" // words with few values
	tagsFamily     = "G"
	resourceFamily = "U" // the resource, by its name in the inventory
	nativeFamily   = "N" // the resource, by its name on the bill; absent if that is the same
	stampFamily    = "S" // teams and groups, in the generation of the stamps
	totalsFamily   = "T" // of the month, by metric
)

// dayFamilies are the daily amounts by metric. A family that equals the billed amounts is absent.
var dayFamilies = [3]string{"B", "E", "L"}

// metricNumber is the position of a metric in arrays by metric.
var metricNumber = map[Metric]int{Billed: 0, Effective: 1, List: 2}

// chunk is one family of a block, to be written.
type chunk struct {
	generation, name string // name: family and number of the block
	content          []byte
}

func chunkName(family string, n int) string { return fmt.Sprintf("%s%04d", family, n) }

func rollupName(family string, n int) string { return fmt.Sprintf("%sR%03d", family, n) }

// chunkKey returns the key of a chunk's part. Chunks never change.
func chunkKey(org, generation, name string, part int) table.Key {
	return table.Key{PK: PK(org) + "#" + generation, SK: fmt.Sprintf("%s#%02d", name, part)}
}

// stamped is a line with the stamp of its resource.
type stamped struct {
	*line
	stamp
}

// stamp is the inventory's record of a resource at the time of the import.
type stamp struct {
	uid, kind, region string
	teams, groups     string // ids, joined by setSeparator, in order
}

// setSeparator separates the members of a set. No ID contains it.
const setSeparator = "\x1f"

func joinSet(ids []string) string { return strings.Join(ids, setSeparator) }

func splitSet(set string) []string {
	if set == "" {
		return []string{""}
	}
	return strings.Split(set, setSeparator)
}

// encoding encodes the chunks of a block.
type encoding struct {
	words *words
	lines []stamped
	days  int
	cells []money.Amount // of one family; reused
}

// families returns the content of the families of the block, without those that are absent.
func (e *encoding) families() map[string][]byte {
	out := e.fewFamilies()
	out[tagsFamily] = e.texts(func(l *stamped) string { return e.words.names[l.key[tagsWord]] })
	out[resourceFamily] = e.texts(func(l *stamped) string { return l.uid })
	if e.renamed() {
		out[nativeFamily] = e.texts(func(l *stamped) string { return e.words.names[l.key[resourceWord]] })
	}
	return out
}

// fewFamilies returns the families that a rollup has too.
func (e *encoding) fewFamilies() map[string][]byte {
	out := map[string][]byte{wordsFamily: e.wordColumns(), totalsFamily: e.totals(), stampFamily: e.stamps()}
	for m, family := range dayFamilies {
		if m == 0 || e.differs(m) {
			out[family] = e.byDay(m)
		}
	}
	return out
}

func (e *encoding) texts(text func(*stamped) string) []byte {
	c := newColumn(len(e.lines))
	for i := range e.lines {
		c.add(text(&e.lines[i]))
	}
	return c.append(nil)
}

// wordColumns encodes the columns of words with few values, one after another.
func (e *encoding) wordColumns() []byte {
	var out []byte
	for w := range resourceWord {
		out = append(out, e.texts(func(l *stamped) string { return e.word(l, w) })...)
	}
	return out
}

// word returns a word of a line as it is stored. The inventory's type replaces the bill's, and its region fills a
// missing one.
func (e *encoding) word(l *stamped, w int) string {
	word := e.words.names[l.key[w]]
	switch {
	case w == typeWord && l.kind != "":
		return l.kind
	case w == regionWord && word == "":
		return l.region
	}
	return word
}

// renamed reports whether a resource has another name in the inventory than on the bill.
func (e *encoding) renamed() bool {
	for i := range e.lines {
		if l := &e.lines[i]; l.uid != e.words.names[l.key[resourceWord]] {
			return true
		}
	}
	return false
}

func (e *encoding) differs(metric int) bool {
	for i := range e.lines {
		if e.lines[i].differs(metric) {
			return true
		}
	}
	return false
}

// totals encodes the sums of the month by metric, each after its length. The length 0 means that they equal the billed
// ones.
func (e *encoding) totals() []byte {
	var out []byte
	for m := range dayFamilies {
		var section []byte
		if m == 0 || e.differs(m) {
			cells := e.cells[:0]
			for i := range e.lines {
				cells = append(cells, e.lines[i].of(m).sum())
			}
			section, e.cells = encodeAmounts(cells, 0), cells
		}
		out = append(binary.AppendUvarint(out, uint64(len(section))), section...)
	}
	return out
}

// byDay encodes the amounts of all lines on the first day, then on the second, and so on, because consecutive days are
// mostly equal.
// the day before.
func (e *encoding) byDay(metric int) []byte {
	cells := e.cells[:0]
	for day := range e.days {
		for i := range e.lines {
			cells = append(cells, e.lines[i].of(metric).at(day))
		}
	}
	e.cells = cells
	return encodeAmounts(cells, len(e.lines))
}

// stamps encodes the stamps of the resources of the block.
func (e *encoding) stamps() []byte {
	var columns stampColumns
	for i := range e.lines {
		columns.add(&e.lines[i].stamp)
	}
	return columns.content()
}

// stampColumns builds the columns of stamps.
type stampColumns [4]*columnBuilder

// The columns of stamps, in their order within the family.
const (
	teamsColumn = iota
	groupsColumn
	kindColumn // "" if the inventory did not know the resource
	placeColumn
)

func (c *stampColumns) add(st *stamp) {
	for i, word := range [len(c)]string{
		teamsColumn: st.teams, groupsColumn: st.groups, kindColumn: st.kind,
		placeColumn: st.region,
	} {
		if c[i] == nil {
			c[i] = newColumn(0)
		}
		c[i].add(word)
	}
}

func (c *stampColumns) content() []byte {
	var out []byte
	for _, column := range c {
		out = column.append(out)
	}
	return out
}
