package reports

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) pictureOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "drawCostTrends", Method: http.MethodGet, Path: reports + "/trends.svg", Policy: reading, Scoped: true,
		Statuses: invalid, Produces: rest.SVGType,
		Summary: "Draw cost trends",
		Description: "The picture of GET /reports/trends: an area chart of the costs, for a mail, a chat or a wiki." +
			billed + asked,
	}, func(ctx context.Context, in *trendsInput) (rest.Raw, error) {
		t, err := s.trends(ctx, &in.TrendInput, SeriesInput{})
		return s.picture(ctx, trendChart(&t, s.p.Clock.Now()), err)
	})
	rest.Handle(g, rest.Op{
		ID: "drawCostBreakdown", Method: http.MethodGet, Path: reports + "/costs/breakdown.svg", Policy: reading,
		Scoped: true, Statuses: invalid, Produces: rest.SVGType,
		Summary: "Draw the breakdown of costs",
		Description: "The picture of GET /reports/costs/breakdown: a bar for each node of the first level." + billed +
			asked,
	}, func(ctx context.Context, in *breakdownsInput) (rest.Raw, error) {
		b, err := s.breakdown(ctx, &in.BreakdownInput)
		return s.picture(ctx, breakdownChart(&b), err)
	})
}

// picture renders a chart, or returns err if it is not nil.
func (s *service) picture(ctx context.Context, c chart.Chart, err error) (rest.Raw, error) {
	if err != nil {
		return rest.Raw{}, err
	}
	svg, err := chart.Draw(ctx, s.p.Workers, &c)
	return rest.PictureOf(svg), err
}

type trendsInput struct {
	TrendInput
	rest.Pictured
}

type trendsBySeriesInput struct {
	TrendInput
	SeriesInput
	rest.Pictured
}

func (s *service) trendsOrPicture(ctx context.Context, in *trendsBySeriesInput) (out rest.Drawn[Trends], err error) {
	if out.Data, err = s.trends(ctx, &in.TrendInput, in.SeriesInput); err != nil || !in.WantsPicture() {
		return out, err
	}
	c := trendChart(&out.Data, s.p.Clock.Now())
	out.Picture, err = chart.Draw(ctx, s.p.Workers, &c)
	return out, err
}

type breakdownsInput struct {
	BreakdownInput
	rest.Pictured
}

func (s *service) breakdownOrPicture(ctx context.Context, in *breakdownsInput) (out rest.Drawn[Breakdown], err error) {
	if out.Data, err = s.breakdown(ctx, &in.BreakdownInput); err != nil || !in.WantsPicture() {
		return out, err
	}
	c := breakdownChart(&out.Data)
	out.Picture, err = chart.Draw(ctx, s.p.Workers, &c)
	return out, err
}

// describe returns the subtitle of a picture: its days, its kind of cost and its source.
func describe(b *Basis) string {
	text := fmt.Sprintf("%s %s, %s until before %s", chart.Dollars(b.TotalUSD), b.Cost, b.From, b.To)
	if b.Estimated {
		text += ", partly estimated"
	}
	return text
}

// maxColumns is the most points that are drawn as columns; more points are drawn as a line.
const maxColumns = 120

// trendChart draws a column for each point, or a line if there are many. A column whose cost may still change is
// lighter: it is estimated, or its period is not over.
func trendChart(t *Trends, now time.Time) chart.Chart {
	c := chart.Chart{
		Kind: chart.Stacks, Title: "Costs by " + t.Granularity, Subtitle: describe(&t.Basis),
		Series: []chart.Series{{Name: "Billed"}, {Name: "Estimated, or not over yet", Open: true}},
	}
	if len(t.Items) > maxColumns {
		c.Kind, c.Series = chart.Lines, []chart.Series{{Name: "Costs"}}
	}
	for i := range t.Items {
		amount, of := money.MustParse(t.Items[i].CostUSD), 0
		if len(c.Series) > 1 && t.isOpen(i, now) {
			of = 1
		}
		c.Labels = append(c.Labels, t.label(i))
		for n := range c.Series {
			var shown money.Amount
			if n == of {
				shown = amount
			}
			c.Series[n].Amounts = append(c.Series[n].Amounts, shown)
		}
	}
	if len(c.Series) > 1 && money.Sum(c.Series[1].Amounts...).IsZero() {
		c.Series = c.Series[:1]
	}
	return c
}

// isOpen reports whether a point is estimated or ends after now.
func (t *Trends) isOpen(i int, now time.Time) bool {
	next := t.To
	if i+1 < len(t.Items) {
		next = t.Items[i+1].Date
	}
	return t.Items[i].Estimated || next > now.UTC().Format(time.DateOnly)
}

// label returns the axis label of a point: its date, or for a whole month its year and month.
func (t *Trends) label(i int) string {
	if date := t.Items[i].Date; t.Granularity != "month" || !strings.HasSuffix(date, "-01") {
		return date
	}
	return strings.TrimSuffix(t.Items[i].Date, "-01")
}

// maxBars is the most bars of one picture. The last bar is the sum of all others.
const maxBars = 30

func breakdownChart(b *Breakdown) chart.Chart {
	c := chart.Chart{
		Kind: chart.Bars, Title: "Costs", Subtitle: describe(&b.Basis),
		Series: []chart.Series{{Name: "Costs"}},
	}
	below := map[string]bool{}
	for _, l := range b.Links {
		below[l.Target] = l.Source == rootID
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if !below[n.ID] {
			continue
		}
		amounts := &c.Series[0].Amounts
		c.Title = "Costs by " + strings.ReplaceAll(n.Dim, "_", " ")
		if amount := money.MustParse(n.CostUSD); len(c.Labels) < maxBars {
			c.Labels, *amounts = append(c.Labels, chart.Shorten(n.Label)), append(*amounts, amount)
		} else {
			c.Labels[maxBars-1], (*amounts)[maxBars-1] = "Other", (*amounts)[maxBars-1].Add(amount)
		}
	}
	return c
}
