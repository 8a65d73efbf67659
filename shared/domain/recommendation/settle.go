package recommendation

import (
	"context"
	"errors"
	"slices"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Settled counts the work of a pass.
type Settled struct {
	Findings  int `json:"findings"`
	Unchanged int `json:"unchanged"` // true or false as before
	Unknown   int `json:"unknown"`
	Opened    int `json:"opened"` // by status that the changed row has now
	Dismissed int `json:"dismissed,omitempty"`
	Applied   int `json:"applied,omitempty"`
	Optimised int `json:"optimised"`
	Candidate int `json:"candidate"`
	Changed   int `json:"changed"` // open before and after, with another content or another count
}

// Add sums counts.
func (s *Settled) Add(o Settled) {
	s.Findings += o.Findings
	s.Unchanged += o.Unchanged
	s.Unknown += o.Unknown
	s.Opened += o.Opened
	s.Dismissed += o.Dismissed
	s.Applied += o.Applied
	s.Optimised += o.Optimised
	s.Candidate += o.Candidate
	s.Changed += o.Changed
}

// Settling is one pass over recommendations, from Begin to Confirm, for one goroutine. It may be killed at any call and
// repeated under the same Pass: rows and columns change in one transaction, and a row takes each pass once.
type Settling struct {
	store   *Store
	org     string
	pass    Pass
	columns *Columns
	rules   map[ulid.ULID][]string // by resource, the rules whose rows a false condition may change
	demoted map[string]bool
	waiting int // changes that wait to be folded, as far as the pass knows
}

// Begin starts a pass: it reads the columns. All findings of a pass are compared with the columns of this moment, and
// with the present rows where they differ.
func (s *Store) Begin(ctx context.Context, org string, p Pass) (*Settling, error) {
	c, l, err := s.open(ctx, org)
	if err != nil {
		return nil, err
	}
	t := &Settling{
		store: s, org: org, pass: p, columns: c, rules: map[ulid.ULID][]string{}, demoted: c.demoted(),
		waiting: len(l.deltas),
	}
	for i := range c.entries {
		e := &c.entries[i]
		if statusNames[e.status] != Optimised || e.has(countingFlag) {
			t.rules[e.resource] = append(t.rules[e.resource], c.names.rules[e.rule].id)
		}
	}
	return t, nil
}

// Settle is Begin, Settling.Settle and Settling.Confirm for all findings of one shard: for callers that hold them in
// memory. A rule and resource without a finding stays as it is.
func (s *Store) Settle(ctx context.Context, org string, shard int, p Pass, findings []Finding) (Settled, error) {
	t, err := s.Begin(ctx, org, p)
	if err != nil {
		return Settled{}, err
	}
	out, err := t.Settle(ctx, findings)
	if err != nil {
		return out, err
	}
	return out, t.Confirm(ctx, shard)
}

// RulesOf returns the rules that have a row for the resource which a false condition may change. A caller needs to pass
// False findings of these rules only.
func (t *Settling) RulesOf(resourceID string) []string {
	u, ok := parseULID(resourceID)
	if !ok {
		return nil
	}
	return t.rules[u]
}

// transactionRows is how many rows one transaction changes, beside one change of the columns.
const transactionRows = 40

// settlesAtOnce is how many transactions run at the same time.
const settlesAtOnce = 4

// Settle compares findings with the stored rows, and writes only what has changed. It may be called for any part of the
// findings of a pass. A pass should pass each rule and resource once; the first finding counts.
func (t *Settling) Settle(ctx context.Context, findings []Finding) (Settled, error) {
	out := Settled{Findings: len(findings)}
	todo := make([]Finding, 0, len(findings))
	had := make(map[string]bool, len(findings))
	for i := range findings {
		f := findings[i]
		if err := f.check(); err != nil {
			return out, err
		}
		if t.demoted[f.RuleID] {
			f.Severity = Info
		}
		id := IDOf(f.Resource.ResourceID, f.Resource.ResourceUID, f.RuleID)
		switch {
		case f.Outcome == Unknown:
			out.Unknown++
		case had[id] || t.isUnchanged(id, &f):
			out.Unchanged++
		default:
			had[id] = true
			todo = append(todo, f)
		}
	}
	if err := t.write(ctx, todo, &out); err != nil {
		return out, err
	}
	t.waiting += (len(todo) + transactionRows - 1) / transactionRows
	if t.waiting <= manyDeltas {
		return out, nil
	}
	t.waiting = 0
	return out, t.store.Fold(ctx, t.org)
}

// isUnchanged reports whether the columns show that a finding changes nothing.
func (t *Settling) isUnchanged(id string, f *Finding) bool {
	u, _ := parseULID(id)
	i, ok := t.columns.find(u)
	if !ok {
		return f.Outcome != True
	}
	e := &t.columns.entries[i]
	if e.has(countingFlag) || f.Outcome == Booked { // columns do not say why a saving is unknown
		return false
	}
	switch statusNames[e.status] {
	case Optimised, Candidate:
		return f.Outcome != True
	case Open:
		return f.Outcome == True && e.print == f.fingerprint() && e.showsSavings(f)
	default:
		return false
	}
}

// showsSavings reports whether an entry shows the savings and the severity of a finding.
func (e *entry) showsSavings(f *Finding) bool {
	if f.Savings.Later {
		return f.isStored(e)
	}
	return Severities[e.severity] == f.Severity && !movedCents(e, &f.Savings)
}

// movedCents is moved for an entry. It is as exact as cents are; a row decides the rest.
func movedCents(e *entry, s *Savings) bool {
	net := *e
	net.net, net.more = 0, nil
	net.takeSavings(&Row{Savings: *s})
	for _, d := range [][2]int64{{e.net, net.net}, {e.gross, cents(s.Gross)}} {
		was, by := d[0], max(d[1]-d[0], d[0]-d[1])
		if by > 100*changeUSD && by*changePer > was {
			return true
		}
	}
	return false
}

// write writes the rows of findings that may have changed, in parallel transactions.
func (t *Settling) write(ctx context.Context, todo []Finding, out *Settled) error {
	var g errgroup.Group
	g.SetLimit(settlesAtOnce)
	counts := make([]Settled, (len(todo)+transactionRows-1)/transactionRows)
	n := 0
	for some := range slices.Chunk(todo, transactionRows) {
		count := &counts[n]
		n++
		g.Go(func() error { return t.writeSome(ctx, some, count) })
	}
	err := g.Wait()
	for i := range counts {
		out.Add(counts[i])
	}
	return err
}

// settleTries bounds how often a transaction starts over because a person changed one of its rows.
const settleTries = 8

func (t *Settling) writeSome(ctx context.Context, some []Finding, count *Settled) error {
	for range settleTries {
		c, err := t.compare(ctx, some)
		if err != nil {
			return err
		}
		if len(c.rows) == 0 {
			*count = c.count
			return nil
		}
		err = t.store.writeRows(ctx, t.org, c.olds, c.rows)
		if err == nil {
			*count = c.count
			return nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return err
		}
	}
	return fault.New(fault.Conflict,
		"recommendations of %s: their rows were changed by others %d times; evaluate again", t.org, settleTries)
}

// versionOf returns the version of a row in the columns, 0 for none. A row that has expired may still be in the
// columns; its next version must be higher.
func (c *Columns) versionOf(recID string) int {
	u, _ := parseULID(recID)
	if i, ok := c.find(u); ok {
		return int(c.entries[i].version)
	}
	return 0
}

// comparison is the rows that findings change.
type comparison struct {
	olds, rows []Row
	count      Settled
}

func (t *Settling) compare(ctx context.Context, some []Finding) (comparison, error) {
	var out comparison
	ids := make([]string, len(some))
	for i := range some {
		f := &some[i]
		ids[i] = IDOf(f.Resource.ResourceID, f.Resource.ResourceUID, f.RuleID)
	}
	stored, err := t.store.ReadRows(ctx, t.org, ids)
	if err != nil {
		return out, err
	}
	for i := range some {
		old := stored[ids[i]]
		next, changed := Advance(old, &some[i], t.pass)
		if !changed {
			out.count.Unchanged++
			continue
		}
		next.Version = max(next.Version, t.columns.versionOf(ids[i])+1)
		out.olds, out.rows = append(out.olds, old), append(out.rows, next)
		out.count.countChange(old.Status, next.Status)
	}
	return out, nil
}

func (s *Settled) countChange(from, to Status) {
	switch {
	case from == to && to != Candidate:
		s.Changed++
	case to == Open:
		s.Opened++
	case to == Dismissed:
		s.Dismissed++
	case to == Applied:
		s.Applied++
	case to == Optimised:
		s.Optimised++
	default:
		s.Candidate++
	}
}
