package recommendations

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// RecommendationSummary is the sums and counts of recommendations.
type RecommendationSummary struct {
	Gross        string          `json:"gross" doc:"USD a month"`
	Net          string          `json:"net" doc:"USD a month"`
	Realistic    string          `json:"realistic" doc:"USD a month"`
	Open         int             `json:"open"`
	Alternatives int             `json:"alternatives" doc:"Open ones that count 0 because a stronger one is open"`
	ByStatus     map[string]int  `json:"byStatus"`
	BySeverity   map[string]int  `json:"bySeverity" doc:"Of the open ones"`
	ByCategory   map[string]int  `json:"byCategory" doc:"Of the open ones"`
	ByProvider   map[string]int  `json:"byProvider" doc:"Of the open ones"`
	Unknown      []UnknownReason `json:"unknown" doc:"Why rules could not be decided, most resources first"`
	Opinions     OpinionCounts   `json:"opinions" doc:"The cloud providers' own recommendations, compared with ours"`
}

// UnknownReason is a reason why rules could not be decided.
type UnknownReason struct {
	Reason    string `json:"reason" example:"denied"`
	Resources int    `json:"resources" doc:"Counted once for each rule and missing fact"`
}

func (s *service) summarize(ctx context.Context, _ *struct{}) (RecommendationSummary, error) {
	c := identity.CallerFrom(ctx)
	r, o := &readings{service: s, caller: c}, &opinionReading{service: s, caller: c}
	var g errgroup.Group
	g.Go(func() error { return r.read(ctx, true) })
	g.Go(func() error { return o.readComparison(ctx) })
	if err := g.Wait(); err != nil {
		return RecommendationSummary{}, err
	}
	o.view = r.view
	sums := r.view.Sums()
	return RecommendationSummary{
		Gross: sums.Gross.Fixed(2), Net: sums.Net.Fixed(2), Realistic: sums.Net.Mul(r.realism).Fixed(2),
		Open: sums.ByStatus[recommendation.Open], Alternatives: sums.Alternatives,
		ByStatus: counted(sums.ByStatus), BySeverity: counted(sums.BySeverity), ByCategory: sums.ByCategory,
		ByProvider: sums.ByProvider, Unknown: reasons(r.counts), Opinions: o.counts(),
	}, nil
}

// readings is what the summary and the rules are made of.
type readings struct {
	*service
	caller  identity.Caller
	view    *recommendation.View
	rules   *recommendation.RuleSet    // for the rules alone
	counts  []recommendation.RuleCount // none if the caller has a grant on teams or resources
	realism money.Amount
}

// read reads all of it side by side: a round trip each, and one more for the inventory if the caller has a grant on
// teams or resources.
func (r *readings) read(ctx context.Context, withRealism bool) error {
	scopes := r.caller.Scopes(reading)
	var g errgroup.Group
	g.Go(func() (err error) {
		r.view, err = r.store.View(ctx, r.caller.Org, scopes, false)
		return err
	})
	if scopes.All {
		g.Go(func() (err error) {
			r.counts, err = r.store.ReadCounts(ctx, r.caller.Org)
			return err
		})
	}
	if !withRealism {
		g.Go(func() (err error) {
			r.rules, err = r.store.ReadRules(ctx, r.caller.Org)
			return err
		})
	}
	if withRealism {
		g.Go(func() (err error) {
			r.realism, err = r.service.realism(ctx)
			return err
		})
	}
	return g.Wait()
}

// realism returns savingsRealism of the caller's organization. One round trip.
func (s *service) realism(ctx context.Context) (money.Amount, error) {
	org := identity.CallerOrg(ctx)
	key := identity.OrganisationKey(org)
	got, err := s.p.Table.BatchGet(ctx, key)
	if err != nil {
		return money.Amount{}, fault.Wrap("read savingsRealism of "+org, err)
	}
	return realismOf(org, got[key])
}

// realismOf returns savingsRealism of an organization by its record.
func realismOf(org string, it table.Item) (money.Amount, error) {
	var o identity.OrganisationRecord
	if it.Data != nil {
		var err error
		if o, err = table.Decode[identity.OrganisationRecord](it); err != nil {
			return money.Amount{}, fault.Wrap("read savingsRealism of "+org, err)
		}
	}
	return money.FromFloat(o.Preferences().SavingsRealism)
}

// counted returns counts by the text of their key.
func counted[K ~string](m map[K]int) map[string]int {
	out := make(map[string]int, len(m))
	for k, n := range m {
		out[string(k)] = n
	}
	return out
}

// reasons adds up the missing facts by their reason.
func reasons(counts []recommendation.RuleCount) []UnknownReason {
	sums := map[string]int{}
	for i := range counts {
		for _, m := range counts[i].Missing {
			sums[m.Reason] += m.Resources
		}
	}
	out := make([]UnknownReason, 0, len(sums))
	for reason, n := range sums {
		out = append(out, UnknownReason{reason, n})
	}
	slices.SortFunc(out, func(a, b UnknownReason) int {
		return cmp.Or(cmp.Compare(b.Resources, a.Resources), strings.Compare(a.Reason, b.Reason))
	})
	return out
}
