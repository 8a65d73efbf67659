package main

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
	"lamplighter.dev/shared/foundation/money"
)

// dimensions are the short names of the interface's dimensions. Other names are used as they are.
var dimensions = map[string]string{
	"service": "service_name", "team": "team_id", "account": "cloud_account_id", "kind": "resource_type",
	"group": "group_id", "resource": "resource_uid",
}

// costs is a question about costs, from the flags.
type costs struct {
	a               *app
	by, month, cost string
	from, to        string
	in              []string
	compare         bool
	limit           int
}

func (a *app) costsCommand() *cobra.Command {
	x := &costs{a: a}
	c := &cobra.Command{
		Use: "costs", Short: "Show costs by service, team, account, …", Args: cobra.NoArgs,
		Long: "Show costs. Days are days in UTC; --to is the day after the last. Without a period it is this month.",
		Example: "  lamp costs --by team --month 2026-10 --compare\n" +
			"  lamp costs --by service,region --in account=production",
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&x.by, "by", "service", "service, team, account, kind, group, resource, region, provider or tag:KEY")
	f.StringVar(&x.month, "month", "", "a month, such as 2026-10")
	f.StringVar(&x.from, "from", "", "the first day")
	f.StringVar(&x.to, "to", "", "the day after the last")
	f.StringVar(&x.cost, "cost", "billed", "billed, effective or list")
	f.StringArrayVar(&x.in, "in", nil, "only costs with DIMENSION=VALUE, also several times")
	f.BoolVar(&x.compare, "compare", false, "beside the period before, of the same length")
	f.IntVar(&x.limit, "limit", 20, "how many values; the others are one row more")
	c.MarkFlagsMutuallyExclusive("month", "from")
	c.MarkFlagsMutuallyExclusive("month", "to")
	c.MarkFlagsRequiredTogether("from", "to")
	complete(c, "by", fixed("service", "team", "account", "kind", "group", "region", "provider"))
	complete(c, "cost", fixed("billed", "effective", "list"))
	return c
}

// breakdown is the answer to a question about costs.
type breakdown struct {
	From       string          `json:"from"`
	To         string          `json:"to"`
	TotalUSD   string          `json:"totalUSD"`
	Estimated  bool            `json:"estimated"`
	Nodes      []breakdownNode `json:"nodes"`
	Incomplete []struct {
		Period string `json:"period"`
	} `json:"incomplete"`
}

type breakdownNode struct {
	ID      string  `json:"id"`
	Dim     string  `json:"dim"`
	Value   *string `json:"value"`
	Label   string  `json:"label"`
	CostUSD string  `json:"costUSD"`
}

func dimension(name string) string { return firstOf(dimensions[name], name) }

func (x *costs) run(ctx context.Context) error {
	to, err := x.a.client()
	if err != nil {
		return err
	}
	query, err := x.query(ctx, to)
	if err != nil {
		return err
	}
	if x.compare && x.month == "" && x.from == "" {
		if x.from, x.to, err = x.daysOfMonth(ctx, to); err != nil {
			return err
		}
	}
	now, err := readBreakdown(ctx, to, query, x.period())
	if err != nil {
		return err
	}
	before := breakdown{}
	if x.compare {
		previous, err := previousPeriod(now.From, now.To)
		if err != nil {
			return err
		}
		if before, err = readBreakdown(ctx, to, query, previous); err != nil {
			return err
		}
	}
	return x.print(now, before)
}

// query returns the question without its period.
func (x *costs) query(ctx context.Context, to *client.Client) (url.Values, error) {
	q := url.Values{"cost": {x.cost}}
	var dims []string
	for d := range strings.SplitSeq(x.by, ",") {
		dims = append(dims, dimension(strings.TrimSpace(d)))
	}
	q.Set("dims", strings.Join(dims, ","))
	q.Set("limit", strconv.Itoa(x.limit))
	for _, in := range x.in {
		name, value, ok := strings.Cut(in, "=")
		if !ok {
			return nil, misused("--in is %q: write DIMENSION=VALUE, such as team=payments", in)
		}
		value, err := x.idOf(ctx, to, name, value)
		if err != nil {
			return nil, err
		}
		q.Add("filter["+dimension(name)+"]", value)
	}
	return q, nil
}

// idOf returns the id of a team, group or account that is given by name.
func (x *costs) idOf(ctx context.Context, to *client.Client, name, value string) (string, error) {
	k, err := kindNamed(name)
	if err != nil || value == "" || name != "team" && name != "group" && name != "account" || k.isID(value) {
		return value, nil //nolint:nilerr // other dimensions have values of their own
	}
	r, err := resolve(ctx, to, k, value)
	return r.text("id"), err
}

