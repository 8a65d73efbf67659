package cost

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The object of a checkpoint is a version and sections: the length of each, and its compressed content. The first
// section is a stateHead, the others are the words and then the lines of the Builder, so neither side holds a second
// copy of them. The restored Builder is equal to the saved one, including the order of its lines: that order decides
// which lines are folded.

// stateVersion is incremented by each change of the format.
const stateVersion = 1

// sectionBytes is the size of a section before it is compressed, exceeded by one word or line at most.
const sectionBytes = 4 << 20

// stateHead is the state of a Builder without words and lines.
type stateHead struct {
	Position    Position             `json:"position"`
	Items       LineItems            `json:"items"`
	Totals      map[string]*Totals   `json:"totals"`
	Own         map[string]ratedHead `json:"own,omitempty"`
	Shared      string               `json:"shared,omitempty"`
	Through     int                  `json:"through"`
	Late        int64                `json:"late,omitempty"`
	Corrections int64                `json:"corrections,omitempty"`
	Folded      int64                `json:"folded,omitempty"`
	Words       int                  `json:"words"`
	Lines       int                  `json:"lines"`
}

// ratedHead is an ownRate.
type ratedHead struct {
	USD money.Amount `json:"usd"`
	Day time.Time    `json:"day"`
}

// encodeState returns a function that writes the state of the Builder.
func (b *Builder) encodeState(items *LineItems, at Position) func(io.Writer) error {
	return func(to io.Writer) error {
		w := &sectionWriter{to: to}
		head, err := json.Marshal(b.stateHead(items, at))
		if err != nil {
			return fmt.Errorf("encode a checkpoint: %w", err)
		}
		if _, err = to.Write([]byte{stateVersion}); err != nil {
			return err
		}
		w.raw = head
		w.flush()
		for _, word := range b.lines.names[1:] {
			w.raw = appendText(w.raw, word)
			w.flushFull()
		}
		w.flush()
		for i := range b.lines.all {
			w.raw = b.lines.all[i].appendState(w.raw)
			w.flushFull()
		}
		w.flush()
		return w.err
	}
}

func (b *Builder) stateHead(items *LineItems, at Position) stateHead {
	head := stateHead{
		Position: at, Items: *items, Totals: b.totals, Shared: b.shared, Through: b.through, Late: b.late,
		Corrections: b.corrections, Folded: b.lines.folded, Words: len(b.lines.names) - 1, Lines: len(b.lines.all),
		Own: map[string]ratedHead{},
	}
	for currency, r := range b.own {
		head.Own[currency] = ratedHead{r.usd, r.day}
	}
	return head
}

// sectionWriter writes sections.
type sectionWriter struct {
	to     io.Writer
	raw    []byte
	packed []byte
	err    error
}

func (w *sectionWriter) flushFull() {
	if len(w.raw) >= sectionBytes {
		w.flush()
	}
}

func (w *sectionWriter) flush() {
	if w.err != nil || len(w.raw) == 0 {
		return
	}
	w.packed = compressor.Append(append(w.packed[:0], 0, 0, 0, 0), w.raw)
	binary.LittleEndian.PutUint32(w.packed, uint32(len(w.packed)-4)) //nolint:gosec // about sectionBytes
	_, w.err = w.to.Write(w.packed)
	w.raw = w.raw[:0]
}

// The forms of a series.
const (
	emptySeries = iota
	narrowSeries
	wideSeries
)

// appendState appends a line: its words, and the series of each metric.
func (l *line) appendState(b []byte) []byte {
	for _, word := range l.key {
		b = binary.AppendUvarint(b, uint64(word))
	}
	for m := range l.days {
		b = l.days[m].appendState(b)
	}
	return b
}

func (s *series) appendState(b []byte) []byte {
	switch {
	case s.len() == 0:
		return append(b, emptySeries)
	case s.wide != nil:
		b = append(b, wideSeries, byte(s.first), byte(s.places), byte(len(s.wide))) //nolint:gosec // days of a month
		for i := range s.wide {
			b = s.wide[i].AppendBinary(b)
		}
		return b
	}
	b = append(b, narrowSeries, byte(s.first), byte(s.places), byte(len(s.narrow))) //nolint:gosec // days of a month
	for _, n := range s.narrow {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// errState is the error of an object that is no state of this version.
var errState = errors.New("costs: malformed checkpoint")

// decodeState restores the state that r reads. After an error, call reset.
func (b *Builder) decodeState(r *stateReader) error {
	version, err := r.ReadByte()
	if err != nil || version != stateVersion {
		return errState
	}
	var head stateHead
	raw, err := r.section()
	if err != nil || json.Unmarshal(raw, &head) != nil {
		return errState
	}
	b.position, b.begun, b.totals, b.shared = head.Position, &head.Items, head.Totals, head.Shared
	b.through, b.late, b.corrections, b.lines.folded = head.Through, head.Late, head.Corrections, head.Folded
	for currency, o := range head.Own {
		if b.own == nil {
			b.own = map[string]ownRate{}
		}
		b.own[currency] = ownRate{o.USD, o.Day}
	}
	if err = b.decodeWords(r, head.Words); err == nil {
		err = b.decodeLines(r, head.Lines)
	}
	return err
}

func (b *Builder) decodeWords(r *stateReader, n int) error {
	var words scanner
	for range n {
		if err := r.refill(&words); err != nil {
			return err
		}
		if b.lines.intern(string(words.take(words.uint()))); words.bad {
			return errState
		}
	}
	if len(words.b) > 0 || len(b.lines.names) != n+1 {
		return errState
	}
	return nil
}

func (b *Builder) decodeLines(r *stateReader, n int) error {
	var in scanner
	b.lines.all = make([]line, 0, min(n, maxLines))
	for i := range n {
		if err := r.refill(&in); err != nil {
			return err
		}
		var l line
		for w := range l.key {
			l.key[w] = uint32(in.uint()) //nolint:gosec // compared below
			if int(l.key[w]) >= len(b.lines.names) {
				return errState
			}
		}
		for m := range l.days {
			l.days[m] = in.seriesState(b.in.Month.Days())
		}
		if in.bad {
			return errState
		}
		b.lines.at[l.key] = int32(i) //nolint:gosec // little more than maxLines
		b.lines.all = append(b.lines.all, l)
	}
	if len(in.b) > 0 || len(b.lines.at) != n {
		return errState
	}
	return nil
}

// seriesState reads a series of a month with so many days.
func (r *scanner) seriesState(days int) series {
	form := r.take(1)
	if r.bad || form[0] == emptySeries {
		return series{}
	}
	head := r.take(3)
	if r.bad || int(head[0])+int(head[2]) > days || int(head[1]) > money.Scale || form[0] > wideSeries {
		r.fail()
		return series{}
	}
	out, n := series{first: int(head[0]), places: int(head[1])}, int(head[2])
	if form[0] == wideSeries {
		out.wide = r.wide(n, 0)
	} else {
		out.narrow = r.narrow(make([]int64, n), 0)
	}
	return out
}
