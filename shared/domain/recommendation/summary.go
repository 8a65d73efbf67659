package recommendation

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Sums are the sums and counts of recommendations. All but ByStatus are of the open ones.
type Sums struct {
	Gross        money.Amount // USD a month, before commitments and other recommendations
	Net          money.Amount // USD a month; each charge counts once
	Alternatives int          // open ones that count nothing because a stronger one is open
	ByStatus     map[Status]int
	BySeverity   map[Severity]int
	ByCategory   map[string]int
	ByProvider   map[string]int
}

// Sums adds up the recommendations of the view.
func (v *View) Sums() Sums {
	out := Sums{
		ByStatus: map[Status]int{}, BySeverity: map[Severity]int{}, ByCategory: map[string]int{},
		ByProvider: map[string]int{},
	}
	gross, net := int64(0), int64(0)
	v.each(func(i int, e *entry) {
		status := e.statusAt(v.now)
		out.ByStatus[status]++
		if status != Open {
			return
		}
		if !e.has(boundFlag) {
			gross += e.gross
		}
		net += v.sums.net[i]
		if v.sums.stronger[i] >= 0 {
			out.Alternatives++
		}
		out.BySeverity[Severities[e.severity]]++
		out.ByCategory[v.columns.names.rules[e.rule].category]++
		out.ByProvider[v.columns.names.places[e.place].provider]++
	})
	out.Gross, out.Net = money.FromScaled(gross, 2), money.FromScaled(net, 2)
	return out
}

// each calls f with the entries that the caller may see.
func (v *View) each(f func(i int, e *entry)) {
	for i := range v.columns.entries {
		if e := &v.columns.entries[i]; v.visible(e) {
			f(i, e)
		}
	}
}

// RuleSums are the recommendations of a rule.
type RuleSums struct {
	Open int
	Net  money.Amount // USD a month
}

// SumsByRule adds up the open recommendations of the view by rule.
func (v *View) SumsByRule() map[string]RuleSums {
	out := map[string]RuleSums{}
	v.each(func(i int, e *entry) {
		if e.statusAt(v.now) != Open {
			return
		}
		name := v.columns.names.rules[e.rule].id
		s := out[name]
		s.Open++
		s.Net = s.Net.Add(money.FromScaled(v.sums.net[i], 2))
		out[name] = s
	})
	return out
}

// Precisions returns the precision of each rule, over all recommendations of the organization.
func (v *View) Precisions() map[string]Precision { return v.columns.Precisions() }

// Find reads a recommendation in scopes: fault.NotFound if there is none. It takes two round trips side by side, and a
// third one if the scopes are not everything.
func (s *Store) Find(ctx context.Context, org, recID string, scopes grant.Scopes) (Item, error) {
	it, _, err := s.FindBeside(ctx, Wanted{Org: org, RecID: recID, Scopes: scopes})
	return it, err
}

// Wanted names a recommendation in scopes, and other items of its organization that are read in the same round trip.
type Wanted struct {
	Org    string
	RecID  string
	Scopes grant.Scopes
	Beside []table.Key
}

// FindBeside is Find, which also returns those of the other items that exist.
func (s *Store) FindBeside(ctx context.Context, w Wanted) (Item, map[table.Key]table.Item, error) {
	key, ok := Key(w.Org, w.RecID)
	if !ok {
		_, err := s.Read(ctx, w.Org, w.RecID)
		return Item{}, nil, err
	}
	var v *View
	var got map[table.Key]table.Item
	var g errgroup.Group
	g.Go(func() (err error) {
		v, err = s.View(ctx, w.Org, w.Scopes, false)
		return err
	})
	g.Go(func() (err error) {
		got, err = s.table.BatchGet(ctx, append([]table.Key{key}, w.Beside...)...)
		return fault.Wrap("read recommendation "+w.RecID, err)
	})
	if err := g.Wait(); err != nil {
		return Item{}, nil, err
	}
	row, err := shownRow(w.RecID, got[key])
	if err != nil {
		return Item{}, nil, err
	}
	it, err := v.find(&row)
	return it, got, err
}

// shownRow returns the row of an item: fault.NotFound for none, and for a candidate.
func shownRow(recID string, it table.Item) (Row, error) {
	missing := fault.New(fault.NotFound, "recommendation %.64q does not exist", recID)
	if it.Data == nil {
		return Row{}, missing
	}
	row, err := table.Decode[Row](it)
	if err == nil && row.Status == Candidate {
		return Row{}, missing
	}
	return row, err
}

// find returns a row as an item of the view, or fault.NotFound if the caller may not see it.
func (v *View) find(r *Row) (Item, error) {
	missing := fault.New(fault.NotFound, "recommendation %.64q does not exist", r.ID)
	resource, _ := parseULID(r.ResourceID)
	if v.in != nil && !v.in(resource) {
		return Item{}, missing
	}
	u, _ := parseULID(r.ID)
	i, ok := v.columns.find(u)
	if !ok { // written after the columns were read
		return Item{}, missing
	}
	return v.item(int32(i), r), nil
}

// Decide stores the decision of a person, and returns the row before and after it. It returns fault.NotFound, the
// errors of Decide, or fault.Conflict if others keep changing the row.
func (s *Store) Decide(ctx context.Context, org, recID string, d Decision) (before, after Row, err error) {
	return s.change(ctx, org, recID, rowChange{to: func(old Row) (Row, bool, error) { return Decide(old, d) }})
}

// Confirm stores a measured saving at its recommendation and in the ledger, in one transaction, and returns the row
// after it. To repeat it changes nothing.
func (s *Store) Confirm(ctx context.Context, org string, line *LedgerLine) (Row, error) {
	it, err := line.item(org)
	if err != nil {
		return Row{}, err
	}
	_, after, err := s.change(ctx, org, line.RecommendationID, rowChange{
		to: func(old Row) (Row, bool, error) {
			next, changed := Confirm(old, line.Realized())
			return next, changed, nil
		},
		with: []table.Write{table.Put(it)},
	})
	return after, err
}

// rowChange is a change of a row, and the writes that belong into its transaction.
type rowChange struct {
	to   func(Row) (next Row, changed bool, err error)
	with []table.Write
}

// changeTries bounds how often change starts over because another process was faster.
const changeTries = 4

func (s *Store) change(ctx context.Context, org, recID string, c rowChange) (before, after Row, err error) {
	for range changeTries {
		if before, err = s.Read(ctx, org, recID); err != nil {
			return before, before, err
		}
		next, changed, err := c.to(before)
		if err != nil || !changed {
			return before, before, err
		}
		err = s.writeRows(ctx, org, []Row{before}, []Row{next}, c.with...)
		if err == nil {
			return before, next, nil
		}
		if !fault.Is(err, fault.Conflict) {
			return before, before, err
		}
	}
	return before, before, fault.New(fault.Conflict,
		"recommendation %s was changed by others meanwhile; read it and try again", recID)
}
