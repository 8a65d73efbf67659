package reports

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

const (
	tagReports = reports + "/tags"
	tagReport  = tagReports + "/{tagKey}"
	tagValue   = tagReport + "/values/{tagValue}/resources"
)

func (s *service) tagOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTagCosts", Method: http.MethodGet, Path: tagReports, Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List the tag coverage of costs",
		Description: "For each tag key, the cost of the tagged charges and its share of the total; the largest " +
			"first. A charge counts for each of its keys. The current month unless other days are requested." +
			effective + asked,
	}, s.tags)
	rest.Handle(g, rest.Op{
		ID: "listTagTrends", Method: http.MethodGet, Path: tagReports + "/trends", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List cost trends by tag value",
		Description: "The last 30 days, 12 weeks or 12 months, including the current one, unless days are " +
			"requested. The most expensive values are shown one by one, as many as limit says; all others together " +
			"are one entry with other true. Costs without a tag of the key are Unknown." + effective + asked,
	}, s.tagTrends)
	rest.Handle(g, rest.Op{
		ID: "getTagCosts", Method: http.MethodGet, Path: tagReport, Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List the costs of a tag's values",
		Description: "The most expensive first. Unknown, with the value null, is last: it holds the costs without " +
			"a tag of the key. All entries add up to totalUSD. The current month unless other days are requested." +
			effective + asked,
	}, s.tag)
	rest.Handle(g, rest.Op{
		ID: "listTagResourceCosts", Method: http.MethodGet, Path: tagValue, Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List the costs of a tag value's resources",
		Description: "The current month unless other days are requested; the most expensive first unless " +
			"sort_order says otherwise." + effective + asked,
	}, s.tagResources)
}

// TagCoverage is the cost with and without a tag key.
type TagCoverage struct {
	TagKey     string  `json:"tagKey" example:"env"`
	TaggedUSD  string  `json:"taggedUSD" example:"12.34"`
	UnknownUSD string  `json:"unknownUSD" doc:"The costs without a tag of the key"`
	Coverage   float64 `json:"coverage" doc:"Percent of the total" example:"81.5"`
}

// TagCoverages is the cost with and without each tag key.
type TagCoverages struct {
	Basis
	UntaggedUSD string        `json:"untaggedUSD" doc:"The costs without any tag"`
	Items       []TagCoverage `json:"items"`
}

// maxTagKeys is the most keys in an answer, those with the largest costs.
const maxTagKeys = 500

func (s *service) tags(ctx context.Context, in *report.Asked) (TagCoverages, error) {
	q, err := s.Question(ctx, in, report.ThisMonth, cost.Effective)
	if err != nil {
		return TagCoverages{}, err
	}
	q.Dims = []string{cost.TagKeysDim}
	a, err := s.Ask(ctx, q)
	if err != nil {
		return TagCoverages{}, err
	}
	out := newTagCoverages(&a)
	out.Basis, err = s.basis(ctx, &q, &a)
	return out, err
}

// newTagCoverages returns the coverage of an answer by TagKeysDim, without its Basis.
func newTagCoverages(a *cost.Answer) TagCoverages {
	sums := map[string]money.Amount{}
	var untagged money.Amount
	for i := range a.Rows {
		if a.Rows[i].Keys[0] == "" {
			untagged = a.Rows[i].Amount
			continue
		}
		for key := range strings.SplitSeq(a.Rows[i].Keys[0], "\n") {
			sums[key] = sums[key].Add(a.Rows[i].Amount)
		}
	}
	total := a.Total.Round(2)
	// Rounded like the untagged part of a single key, so that no key shows less untagged cost than this.
	none := total.Sub(a.Total.Sub(untagged).Round(2))
	out := TagCoverages{UntaggedUSD: none.Fixed(2), Items: []TagCoverage{}}
	for _, key := range largest(sums) {
		tagged := sums[key].Round(2)
		out.Items = append(out.Items,
			TagCoverage{key, tagged.Fixed(2), total.Sub(tagged).Fixed(2), percent(sums[key], a.Total)})
	}
	return out
}

// largest returns the maxTagKeys keys with the largest amounts.
func largest(sums map[string]money.Amount) []string {
	keys := make([]string, 0, len(sums))
	for k := range sums {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return sums[b].Cmp(sums[a]) })
	return keys[:min(len(keys), maxTagKeys)]
}

// percent returns part as a percentage of whole, to one decimal. Both may be negative, as in a month of credits.
func percent(part, whole money.Amount) float64 {
	if whole.Sign() < 0 {
		part, whole = part.Neg(), whole.Neg()
	}
	tenths, _ := part.MulDiv(money.FromInt(1000), whole).Round(0).Scaled(0)
	return float64(tenths) / 10
}

// TagInput names a key. It is exported so that the framework sees its fields where it is embedded.
type TagInput struct {
	TagKey string `path:"tagKey" maxLength:"256" example:"env"`
}

// TagValueCost is the cost of one value of a tag.
type TagValueCost struct {
	TagValue *string `json:"tagValue" doc:"Null for costs without a tag of the key" example:"prod"`
	Name     string  `json:"name"`
	CostUSD  string  `json:"costUSD" example:"12.34"`
}

// TagValueCosts are the costs of all values of a tag.
type TagValueCosts struct {
	Basis
	TagKey   string         `json:"tagKey"`
	Coverage float64        `json:"coverage" doc:"Percent of the total that has a tag of the key"`
	Other    int            `json:"other" doc:"How many values, the smallest, are in the item named Other"`
	Items    []TagValueCost `json:"items"`
}

type tagInput struct {
	TagInput
	report.Asked
}

// maxTagValues is the most values that an answer lists individually.
const maxTagValues = 1000

