package recommendation

import (
	"encoding/binary"
	"errors"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
)

// errSegment says that encode did not write this segment.
var errSegment = errors.New("recommendations: malformed columns")

// minEntryBytes is the least size of an entry: two ids, and one byte in each column.
const minEntryBytes = 2*len(ulid.ULID{}) + columnCount

// decodeItem reads a stored segment.
func decodeItem(it table.Item) (*segment, error) {
	b, err := unpackItem(it)
	if err != nil {
		return nil, err
	}
	s, err := decodeSegment(b)
	if err != nil {
		return nil, &table.DamageError{Key: it.Key, Err: err}
	}
	return s, nil
}

// decodeSegment reads an unpacked segment. It reads no more than b, whatever b says.
func decodeSegment(b []byte) (*segment, error) {
	if len(b) == 0 || b[0] != segmentFormat {
		return nil, errSegment
	}
	r := &reader{b: b[1:]}
	s := newSegment()
	for range r.count(5) {
		s.names.placeNumber(place{r.text(), r.text(), r.text(), r.text(), r.text()})
	}
	for range r.count(3) {
		s.names.ruleNumber(ruleName{r.text(), r.text(), r.text()})
	}
	for range r.count(2) {
		shard := r.uint()
		s.confirmed[int(shard)] = int64(r.uint())
	}
	s.entries = make([]entry, r.count(minEntryBytes))
	r.entries(s)
	if r.failed || len(r.b) > 0 {
		return nil, errSegment
	}
	return s, nil
}

// reader reads what a writer wrote. After a failure it returns zeros.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) fail() {
	r.b, r.failed = nil, true
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads the number of elements that take at least size bytes each.
func (r *reader) count(size int) int {
	v := r.uint()
	if v > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(v)
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) text() string { return string(r.bytes(r.uint())) }

func (r *reader) ulid() (u ulid.ULID) {
	copy(u[:], r.bytes(uint64(len(u))))
	return u
}

func (r *reader) entries(s *segment) {
	for i := range s.entries {
		s.entries[i].id = r.ulid()
	}
	for i := range s.entries {
		s.entries[i].resource = r.ulid()
	}
	rows := make([][columnCount]uint64, len(s.entries))
	for c := range columnCount {
		for i := range rows {
			rows[i][c] = r.uint()
		}
	}
	for i := range s.entries {
		s.entries[i].fill(&rows[i])
		if s.entries[i].isForeign(s.names) {
			r.fail()
			return
		}
		r.extras(&s.entries[i], rows[i][columnCount-1])
	}
}

// fill sets the numbers of an entry, in the order of entry.numbers.
func (e *entry) fill(n *[columnCount]uint64) {
	e.place, e.rule, e.gross, e.net = uint32(n[0]), uint32(n[1]), int64(n[2]), int64(n[3])
	e.cost, e.realized, e.updated, e.until = int64(n[4]), int64(n[5]), int64(n[6]), int64(n[7])
	e.ended, e.print, e.version, e.status = int64(n[8]), uint32(n[9]), uint32(n[10]), uint8(n[11])
	e.severity, e.strength, e.reason, e.flags = uint8(n[12]), uint8(n[13]), uint8(n[14]), uint8(n[15])
}

// isForeign reports whether a number of the entry names nothing, or is out of range.
func (e *entry) isForeign(n *names) bool {
	return int(e.place) >= len(n.places) || int(e.rule) >= len(n.rules) || int(e.status) >= len(statusNames) ||
		int(e.severity) >= len(Severities) || int(e.reason) >= len(reasonNames) ||
		e.strength >= uint8(strengthsCount) || min(e.gross, e.net, e.cost, e.realized, e.updated, e.until, e.ended) < 0
}

func (r *reader) extras(e *entry, claims uint64) {
	if claims > MaxClaims {
		r.fail()
		return
	}
	for range claims {
		c := claim{r.ulid(), int64(r.uint()), int64(r.uint())}
		if min(c.cents, c.cost) < 0 {
			r.fail()
			return
		}
		e.extra().claims = append(e.extra().claims, c)
	}
	if e.has(inlineFlag) {
		e.extra().uid, e.extra().name = r.text(), r.text()
	}
}