func (x *costs) period() url.Values {
	switch {
	case x.month != "":
		return url.Values{"period": {x.month}}
	case x.from != "":
		return url.Values{"from": {x.from}, "to": {x.to}}
	}
	return url.Values{}
}

// daysOfMonth returns the complete days of this month so far, by the service's clock.
func (x *costs) daysOfMonth(ctx context.Context, to *client.Client) (first, end string, err error) {
	if err = to.Call(ctx, client.Request{Method: http.MethodGet, Path: "/healthz", Public: true}, nil); err != nil {
		return "", "", err
	}
	x.a.warnOfClock(to)
	now := to.Now().UTC()
	if now.Day() == 1 {
		return "", "", misused("this month has no complete day to compare yet: add --month")
	}
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		now.Format(time.DateOnly), nil
}

// previousPeriod returns the period before: of a whole month the month before, of the first days of a month the same
// days of the month before, else as many days as it has.
func previousPeriod(from, to string) (url.Values, error) {
	first, err := parseDay(from)
	if err != nil {
		return nil, err
	}
	end, err := parseDay(to)
	if err != nil {
		return nil, err
	}
	before := first.AddDate(0, 0, -int(end.Sub(first).Hours()/24))
	until := first
	if first.Day() == 1 && !end.After(first.AddDate(0, 1, 0)) {
		before = first.AddDate(0, -1, 0)
		if !end.Equal(first.AddDate(0, 1, 0)) {
			until = before.AddDate(0, 0, int(end.Sub(first).Hours()/24))
		}
		if until.After(first) {
			until = first
		}
	}
	return url.Values{"from": {before.Format(time.DateOnly)}, "to": {until.Format(time.DateOnly)}}, nil
}

func parseDay(s string) (time.Time, error) {
	day, _, _ := strings.Cut(s, "T")
	return time.Parse(time.DateOnly, day)
}

func readBreakdown(ctx context.Context, to *client.Client, query, period url.Values) (breakdown, error) {
	q := url.Values{}
	for _, from := range []url.Values{query, period} {
		maps.Copy(q, from)
	}
	var b breakdown
	err := to.Call(ctx, client.Request{Method: http.MethodGet, Path: "/reports/costs/breakdown", Query: q}, &b)
	return b, err
}

func (x *costs) print(now, before breakdown) error {
	earlier := map[string]string{}
	for _, n := range before.Nodes {
		earlier[n.ID] = n.CostUSD
	}
	var rows []record
	for _, n := range now.Nodes {
		if n.Dim == "" {
			continue
		}
		rows = append(rows, x.row(n, x.indent(n.Dim), firstOf(earlier[n.ID], "0.00")))
	}
	rows = append(rows, x.row(breakdownNode{Label: "Total", CostUSD: now.TotalUSD}, "", before.TotalUSD))
	columns := []column{
		{strings.ToUpper(x.by), "label"},
		{"USD", "costUSD"},
		{"dim", "dim"},
		{"value", "value"},
		{"id", "id"},
	}
	if x.compare {
		columns = append(columns, column{"BEFORE", "previousUSD"}, column{"CHANGE", "changeUSD"})
	}
	if err := x.a.show(columns, rows); err != nil {
		return err
	}
	x.a.say("%s to %s, %s costs%s.", now.From, now.To, x.cost, map[bool]string{
		true: "; public prices stand in for days that are not billed yet",
	}[now.Estimated])
	for _, i := range now.Incomplete {
		x.a.say("The bills of %s are not complete.", i.Period)
	}
	return nil
}

// indent returns the space before a value of the dimension in a table. Other formats have the path of each value as id.
func (x *costs) indent(dim string) string {
	if x.a.output != "table" && x.a.output != "wide" {
		return ""
	}
	for i, d := range strings.Split(x.by, ",") {
		if dimension(strings.TrimSpace(d)) == dim {
			return strings.Repeat("  ", i)
		}
	}
	return ""
}

// cents returns an amount with at least two decimals.
func cents(a money.Amount) string {
	text := a.String()
	_, decimals, _ := strings.Cut(text, ".")
	switch len(decimals) {
	case 0:
		return text + ".00"
	case 1:
		return text + "0"
	}
	return text
}

func (x *costs) row(n breakdownNode, indent, before string) record {
	now := n.CostUSD
	members := map[string]any{
		"label": indent + firstOf(n.Label, textOfPointer(n.Value)), "costUSD": now, "dim": n.Dim,
		"value": textOfPointer(n.Value), "id": n.ID,
	}
	if x.compare {
		members["previousUSD"] = before
		a, err := money.Parse(now)
		b, err2 := money.Parse(before)
		if err == nil && err2 == nil {
			members["changeUSD"] = cents(a.Sub(b))
		}
	}
	return newRecord(members)
}
