package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
	"lamplighter.dev/shared/foundation/money"
)

// question is the body of a free question of line items.
type question struct {
	From     string           `json:"from"`
	To       string           `json:"to"`
	GroupBy  []string         `json:"groupBy,omitempty"`
	Measures []string         `json:"measures,omitempty"`
	Filters  []questionFilter `json:"filters,omitempty"`
	OrderBy  string           `json:"orderBy,omitempty"`
	Limit    int              `json:"limit,omitempty"`
	DryRun   bool             `json:"dryRun,omitempty"`
}

type questionFilter struct {
	Column   string   `json:"column"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// reply is the state of a free question, and a piece of its answer.
type reply struct {
	Status       string     `json:"status"`
	StatusURL    string     `json:"statusURL"`
	Error        *string    `json:"error"`
	PriceUSD     string     `json:"priceUSD"`
	ScannedBytes int64      `json:"scannedBytes"`
	Columns      []string   `json:"columns"`
	Rows         [][]string `json:"rows"`
	NextCursor   *string    `json:"nextCursor"`
	Truncated    bool       `json:"truncated"`
}

// asking is a free question, from the flags.
type asking struct {
	a      *app
	q      question
	where  []string
	maxUSD string
	dryRun bool
}

func (a *app) askCommand() *cobra.Command {
	x := &asking{a: a}
	c := &cobra.Command{
		Use: "ask", Short: "Ask a free question of the lines of bills; it is priced first", Args: cobra.NoArgs,
		Long: "Ask a free question of the lines of bills, in columns of FOCUS 1.2. lamp asks for the price first, " +
			"and asks the\nquestion only if it is at most --max-usd.",
		Example: "  lamp ask --from 2026-10 --to 2026-11 --by ServiceName,RegionId --where ProviderName=AWS",
		RunE:    func(c *cobra.Command, _ []string) error { return x.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&x.q.From, "from", "", "the first day, or month")
	f.StringVar(&x.q.To, "to", "", "the day, or month, after the last")
	f.StringSliceVar(&x.q.GroupBy, "by", nil, "columns to group by, such as ServiceName or Tags.team")
	f.StringSliceVar(&x.q.Measures, "measure", nil, "BilledCost, EffectiveCost, ListCost, PricingQuantity or Count")
	f.StringArrayVar(&x.where, "where", nil, "COLUMN=VALUE or COLUMN!=VALUE, also several times")
	f.StringVar(&x.q.OrderBy, "order-by", "", "a column or measure; -BilledCost is descending")
	f.IntVar(&x.q.Limit, "limit", 0, "how many rows; 10,000 unless given")
	f.StringVar(&x.maxUSD, "max-usd", "0.05", "the highest price")
	f.BoolVar(&x.dryRun, "dry-run", false, "only print the price")
	for _, name := range []string{"from", "to"} {
		_ = c.MarkFlagRequired(name) //nolint:errcheck // the flag exists
	}
	return c
}

func (x *asking) run(ctx context.Context) error {
	highest, err := money.Parse(x.maxUSD)
	if err != nil {
		return misused("--max-usd is %q: it must be an amount such as 0.05", x.maxUSD)
	}
	if x.q.Filters, err = parseWhere(x.where); err != nil {
		return err
	}
	to, err := x.a.client()
	if err != nil {
		return err
	}
	request := client.Request{Method: http.MethodPost, Path: "/reports/query"}
	plan := x.q
	plan.DryRun = true
	request.Body = plan
	var priced reply
	if err = to.Call(ctx, request, &priced); err != nil {
		return err
	}
	x.a.say("The question scans %d bytes and costs $%s.", priced.ScannedBytes, priced.PriceUSD)
	price, err := money.Parse(priced.PriceUSD)
	switch {
	case err != nil:
		return fmt.Errorf("read the price of the question: %w", err)
	case x.dryRun:
		return nil
	case price.Cmp(highest) > 0:
		return fail(exitFailed, "the price is above --max-usd %s; the question was not asked", x.maxUSD)
	}
	request.Body = x.q
	return x.answer(ctx, to, request)
}

// answer asks the question, waits for its end, and prints all pieces of the answer.
func (x *asking) answer(ctx context.Context, to *client.Client, request client.Request) error {
	var r reply
	err := to.Job(ctx, request, func(data json.RawMessage) (bool, error) {
		r = reply{}
		err := decode(data, &r)
		return r.Status == "succeeded" || r.Status == "failed", err
	})
	if ctx.Err() != nil {
		return fail(exitInterrupted, "interrupted; the question continues: lamp api GET %s shows its answer",
			r.StatusURL)
	}
	if err != nil {
		return err
	}
	if r.Status == "failed" {
		return fail(exitFailed, "the question failed: %s", firstOf(textOfPointer(r.Error), "without a reason"))
	}
	if r.Truncated {
		x.a.say("The limit left out rows: --limit raises it.")
	}
	return x.print(ctx, to, r)
}

func (x *asking) print(ctx context.Context, to *client.Client, r reply) error {
	columns := make([]column, len(r.Columns))
	for i, c := range r.Columns {
		columns[i] = column{strings.ToUpper(c), c}
	}
	pages := to.Cursor
	return x.a.stream(columns, func(yield func(record, error) bool) {
		err := pages(ctx, client.Request{Method: http.MethodGet, Path: r.StatusURL},
			func(data json.RawMessage) (string, error) {
				var piece reply
				if err := decode(data, &piece); err != nil {
					return "", err
				}
				for _, cells := range piece.Rows {
					if !yield(rowRecord(r.Columns, cells), nil) {
						return "", nil
					}
				}
				return textOfPointer(piece.NextCursor), nil
			})
		if err != nil {
			yield(record{}, err)
		}
	})
}

// rowRecord returns a row of an answer as a record.
func rowRecord(columns, cells []string) record {
	members := map[string]any{}
	for i, c := range columns[:min(len(columns), len(cells))] {
		members[c] = cells[i]
	}
	return newRecord(members)
}

// parseWhere reads conditions. Several values of a column are one condition with any of them.
func parseWhere(conditions []string) ([]questionFilter, error) {
	values := map[[2]string][]string{}
	for _, c := range conditions {
		name, value, ok := strings.Cut(c, "=")
		operator := "is"
		if column, negated := strings.CutSuffix(name, "!"); negated {
			name, operator = column, "is_not"
		}
		if !ok || name == "" {
			return nil, misused("--where is %q: write COLUMN=VALUE or COLUMN!=VALUE", c)
		}
		key := [2]string{name, operator}
		values[key] = append(values[key], value)
	}
	keys := slices.SortedFunc(maps.Keys(values), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	filters := make([]questionFilter, len(keys))
	for i, k := range keys {
		filters[i] = questionFilter{Column: k[0], Operator: k[1], Values: values[k]}
	}
	return filters, nil
}
