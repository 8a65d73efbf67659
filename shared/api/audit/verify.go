package audit

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Verdict is the result of a verification.
type Verdict struct {
	Holds    bool      `json:"holds" doc:"All verified rows are unchanged, and none is missing between them"`
	Complete bool      `json:"complete" doc:"The end of the chain was reached; if false, send another request with next as cursor"`
	Rows     int64     `json:"rows" doc:"Number of verified rows"`
	FirstSeq int64     `json:"firstSeq" doc:"Number of the first verified row; 0 if there is none"`
	LastSeq  int64     `json:"lastSeq" doc:"Number of the last verified row, or of the row of the cursor"`
	Hash     string    `json:"hash" doc:"Hash of row lastSeq. Store both elsewhere: a later export that contains this hash proves that no row up to it was altered"`
	BrokenAt *Break    `json:"brokenAt" doc:"First wrong row; null if holds"`
	Restores []Restore `json:"restores" doc:"Verified rows that report a restore of the service to an earlier point"`
	Waiting  int64     `json:"waiting" doc:"Requests whose rows are not in the chain yet, usually because they are still running"`
	Next     string    `json:"next" doc:"Cursor after the last verified row; empty if complete"`
}

// readPage is the number of rows of one read. Together they have less than the megabyte that the store reads at a time.
const readPage = 1000

// verification is a running verification of a stored chain.
type verification struct {
	store table.Store
	place Place
	walk  Walk
	head  Head // the head when the verification started
}

// VerifyChain verifies a stored chain from the cursor or the beginning, until its end or until enough returns true, and
// compares its end with its head. Rows that are appended in the meantime do not disturb it.
func VerifyChain(ctx context.Context, s table.Store, at Place, from *Cursor, enough func(rows int64) bool) (Verdict,
	error,
) {
	v := &verification{store: s, place: at, walk: Walk{Whole: from == nil}}
	q := table.Query{PK: at.PK, Limit: readPage}
	q.From, q.To = AllRowKeys()
	if from != nil {
		v.walk = Walk{Last: from.Seq, At: from.At, Hash: from.Hash}
		q.From = from.After()
	}
	var err error
	if v.head, err = ReadHead(ctx, s, at); err != nil {
		return Verdict{}, err
	}
	if b := v.checkHead(); b != nil {
		return v.verdict(v.afterRestore(b)), nil
	}
	for {
		page, err := s.Query(ctx, q)
		if err != nil {
			return Verdict{}, fmt.Errorf("read audit rows of %s: %w", at.PK, err)
		}
		if b := v.verifyRows(page.Items); b != nil {
			return v.verdict(v.afterRestore(b)), nil
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		if enough(v.walk.Rows) {
			out := v.verdict(nil)
			out.Complete, out.Next = false, Cursor{v.walk.At, v.walk.Last, v.walk.Hash}.String()
			return out, nil
		}
	}
	return v.finish(ctx)
}

// verifyRows verifies a page.
func (v *verification) verifyRows(items []table.Item) *Break {
	for _, it := range items {
		s, err := DecodeStored(it)
		if err != nil {
			return &Break{Seq: v.walk.Last + 1, Why: err.Error()}
		}
		b := v.walk.Step(s)
		if b == nil && it.SK != sortKey(v.walk.At, v.walk.Last) {
			b = &Break{
				v.walk.Last, s.stringMember("id"),
				fmt.Sprintf("it lies at %q, where no row of its time and number belongs", it.SK),
			}
		}
		if b == nil {
			b = v.checkHead()
		}
		if b != nil {
			return b
		}
	}
	return nil
}

// checkHead compares the row that the head names with the head, when the verification reaches it.
func (v *verification) checkHead() *Break {
	if v.walk.Last == v.head.Seq && v.walk.Hash != v.head.Hash {
		return &Break{
			Seq: v.head.Seq,
			Why: "it is not the row that the head of the chain names: the end of the chain was altered",
		}
	}
	return nil
}

// finish compares the end of the rows with the head. All rows up to the head at the start must exist, and there can be
// none after the current head.
func (v *verification) finish(ctx context.Context) (Verdict, error) {
	if v.walk.Last < v.head.Seq {
		b := &Break{
			Seq: v.walk.Last + 1,
			Why: fmt.Sprintf("the chain ends before row %d, which its head names: the last rows are missing",
				v.head.Seq),
		}
		return v.verdict(b), nil
	}
	now, err := ReadHead(ctx, v.store, v.place)
	if err != nil {
		return Verdict{}, err
	}
	if v.walk.Last > now.Seq {
		b := &Break{
			Seq: now.Seq + 1,
			Why: fmt.Sprintf("it lies behind row %d, which the head of the chain names as the last: it was put in",
				now.Seq),
		}
		return v.verdict(v.afterRestore(b)), nil
	}
	if v.walk.Last == now.Seq && v.walk.Hash != now.Hash {
		v.head = now
		return v.verdict(v.checkHead()), nil
	}
	return v.verdict(nil), nil
}

// afterRestore adds to a break that the verification started after a row that a restore may have removed.
func (v *verification) afterRestore(b *Break) *Break {
	if !v.walk.Whole && v.walk.Rows == 0 && !v.head.Epoch.IsZero() {
		b.Why += fmt.Sprintf("; or the service was restored, at %s, to a point before the row that the cursor is of: "+
			"begin at the first row, "+
			"and restores says where", v.head.Epoch.Format(time.RFC3339))
	}
	return b
}

func (v *verification) verdict(b *Break) Verdict {
	return Verdict{
		Holds: b == nil, Complete: true, Rows: v.walk.Rows, FirstSeq: v.walk.First, LastSeq: v.walk.Last,
		Hash: v.walk.Hash, BrokenAt: b, Restores: append([]Restore{}, v.walk.Restores...),
	}
}

// AllRowKeys returns the bounds of the sort keys of all rows. They are digits; the head of a chain, which may be in the
// same partition, has letters.
func AllRowKeys() (low, high string) { return "0", ":" }

// WindowKeys returns the bounds of the sort keys of rows from one time until before another. A zero time means no
// bound.
func WindowKeys(from, to time.Time) (low, high string) {
	low, high = AllRowKeys()
	if !from.IsZero() {
		low = lowestKeyAt(from)
	}
	if !to.IsZero() {
		high = lowestKeyAt(to)
	}
	return low, high
}
