package reports

import (
	"context"
	"net/url"
	"slices"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// BreakdownNode is one value of a dimension, below the values of the preceding dimensions.
type BreakdownNode struct {
	ID          string  `json:"id" doc:"Its path" example:"total/aws/eu-west-1"`
	Dim         string  `json:"dim" doc:"Its dimension; empty of the total"`
	Value       *string `json:"value" doc:"Null where a charge has none, and of the total and of others"`
	Label       string  `json:"label" example:"aws"`
	CostUSD     string  `json:"costUSD" example:"12.34"`
	PreviousUSD *string `json:"previousUSD" doc:"Its cost in the previous period, with compare=true; null without, and if no day of that period has bills or estimates" example:"11.90"`
	Other       bool    `json:"other" doc:"All smaller values together"`
}

// BreakdownLink is the part of a node's cost that falls to one of its child nodes.
type BreakdownLink struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ValueUSD string `json:"valueUSD" example:"12.34"`
}

// Breakdown is the costs of a period as a tree, with one level for each dimension.
type Breakdown struct {
	Basis
	Dims  []string        `json:"dims"`
	Nodes []BreakdownNode `json:"nodes"`
	Links []BreakdownLink `json:"links"`
	// Previous is the period before, with compare=true.
	Previous *Previous `json:"previous" doc:"The period before, with compare=true: as many whole months, the same days of the month before, or as many days"`
}

// BreakdownInput holds the parameters of a breakdown. It is exported so that the framework sees its fields where it is
// embedded.
type BreakdownInput struct {
	report.Asked
	Dims  []string `query:"dims" maxItems:"6" doc:"The dimensions, one a level; service_name when left out" example:"provider"`
	Limit int      `query:"limit" minimum:"1" maximum:"1000" default:"25" doc:"How many values of a node are shown one by one"`
	// Compare asks for the costs of the previous period.
	Compare bool `query:"compare" doc:"true adds to each node its cost in the period before"`
}

// maxNodes is the most nodes of a breakdown, so that it fits into one answer.
const maxNodes = 5000

func (s *service) breakdown(ctx context.Context, in *BreakdownInput) (Breakdown, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Billed)
	if err != nil {
		return Breakdown{}, err
	}
	if q.Dims = in.Dims; len(q.Dims) == 0 {
		q.Dims = []string{cost.ServiceDim}
	}
	a, err := s.Ask(ctx, q)
	if err != nil {
		return Breakdown{}, err
	}
	t := tree{dims: q.Dims, limit: in.Limit}
	if in.Compare {
		if t.before, err = s.compare(ctx, q, &a); err != nil {
			return Breakdown{}, err
		}
	}
	if t.labels, err = s.labels.Read(ctx, q.Dims...); err != nil {
		return Breakdown{}, err
	}
	if err = t.grow(&a); err != nil {
		return Breakdown{}, err
	}
	b, err := s.basis(ctx, &q, &a)
	if err != nil {
		return Breakdown{}, err
	}
	return Breakdown{b, q.Dims, t.nodes, t.links, t.before.period()}, s.Balanced(ctx, t.check())
}

// tree builds a breakdown. shown holds the rounded amount of each node by node ID.
type tree struct {
	dims   []string
	limit  int
	labels report.Labels
	nodes  []BreakdownNode
	links  []BreakdownLink
	shown  map[string]money.Amount
	before *comparison // nil without one
}

// rootID is the ID of the node that contains all costs.
const rootID = "total"

// grow builds the nodes of an answer, level by level.
func (t *tree) grow(a *cost.Answer) error {
	total := a.Total.Round(2)
	t.shown = map[string]money.Amount{rootID: total}
	t.links = []BreakdownLink{}
	t.nodes = []BreakdownNode{{ID: rootID, Label: "Total", CostUSD: total.Fixed(2), PreviousUSD: t.before.total()}}
	return t.branch(rootID, 0, a.Rows)
}

// member is one value below a node, or the sum of all other values.
type member struct {
	value string
	other bool
	rows  []cost.Row
	sum   money.Amount
}

// branch adds the nodes of one level below parent from the rows of parent. Their rounded amounts add up to that of
// parent.
func (t *tree) branch(parent string, level int, rows []cost.Row) error {
	if level == len(t.dims) {
		return nil
	}
	members := t.members(level, rows)
	sums := make([]money.Amount, len(members))
	for i := range members {
		sums[i] = members[i].sum
	}
	before := t.before.parts(parent, members)
	for i, part := range money.RoundPartsTo(sums, t.shown[parent], 2) {
		m := &members[i]
		n := t.node(parent, level, m)
		n.CostUSD, t.shown[n.ID] = part.Fixed(2), part
		n.PreviousUSD = t.before.show(n.ID, before[i])
		t.nodes, t.links = append(t.nodes, n), append(t.links, BreakdownLink{parent, n.ID, n.CostUSD})
		if len(t.nodes) > maxNodes {
			return fault.New(fault.Invalid,
				"dims: the breakdown has more than %d nodes; ask for fewer dimensions, a smaller limit or a filter",
				maxNodes)
		}
		if err := t.branch(n.ID, level+1, m.rows); err != nil {
			return err
		}
	}
	return nil
}

// members groups the rows of a node by their value in a level, the largest first. The values after the limit become
// one member.
func (t *tree) members(level int, rows []cost.Row) []member {
	var out []member
	at := map[string]int{}
	for i := range rows {
		value := rows[i].Keys[level]
		n, had := at[value]
		if !had {
			n = len(out)
			at[value], out = n, append(out, member{value: value})
		}
		out[n].rows, out[n].sum = append(out[n].rows, rows[i]), out[n].sum.Add(rows[i].Amount)
	}
	slices.SortStableFunc(out, func(a, b member) int { return b.sum.Cmp(a.sum) })
	if len(out) <= t.limit {
		return out
	}
	rest := member{other: true}
	for _, m := range out[t.limit:] {
		rest.rows, rest.sum = append(rest.rows, m.rows...), rest.sum.Add(m.sum)
	}
	return append(slices.Clip(out[:t.limit]), rest)
}

func (t *tree) node(parent string, level int, m *member) BreakdownNode {
	n := BreakdownNode{
		ID: parent + "/" + url.PathEscape(m.value), Dim: t.dims[level],
		Label: t.labels.Of(t.dims[level], m.value), Other: m.other,
	}
	switch {
	case m.other:
		n.ID, n.Label = parent+"/?", "Other" // a path segment that no value has
	case m.value != "":
		n.Value = &m.value
	}
	return n
}

// check returns an error if the children of a node do not add up to the node.
func (t *tree) check() error {
	below := map[string]money.Amount{}
	for _, l := range t.links {
		below[l.Source] = below[l.Source].Add(t.shown[l.Target])
	}
	for id, sum := range below {
		if sum != t.shown[id] {
			return fault.New(fault.Internal, "the parts of %s add up to %s, not to %s", id, sum, t.shown[id])
		}
	}
	return nil
}
