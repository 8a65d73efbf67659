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

// Sealed is a row with every member that it was read with: hashes are taken of all that is there, so nothing can be put
// beside what is known.
type Sealed map[string]any

// ParseRow reads the JSON of a row.
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

// DecodeStored reads a row from the store. Changes that are damaged are left as they are: the hash tells.
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

// stringMember returns a member that is a string, "" when it is none.
func (s Sealed) stringMember(name string) string {
	v, _ := s[name].(string)
	return v
}

// rowNumber returns the number of the row, 0 when it has none.
func (s Sealed) rowNumber() int64 {
	n, _ := s["seq"].(json.Number)
	seq, err := strconv.ParseInt(n.String(), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

// rowTime returns the time of the row, the zero time when it has none.
func (s Sealed) rowTime() time.Time {
	at, err := time.Parse(time.RFC3339Nano, s.stringMember("at"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Break is where a chain does not hold.
type Break struct {
	Seq int64  `json:"seq" doc:"The number of the row, as it stands there"`
	ID  string `json:"id" doc:"The row, as it stands there"`
	Why string `json:"why" doc:"What is wrong with it"`
}

// Restore is where a chain goes on in another way since the service was restored to an earlier point: the rows that had this
// number and higher ones before went with the restore.
type Restore struct {
	Seq int64     `json:"seq" doc:"The row that says so; what had its number or a higher one before the restore is no more"`
	At  time.Time `json:"at" doc:"When that row was written, after the restore"`
}

// maxRestores bounds how many a walk remembers.
const maxRestores = 100

// Walk goes along a chain, row by row, from wherever it begins.
type Walk struct {
	Restores []Restore // that rows told of so far, 100 at most
	Whole    bool      // the first row must be number 1
	Exported bool      // the rows are as they are shown: of some of a sign-in, something is withheld
	Withheld int64     // rows so far whose content is not proved because of that; their place in the chain is
	Rows     int64     // seen so far
	First    int64     // number of the first
	Previous string    // previousHash of the first
	Last     int64     // number of the last
	At       time.Time // of the last
	Hash     string    // of the last
}

// Step takes the next row; a Break is why the chain does not hold there. After a Break, the walk is over.
func (w *Walk) Step(s Sealed) *Break {
	why := w.wrong(s)
	if why != "" {
		return &Break{Seq: s.rowNumber(), ID: s.stringMember("id"), Why: why}
	}
	if w.Rows == 0 {
		w.First, w.Previous = s.rowNumber(), s.stringMember("previousHash")
	}
	w.Rows++
	if w.Exported && s.withheld() && !s.proves() {
		w.Withheld++
	}
	if s.stringMember("action") == Restored && len(w.Restores) < maxRestores {
		w.Restores = append(w.Restores, Restore{s.rowNumber(), s.rowTime()})
	}
	w.Last, w.At, w.Hash = s.rowNumber(), s.rowTime(), s.stringMember("hash")
	return nil
}

// hashForm is what a hash looks like. What is none is not shown to anybody: an export may come from anywhere.
var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// wrong returns what is wrong with a row where it stands, "" for nothing.
func (w *Walk) wrong(s Sealed) string {
	if why := w.misplaced(s.rowNumber()); why != "" {
		return why
	}
	previous := s.stringMember("previousHash")
	switch {
	case !s.proves() && !w.excuses(s):
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
	return s.reports()
}

// reports returns what the row says that was wrong before it was written, "" for nothing.
func (s Sealed) reports() string {
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

// excuses reports whether the row, whose content has not its hash, is one of which something is withheld.
func (w *Walk) excuses(s Sealed) bool {
	return w.Exported && s.withheld() && hashForm.MatchString(s.stringMember("hash"))
}

// proves reports whether the row has the hash of its content.
func (s Sealed) proves() bool {
	content := map[string]any(maps.Clone(s))
	delete(content, "hash")
	return hashContent(content) == s.stringMember("hash")
}

// misplaced returns why no row of this number can follow, "" where one can.
func (w *Walk) misplaced(seq int64) string {
	switch {
	case seq < 1:
		return "it has no number"
	case w.Last == 0 && w.Whole && seq > 1:
		return "it is the first that there is: the rows before it are missing"
	case w.Last == 0:
		return ""
	case seq > w.Last+1:
		return fmt.Sprintf("it follows row %d: what was between them is missing", w.Last)
	case seq <= w.Last:
		return fmt.Sprintf("it follows row %d: the order was changed, or a row was put in", w.Last)
	}
	return ""
}
