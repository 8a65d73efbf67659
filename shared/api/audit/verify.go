package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	Anchor   Anchor    `json:"anchor" doc:"Comparison with the last anchor: the row that was the last one at a night, recorded outside of the service's store"`
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
	comparison
}

// VerifyChain is VerifyAnchored without an anchor.
func VerifyChain(ctx context.Context, s table.Store, at Place, from *Cursor, enough func(rows int64) bool) (Verdict,
	error,
) {
	return VerifyAnchored(ctx, s, Verification{Place: at, From: from, Enough: enough})
}

// Verification selects what VerifyAnchored verifies.
type Verification struct {
	Place    Place
	From     *Cursor               // nil: from the first row
	Enough   func(rows int64) bool // ends the part of this call
	Anchored *Anchored             // nil: the chain has no anchor
}

// VerifyAnchored verifies a stored chain from the cursor or the beginning, until its end or until of.Enough returns
// true, and compares its end with its head and with its anchor. Rows that are appended in the meantime do not disturb
// it. A row, or a head, that cannot be read because it is damaged is a break of the chain and no error.
func VerifyAnchored(ctx context.Context, s table.Store, of Verification) (Verdict, error) {
	v := &verification{
		store: s, place: of.Place, walk: Walk{Whole: of.From == nil}, comparison: newComparison(of.Anchored, of.From),
	}
	if of.From != nil {
		v.walk = Walk{Last: of.From.Seq, At: of.From.At, Hash: of.From.Hash}
	}
	var err error
	if v.head, err = ReadHead(ctx, s, of.Place); err != nil {
		return v.judgeDamage(err)
	}
	if b := v.checkReached(); b != nil {
		return v.verdict(v.afterRestore(b)), nil
	}
	return v.verifyPages(ctx, of)
}

// verifyPages verifies the rows, a page at a time.
func (v *verification) verifyPages(ctx context.Context, of Verification) (Verdict, error) {
	q := table.Query{PK: of.Place.PK, Limit: readPage}
	q.From, q.To = AllRowKeys()
	if of.From != nil {
		q.From = of.From.After()
	}
	for {
		page, err := v.store.Query(ctx, q)
		if err != nil {
			return v.judgeDamage(fmt.Errorf("read audit rows of %s: %w", of.Place.PK, err))
		}
		if b := v.verifyRows(page.Items); b != nil {
			return v.verdict(v.afterRestore(b)), nil
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return v.finish(ctx)
		}
		if of.Enough(v.walk.Rows) {
			out := v.verdict(nil)
			out.Complete, out.Next = false, Cursor{v.walk.At, v.walk.Last, v.walk.Hash}.String()
			return out, nil
		}
	}
}

// checkReached compares the row that the walk has reached with the head and with the anchor.
func (v *verification) checkReached() *Break {
	if b := v.checkHead(); b != nil {
		return b
	}
	return v.compareRow(&v.walk)
}

// judgeDamage returns the verdict about a chain of which a stored item is damaged, and other errors as they are.
func (v *verification) judgeDamage(err error) (Verdict, error) {
	damage, ok := errors.AsType[*table.DamageError](err)
	if !ok {
		return Verdict{}, err
	}
	b := &Break{Seq: v.walk.Last + 1, Why: "the head of the chain cannot be read: it was altered in the store"}
	if damage.Key.PK == v.place.PK && damage.Key != v.place.Head {
		b.Why = fmt.Sprintf("the row at %q cannot be read: it was altered in the store", damage.Key.SK)
		if _, seq, found := strings.Cut(damage.Key.SK, "#"); found {
			b.Seq, _ = strconv.ParseInt(seq, 10, 64)
		}
	}
	return v.verdict(b), nil
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
			b = v.checkReached()
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
		return v.judgeDamage(err)
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
	return v.verdict(v.compareEnd(&v.walk)), nil
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
		Hash: v.walk.Hash, BrokenAt: b, Restores: append([]Restore{}, v.walk.Restores...), Anchor: v.result(b != nil),
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