func (s *service) tag(ctx context.Context, in *tagInput) (TagValueCosts, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Effective)
	if err != nil {
		return TagValueCosts{}, err
	}
	q.Dims = []string{cost.TagDim + in.TagKey}
	a, err := s.Ask(ctx, q)
	if err != nil {
		return TagValueCosts{}, err
	}
	out := newTagValues(&a, in.TagKey)
	out.Basis, err = s.basis(ctx, &q, &a)
	return out, err
}

// newTagValues returns the costs of an answer by the values of a tag, without their Basis.
func newTagValues(a *cost.Answer, key string) TagValueCosts {
	out := TagValueCosts{TagKey: key, Items: []TagValueCost{}}
	lines, others := valueLines(a.Rows, maxTagValues)
	sums := make([]money.Amount, len(lines))
	var none money.Amount
	for i := range lines {
		if sums[i] = lines[i].row.Amount; lines[i].none {
			none = sums[i]
		}
	}
	for i, c := range cents(sums) {
		out.Items = append(out.Items, TagValueCost{lines[i].value(), lines[i].name(), c.Fixed(2)})
	}
	out.Other, out.Coverage = others, percent(a.Total.Sub(none), a.Total)
	return out
}

// valueLine is one value of a tag, the sum of all other values, or the costs without the tag.
type valueLine struct {
	row         cost.Row
	other, none bool
}

func (l *valueLine) value() *string {
	if l.other || l.none {
		return nil
	}
	return &l.row.Keys[0]
}

// unknown is the name of a missing value.
const unknown = "Unknown"

func (l *valueLine) name() string {
	switch {
	case l.other:
		return "Other"
	case l.none:
		return unknown
	}
	return l.row.Keys[0]
}

// valueLines returns the largest values one by one, then the sum of all others, then the costs without the tag.
func valueLines(rows []cost.Row, limit int) (out []valueLine, others int) {
	none := valueLine{row: cost.Row{Keys: []string{""}}, none: true}
	rest := valueLine{row: cost.Row{Keys: []string{""}}, other: true}
	for i := range rows {
		switch r := &rows[i]; {
		case r.Keys[0] == "":
			none.row = *r
		case len(out) < limit:
			out = append(out, valueLine{row: *r})
		default:
			others++
			rest.row.Amount = rest.row.Amount.Add(r.Amount)
			rest.row.Days.Add(&r.Days)
		}
	}
	if others > 0 {
		out = append(out, rest)
	}
	return append(out, none), others
}

type tagResourcesInput struct {
	TagInput
	TagValue string `path:"tagValue" maxLength:"256" doc:"The value. If no tag has the value Unknown, Unknown stands for costs without a tag of the key" example:"prod"`
	report.Asked
	rest.Page
	rest.Sort[ResourceCost, costOrders]
}

func (s *service) tagResources(ctx context.Context, in *tagResourcesInput) (ResourceCosts, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Effective)
	if err != nil {
		return ResourceCosts{}, err
	}
	dim := cost.TagDim + in.TagKey
	value := in.TagValue
	if value == unknown {
		value = ""
	}
	q.Filter = narrowed(q.Filter, dim, value)
	if in.TagValue == unknown {
		q.Filter[dim] = append(q.Filter[dim], unknown)
	}
	return s.pageOfResources(ctx, q, in.Page, in.Sort)
}

// TagPoint is the cost of one tag value in a day, week or month.
type TagPoint struct {
	TagValue *string `json:"tagValue" doc:"Null is Unknown, or with other true all other values"`
	Name     string  `json:"name"`
	Other    bool    `json:"other"`
	CostUSD  string  `json:"costUSD"`
}

// TagTrendPoint is the cost of each tag value in a day, week or month.
type TagTrendPoint struct {
	TrendPoint
	Values []TagPoint `json:"values" doc:"They add up to costUSD"`
}

// TagTrends is the trend of a tag's values.
type TagTrends struct {
	Basis
	TagKey      string          `json:"tagKey"`
	Granularity string          `json:"granularity" enum:"day,week,month"`
	Items       []TagTrendPoint `json:"items"`
}

type tagTrendInput struct {
	TagKey string `query:"tag_key" required:"true" minLength:"1" maxLength:"256" example:"env"`
	report.Asked
	Granularity string `query:"granularity" enum:"day,week,month" default:"day"`
	Limit       int    `query:"limit" minimum:"1" maximum:"100" default:"10" doc:"How many values are shown one by one"`
}

func (s *service) tagTrends(ctx context.Context, in *tagTrendInput) (TagTrends, error) {
	q, err := s.Question(ctx, &in.Asked, report.Recent(in.Granularity), cost.Effective)
	if err != nil {
		return TagTrends{}, err
	}
	q.Dims, q.Daily = []string{cost.TagDim + in.TagKey}, true
	a, err := s.Ask(ctx, q)
	if err != nil {
		return TagTrends{}, err
	}
	b := bucket(in.Granularity, q.From, &a)
	lines, _ := valueLines(a.Rows, in.Limit)
	out := TagTrends{TagKey: in.TagKey, Granularity: in.Granularity, Items: make([]TagTrendPoint, len(b.first))}
	if out.Basis, err = s.basis(ctx, &q, &a); err != nil {
		return out, err
	}
	days := make([][]money.Amount, len(lines))
	for i := range lines {
		days[i] = lines[i].row.Days.Amounts()
	}
	for i, p := range b.points(a.Total) {
		out.Items[i] = TagTrendPoint{TrendPoint: p}
		for n, c := range b.parts(days, i, p.CostUSD) {
			out.Items[i].Values = append(out.Items[i].Values,
				TagPoint{lines[n].value(), lines[n].name(), lines[n].other, c.Fixed(2)})
		}
	}
	return out, nil
}
