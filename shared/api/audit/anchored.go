package audit

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Anchored is the row of a chain that was recorded outside of the table at a time.
type Anchored struct {
	Seq  int64
	Hash string
	At   time.Time // of the anchor
	// Explained says that the operator has recorded a restore of the service after the anchor, so the chain may lack
	// the row.
	Explained bool
}

// The states of a comparison with an anchor.
const (
	NoAnchor         = "none"
	AnchorHolds      = "holds"
	AnchorAhead      = "ahead"
	AnchorPassed     = "passed"
	AnchorBroken     = "broken"
	AnchorRestored   = "restored"
	AnchorUnknown    = "unavailable"
	noAnchorYet      = "the organization has no anchor yet: one is made each night, from the first night with a row"
	anchorAhead      = "the anchored row comes in a later part: send next as cursor"
	anchorUnreached  = "the chain breaks before the anchored row"
	anchorPassed     = "the anchored row came before the cursor: a verification from the first row compares it"
	anchorsUnreached = "the anchors cannot be read now: try again; the chain was verified without them"
)

// Anchor is the comparison of a chain with its last anchor.
type Anchor struct {
	State string     `json:"state" enum:"none,holds,ahead,passed,broken,restored,unavailable" doc:"none: no anchor yet; holds: the chain has the anchored row; ahead: a later part has it; passed: an earlier part has it; broken: the row is missing or altered; restored: the row is missing because of a restore that the operator has recorded; unavailable: anchors cannot be read now"`
	At    *time.Time `json:"at" doc:"Time of the anchor; null if there is none"`
	Seq   int64      `json:"seq" doc:"Number of the anchored row; 0 if there is none"`
	Hash  string     `json:"hash" doc:"Hash of the anchored row; empty if there is none"`
	Why   string     `json:"why" doc:"The reason for the state; empty if the anchor holds"`
}

// comparison compares a chain with its anchor while it is verified.
type comparison struct {
	with  *Anchored
	state string
	why   string
}

// newComparison starts a comparison at a cursor, or at the first row.
func newComparison(with *Anchored, from *Cursor) comparison {
	c := comparison{with: with, state: AnchorAhead, why: anchorAhead}
	switch {
	case with == nil:
		c.state, c.why = NoAnchor, noAnchorYet
	case from != nil && from.Seq > with.Seq:
		c.state, c.why = AnchorPassed, anchorPassed
	}
	return c
}

// compareRow compares the row that the walk has reached.
func (c *comparison) compareRow(w *Walk) *Break {
	if c.state != AnchorAhead || w.Last != c.with.Seq {
		return nil
	}
	if w.Hash == c.with.Hash {
		c.state, c.why = AnchorHolds, ""
		return nil
	}
	return c.mismatch(c.with.Seq,
		fmt.Sprintf("row %d is not the row that was anchored at %s: the log was rewritten, or "+
			"an older copy of the store was put back", c.with.Seq, c.with.At.Format(time.RFC3339)))
}

// compareEnd compares the end of the chain.
func (c *comparison) compareEnd(w *Walk) *Break {
	if c.state != AnchorAhead || w.Last >= c.with.Seq {
		return nil
	}
	return c.mismatch(w.Last+1,
		fmt.Sprintf("the chain ends with row %d, and row %d was anchored at %s: the last rows were "+
			"cut off, or an older copy of the store was put back", w.Last, c.with.Seq, c.with.At.Format(time.RFC3339)))
}

// wayOut is the last sentence of a mismatch.
const wayOut = ". If the operator has restored the service, the restore must be recorded with its epoch " +
	"(docs/operations/restore.md)"

// mismatch records a mismatch. It is a break of the chain unless a recorded restore explains it.
func (c *comparison) mismatch(seq int64, why string) *Break {
	if c.with.Explained {
		c.state, c.why = AnchorRestored,
			why+". The operator has recorded a restore after that; the next night anchors "+
				"the chain as it is now"
		return nil
	}
	c.state, c.why = AnchorBroken, why+wayOut
	return &Break{Seq: seq, Why: c.why}
}

// result returns the comparison for clients.
func (c *comparison) result(broken bool) Anchor {
	out := Anchor{State: c.state, Why: c.why}
	if c.with != nil {
		out.At, out.Seq, out.Hash = &c.with.At, c.with.Seq, c.with.Hash
	}
	if c.state == AnchorAhead && broken {
		out.Why = anchorUnreached
	}
	return out
}

// UnavailableAnchor returns the comparison when anchors cannot be read.
func UnavailableAnchor() Anchor { return Anchor{State: AnchorUnknown, Why: anchorsUnreached} }

// RowKey returns the key of a row of the chain.
func (p Place) RowKey(at time.Time, seq int64) table.Key {
	return table.Key{PK: p.PK, SK: sortKey(at, seq)}
}

// ErasuresPK returns the partition of the chain that records the erasure of organizations.
func ErasuresPK() string { return placeOf("", "").PK }

// EraseAction is the action of the row that records the erasure of an organization, whose ID is the target.
const EraseAction = "eraseOrganisation"
