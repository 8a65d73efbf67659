package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Sealed is a row with all members that were read. Hashes cover all of them, so no member can be added without being
// detected.
type Sealed map[string]any

// ParseRow parses the JSON of a row.
func ParseRow(text []byte) (Sealed, error) {
	v, err := decodeJSON(text)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	return object, nil
}

// DecodeStored decodes a stored row. It does not repair damaged changes; the hash reveals them.
func DecodeStored(it table.Item) (Sealed, error) {
	s, err := ParseRow(it.Data)
	if err != nil {
		return nil, err
	}
	if v, err := decodeJSON([]byte(s.stringMember("changes"))); err == nil {
		s["changes"] = v
	}
	return s, nil
}

// Line returns the row as one line of JSON.
func (s Sealed) Line() []byte { return append(appendCanonical(nil, map[string]any(s)), '\n') }

// stringMember returns a string member, or "" if it is not a string.
func (s Sealed) stringMember(name string) string {
	v, _ := s[name].(string)
	return v
}

// rowNumber returns the number of the row, or 0 if it has none.
func (s Sealed) rowNumber() int64 {
	n, _ := s["seq"].(json.Number)
	seq, err := strconv.ParseInt(n.String(), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

// rowTime returns the time of the row, or the zero time if it has none.
func (s Sealed) rowTime() time.Time {
	at, err := time.Parse(time.RFC3339Nano, s.stringMember("at"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Break is the row where the verification of a chain failed.
type Break struct {
	Seq int64  `json:"seq" doc:"Number of the row, as stored"`
	ID  string `json:"id" doc:"ID of the row, as stored"`
	Why string `json:"why" doc:"The defect"`
}

// Restore is the row where a chain continues after the service was restored to an earlier point. The former rows from
// this number on were lost with the restore.
type Restore struct {
	Seq int64     `json:"seq" doc:"Number of the row that reports the restore; former rows with this or a higher number were lost"`
	At  time.Time `json:"at" doc:"Time of that row, after the restore"`
}

// maxRestores limits the restores that a walk records.
const maxRestores = 100

// Walk verifies a chain, row by row, from any start.
type Walk struct {
	Restores []Restore // reported by rows so far, at most 100
	Whole    bool      // the first row must be number 1
	Exported bool      // the rows are as clients see them: parts of some log-ins are withheld
	Withheld int64     // rows so far with withheld parts: their place in the chain is verified, their content is not
	Rows     int64     // number of rows so far
	First    int64     // number of the first
	Previous string    // previousHash of the first
	Last     int64     // number of the last
	At       time.Time // of the last
	Hash     string    // of the last
}

// Step verifies the next row. It returns a Break if the chain is broken there. The walk ends after a Break.
func (w *Walk) Step(s Sealed) *Break {
	why := w.findError(s)
	if why != "" {
		return &Break{Seq: s.rowNumber(), ID: s.stringMember("id"), Why: why}
	}
	if w.Rows == 0 {
		w.First, w.Previous = s.rowNumber(), s.stringMember("previousHash")
	}
	w.Rows++
	if w.Exported && s.isWithheld() && !s.hasValidHash() {
		w.Withheld++
	}
	if s.stringMember("action") == Restored && len(w.Restores) < maxRestores {
		w.Restores = append(w.Restores, Restore{s.rowNumber(), s.rowTime()})
	}
	w.Last, w.At, w.Hash = s.rowNumber(), s.rowTime(), s.stringMember("hash")
	return nil
}

// hashForm is the form of a hash. Other texts are not printed, because an export may come from anywhere.
var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// findError returns the reason why a row is wrong in its place, or "".
func (w *Walk) findError(s Sealed) string {
	if why := w.explainMisplaced(s.rowNumber()); why != "" {
		return why
	}
	previous := s.stringMember("previousHash")
	switch {
	case !s.hasValidHash() && !w.isExcused(s):
		return "its hash is not that of its content: it was altered"
	case !hashForm.MatchString(previous):
		return "its previousHash is not a hash"
	case w.Last > 0 && previous != w.Hash:
		return fmt.Sprintf("its previousHash is not the hash of row %d: one of the two was altered", w.Last)
	case (s.rowNumber() == 1) != (previous == genesis):
		return "its previousHash is not that of its number: the chain before it was cut off or made up"
	case s.rowTime().IsZero() || s.rowTime().Before(w.At):
		return "it is older than the row before it"
	}
	return s.reportedError()
}

// reportedError returns the defect that the row reports, or "".
func (s Sealed) reportedError() string {
	switch s.stringMember("action") {
	case EntryAltered:
		return "it says that an entry was altered while it waited for its place in the chain, or put in: " +
			s.stringMember("target")
	case EntryMissing:
		return "it says that an entry was taken away while it waited for its place in the chain: " +
			s.stringMember("target")
	}
	return ""
}

// isExcused reports whether the hash may differ from the content because parts of the row are withheld.
func (w *Walk) isExcused(s Sealed) bool {
	return w.Exported && s.isWithheld() && hashForm.MatchString(s.stringMember("hash"))
}

// hasValidHash reports whether the row's hash is that of its content.
func (s Sealed) hasValidHash() bool {
	content := map[string]any(maps.Clone(s))
	delete(content, "hash")
	return hashContent(content) == s.stringMember("hash")
}

// explainMisplaced returns the reason why no row with this number can follow, or "".
func (w *Walk) explainMisplaced(seq int64) string {
	switch {
	case seq < 1:
		return "it has no number"
	case w.Last == 0 && w.Whole && seq > 1:
		return "it is the first that there is: the rows before it are missing"
	case w.Last == 0:
		return ""
	case seq > w.Last+1:
		return fmt.Sprintf("it follows row %d: the rows between them are missing", w.Last)
	case seq <= w.Last:
		return fmt.Sprintf("it follows row %d: the order was changed, or a row was put in", w.Last)
	}
	return ""
}
