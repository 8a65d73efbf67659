package recommendation

import (
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/foundation/money"
)

// The statuses and dismissal reasons as numbers of the columns.
var (
	statusNames = []Status{Candidate, Open, Dismissed, Applied, Optimised}
	reasonNames = append([]string{""}, DismissalReasons...)
)

// The flags of an entry.
const (
	countingFlag = 1 << iota // the row counts false evaluations, or has the first day of a candidate
	inlineFlag               // the texts of the resource are in the entry: it is not in the inventory
	realizedFlag             // a saving was measured
	boundFlag                // the saving is a bound: it is shown and counts 0
	jointFlag                // its claims add up with those of others: see settleJoint
)

// entry is one row in the columns: what lists filter, sort, count and sum by.
type entry struct {
	id       ulid.ULID
	resource ulid.ULID
	place    uint32 // number of a place
	rule     uint32 // number of a ruleName
	gross    int64  // cents a month
	net      int64  // cents a month, of the own resource or of all claims
	cost     int64  // cents a month, of the own resource
	realized int64  // cents a month
	updated  int64  // Unix milliseconds
	until    int64  // Unix milliseconds: the end of the dismissal; 0 for none
	ended    int64  // Unix milliseconds
	print    uint32 // fingerprint
	version  uint32
	status   uint8 // number in statusNames
	severity uint8 // rank
	strength uint8
	reason   uint8 // number in reasonNames
	flags    uint8
	more     *extras
}

// extras are what few entries have.
type extras struct {
	claims    []claim // empty: all of net arises at the own resource
	uid, name string  // with inlineFlag
}

// claim is a Claim of the columns.
type claim struct {
	bearer ulid.ULID // the resource where the charge arises
	cents  int64
	cost   int64
}

// place is what many rows have in common of their resources.
type place struct{ prefix, provider, kind, account, region string }

// ruleName is a rule in the columns.
type ruleName struct{ id, title, category string }

func (e *entry) statusAt(at int64) Status {
	if s := statusNames[e.status]; s != Dismissed || e.until == 0 || at < e.until {
		return s
	}
	return Open
}

// claims returns the claims of the entry; none: all of net arises at the own resource.
func (e *entry) claims() []claim {
	if e.more == nil {
		return nil
	}
	return e.more.claims
}

// extra returns the extras, to be changed.
func (e *entry) extra() *extras {
	if e.more == nil {
		e.more = &extras{}
	}
	return e.more
}

func (e *entry) has(flag uint8) bool { return e.flags&flag != 0 }

// expired reports whether the row of the entry is no longer kept at a time.
func (e *entry) expired(at time.Time) bool {
	switch statusNames[e.status] {
	case Optimised:
		return at.Sub(time.UnixMilli(e.ended)) > Keep
	case Candidate:
		return at.Sub(time.UnixMilli(e.updated)) > KeepCandidate
	default:
		return false
	}
}

// Counted returns a saving as lists and totals count it: in whole cents, towards zero.
func Counted(a money.Amount) money.Amount { return money.FromScaled(cents(a), 2) }

// cents returns a in whole cents, towards zero: what counts is never more than the bill.
func cents(a money.Amount) int64 {
	n, ok := a.Round(2).Scaled(2)
	if !ok {
		return 0
	}
	if money.FromScaled(n, 2).Cmp(a) > 0 {
		n--
	}
	return n
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// newEntry returns the entry of a row, with the numbers that names give to its place and its rule.
func newEntry(n *names, r *Row) entry {
	at, _ := parseULID(r.ResourceID)
	e := entry{
		id: rowULID(at, r.ResourceUID, r.RuleID), resource: at,
		place: n.placeNumber(place{prefixOf(r.ResourceID), r.Provider, r.ResourceType, r.CloudAccountID, r.Region}),
		rule:  n.ruleNumber(ruleName{r.RuleID, r.Title, r.Category}),
		gross: cents(r.Savings.Gross), cost: cents(r.Savings.Cost),
		updated: millis(r.UpdatedAt), ended: millis(r.EndedAt),
		print:   r.fingerprint(),
		version: uint32(r.Version), severity: uint8(max(0, r.Severity.Rank())), strength: uint8(r.Savings.Strength),
	}
	e.status = numberOf(statusNames, r.Status)
	e.takeSavings(r)
	if r.Dismissal != nil {
		e.until, e.reason = millis(r.Dismissal.Until), numberOf(reasonNames, r.Dismissal.Reason)
	}
	if r.Realized != nil {
		e.realized, e.flags = cents(r.Realized.USD), e.flags|realizedFlag
	}
	if r.Falses > 0 || r.TrueDay != "" {
		e.flags |= countingFlag
	}
	if prefixOf(r.ResourceID) != "res" || r.Ended == EndedGone {
		e.flags |= inlineFlag
		e.extra().uid, e.extra().name = r.ResourceUID, r.ResourceName
	}
	return e
}

// takeSavings sets what counts: a claim is at most the cost of its resource, if that is known, and a bound counts 0.
func (e *entry) takeSavings(r *Row) {
	if r.Savings.Form == FormRequests {
		e.flags |= jointFlag
	}
	if r.Savings.isBound() {
		e.flags |= boundFlag
		return
	}
	if len(r.Savings.Claims) == 0 {
		e.net = capped(cents(r.Savings.Net), e.cost)
		return
	}
	for _, c := range r.Savings.Claims {
		bearer, _ := parseULID(c.ResourceID)
		one := claim{bearer: bearer, cost: cents(c.Cost)}
		one.cents = capped(cents(c.USD), one.cost)
		e.extra().claims = append(e.extra().claims, one)
		e.net += one.cents
	}
}

func capped(n, cost int64) int64 {
	if cost > 0 {
		return min(n, cost)
	}
	return n
}

func numberOf[T comparable](names []T, v T) uint8 {
	for i, n := range names {
		if n == v {
			return uint8(i)
		}
	}
	return 0
}
