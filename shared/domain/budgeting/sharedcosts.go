package budgeting

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// maxComparedTags is how many tag keys are compared with other scopes. Budgets of further keys are taken to share costs
// with every budget of another dimension.
const maxComparedTags = 4

// scope is a value of a cost dimension.
type scope struct{ dim, value string }

func scopeOf(b *Budget) scope {
	dim, value := b.Dimension()
	return scope{dim, value}
}

// sharedCosts are the pairs of scopes that share costs.
type sharedCosts struct {
	pairs      map[[2]scope]bool
	uncompared map[string]bool // dimensions
}

// sharedCostReader asks for the costs that scopes share.
type sharedCostReader struct {
	ctx    context.Context //nolint:containedctx // of one call
	costs  *cost.Store
	org    string
	q      cost.Question       // without dimensions and filter
	values map[string][]string // of the compared scopes, by dimension
	found  sharedCosts
}

// find finds the pairs of scopes that share costs: one question for each pair of dimensions, and one for groups. It
// leaves out periods with a budget of the organization, whose scope contains all others.
func (r *sharedCostReader) find(byPeriod map[Period][]*State) error {
	for _, states := range byPeriod {
		if len(states) > 1 && !slices.ContainsFunc(states, func(st *State) bool { return st.Budget.ScopeType == Org }) {
			r.q.From = clock.Earliest(r.q.From, states[0].From)
			r.addScopes(states)
		}
	}
	dims := r.found.compared(r.values)
	for i, dim := range dims {
		for _, other := range dims[:i] {
			if err := r.comparePair(dim, other); err != nil {
				return err
			}
		}
	}
	if len(r.values[cost.GroupDim]) > 1 {
		return r.compareGroups()
	}
	return nil
}

func (r *sharedCostReader) addScopes(states []*State) {
	for _, st := range states {
		if dim, value := st.Budget.Dimension(); !slices.Contains(r.values[dim], value) {
			r.values[dim] = append(r.values[dim], value)
		}
	}
}

func (r *sharedCostReader) comparePair(dim, other string) error {
	q := r.q
	q.Dims, q.Daily = []string{dim, other}, true
	q.Filter = map[string][]string{dim: r.values[dim], other: r.values[other]}
	a, err := r.costs.Ask(r.ctx, r.org, q)
	r.found.addPairs(q.Dims, a.Rows)
	return fault.Wrap("read the costs that budgets share", err)
}

func (r *sharedCostReader) compareGroups() error {
	q := r.q
	q.Dims = []string{cost.ResourceDim, cost.GroupDim}
	q.Filter = map[string][]string{cost.GroupDim: r.values[cost.GroupDim]}
	a, err := r.costs.Ask(r.ctx, r.org, q)
	r.found.addGroups(a.Rows)
	return fault.Wrap("read the costs that groups share", err)
}

// compared returns the dimensions that are compared with each other, and notes the others.
func (s *sharedCosts) compared(values map[string][]string) []string {
	var tags, out []string
	for dim := range values {
		if strings.HasPrefix(dim, cost.TagDim) {
			tags = append(tags, dim)
		} else {
			out = append(out, dim)
		}
	}
	slices.Sort(tags)
	for _, dim := range tags[min(len(tags), maxComparedTags):] {
		s.uncompared[dim] = true
	}
	slices.Sort(out)
	return append(out, tags[:min(len(tags), maxComparedTags)]...)
}

// addPairs adds the pairs of values of two dimensions that have a cost on any day.
func (s *sharedCosts) addPairs(dims []string, rows []cost.Row) {
	for i := range rows {
		if rows[i].Days.HasAmount() {
			s.add(scope{dims[0], rows[i].Keys[0]}, scope{dims[1], rows[i].Keys[1]})
		}
	}
}

// addGroups adds the pairs of groups that a resource with costs belongs to.
func (s *sharedCosts) addGroups(rows []cost.Row) {
	of := map[string][]string{}
	for i := range rows {
		if resource, group := rows[i].Keys[0], rows[i].Keys[1]; !rows[i].Amount.IsZero() {
			for _, other := range of[resource] {
				s.add(scope{cost.GroupDim, group}, scope{cost.GroupDim, other})
			}
			of[resource] = append(of[resource], group)
		}
	}
}

func (s *sharedCosts) add(a, b scope) { s.pairs[[2]scope{a, b}], s.pairs[[2]scope{b, a}] = true, true }

// between reports whether two budgets of a period share costs. Different accounts, teams, resources and values of a tag
// never do: a cost that several teams own is split among them.
func (s *sharedCosts) between(a, b *Budget) bool {
	x, y := scopeOf(a), scopeOf(b)
	switch {
	case a.ScopeType == Org, b.ScopeType == Org, x == y:
		return true
	case x.dim != y.dim && (s.uncompared[x.dim] || s.uncompared[y.dim]):
		return true
	}
	return s.pairs[[2]scope{x, y}]
}
