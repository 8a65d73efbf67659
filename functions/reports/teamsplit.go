package reports

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// teamDays is the cost of a team by day, or as one sum: its direct cost, and its share of unowned costs.
type teamDays struct{ direct, shared []money.Amount }

func (t *teamDays) sum() money.Amount { return money.Sum(t.direct...).Add(money.Sum(t.shared...)) }

func (t *teamDays) days() []money.Amount { return report.AddDays(slices.Clone(t.direct), t.shared) }

// teamSplit is cost by team ID; the empty key is Unassigned.
type teamSplit struct {
	of       map[string]*teamDays
	answer   cost.Answer
	fellBack []string
	names    report.Labels
	rules    []report.ShowbackRule
	dims     []string  // of the answer
	changed  time.Time // when the resources of the teams were changed last
}

func (sp *teamSplit) team(id string, cells int) *teamDays {
	t := sp.of[id]
	if t == nil {
		t = &teamDays{make([]money.Amount, cells), make([]money.Amount, cells)}
		sp.of[id] = t
	}
	return t
}

// splitTeams splits costs over the existing teams and Unassigned, by day if daily is set. A caller with a limited
// scope gets no shares of unowned costs, because shares would reveal costs outside the scope.
func (s *service) splitTeams(ctx context.Context, q cost.Question, daily bool) (*teamSplit, error) {
	rules, err := s.rulesFor(ctx, &q)
	if err != nil {
		return nil, err
	}
	all, err := s.teams.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, fault.Wrap("read the names of teams", err)
	}
	return s.splitBy(ctx, q, daily, &teamSplit{
		names: report.Labels{cost.TeamDim: report.NamesOfTeams(all)}, rules: rules, changed: teamsDefinedAt(all, &q),
	})
}

// splitBy splits costs by the rules of sp over its known teams. q may name further dimensions.
func (s *service) splitBy(ctx context.Context, q cost.Question, daily bool, sp *teamSplit) (_ *teamSplit, err error) {
	sp.of = map[string]*teamDays{}
	rules, also := sp.rules, q.Dims
	if len(rules) == 0 && !daily {
		sp.answer, err = s.split(ctx, q, cost.TeamDim)
	} else {
		q.Daily, q.Dims = true, dimensionsOf(rules, also...)
		sp.answer, err = s.Ask(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	sp.dims = q.Dims
	sp.takeDirect(q.Within)
	sp.takeShares(rules, &q)
	return sp, s.Balanced(ctx, sp.check())
}

// rulesFor reads the rules that apply to a question. There are none if the caller has a limited scope or filters by
// team.
func (s *service) rulesFor(ctx context.Context, q *cost.Question) ([]report.ShowbackRule, error) {
	if q.Within != nil || q.Filter[cost.TeamDim] != nil {
		return nil, nil
	}
	saved, err := s.rules.List(ctx, identity.CallerOrg(ctx))
	return rulesOf(saved), err
}

func rulesOf(saved []report.SavedShowbackRule) []report.ShowbackRule {
	out := make([]report.ShowbackRule, len(saved))
	for i := range saved {
		out[i] = saved[i].Rule()
	}
	return out
}

// dimensionsOf returns the dimensions that a question needs to apply rules: the team first, then those of the
// selectors and also.
func dimensionsOf(rules []report.ShowbackRule, also ...string) []string {
	out := []string{cost.TeamDim}
	for _, dim := range append(report.ShowbackDimensions(rules), also...) {
		if !slices.Contains(out, dim) {
			out = append(out, dim)
		}
	}
	return out
}

// takeDirect adds the direct costs of each team. It includes teams without costs, if the caller may see them.
func (sp *teamSplit) takeDirect(within *cost.Within) {
	cells := max(len(sp.answer.Days), 1)
	sp.team("", cells)
	for id := range sp.names[cost.TeamDim] {
		if within == nil || slices.Contains(within.Teams.Teams, id) {
			sp.team(id, cells)
		}
	}
	for i := range sp.answer.Rows {
		r := &sp.answer.Rows[i]
		if t := sp.team(r.Keys[0], cells); r.Days.Len() == 0 {
			t.direct[0].Increase(&r.Amount)
		} else {
			r.Days.AddTo(t.direct)
		}
	}
}

// takeShares applies the rules to the unowned costs of each day. The share of a deleted team stays Unassigned.
func (sp *teamSplit) takeShares(rules []report.ShowbackRule, q *cost.Question) {
	if len(rules) == 0 {
		return
	}
	for d := range sp.answer.Days {
		result := report.ApplyShowback(rules, sp.costsOf(d, q), sp.directOf(d))
		for id, part := range result.Teams {
			if sp.names[cost.TeamDim][id] == "" {
				continue
			}
			sp.of[id].shared[d].Increase(&part)
			sp.of[""].shared[d] = sp.of[""].shared[d].Sub(part)
		}
		for _, id := range result.FellBack {
			if !slices.Contains(sp.fellBack, id) {
				sp.fellBack = append(sp.fellBack, id)
			}
		}
	}
}

// costsOf returns the unowned costs of day d.
func (sp *teamSplit) costsOf(d int, q *cost.Question) []report.SharedCost {
	var out []report.SharedCost
	for i := range sp.answer.Rows {
		r := &sp.answer.Rows[i]
		if r.Keys[0] != "" {
			continue
		}
		amount := r.Days.At(d)
		if amount.IsZero() {
			continue
		}
		values := make(map[string]string, len(q.Dims))
		for n, dim := range q.Dims {
			values[dim] = r.Keys[n]
		}
		out = append(out, report.SharedCost{Day: q.From.AddDate(0, 0, d), Values: values, Amount: amount})
	}
	return out
}

func (sp *teamSplit) directOf(d int) map[string]money.Amount {
	out := make(map[string]money.Amount, len(sp.of))
	for id, t := range sp.of {
		if id != "" {
			out[id] = t.direct[d]
		}
	}
	return out
}

// check returns an error if the teams do not add up to the total on any day.
func (sp *teamSplit) check() error {
	var sum []money.Amount
	for _, t := range sp.of {
		sum = report.AddDays(sum, t.days())
	}
	if total := money.Sum(sum...); total != sp.answer.Total || len(sp.answer.Days) > 0 &&
		!slices.Equal(sum, sp.answer.Days) {
		return fault.New(fault.Internal, "the teams and nobody add up to %s, not to %s", total, sp.answer.Total)
	}
	return nil
}
