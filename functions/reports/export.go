package reports

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) exportOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "exportCosts", Method: http.MethodGet, Path: reports + "/export", Policy: reading, Scoped: true, Statuses: invalid, Produces: rest.CSVType + ", " + rest.NDJSONType,
		Summary: "Export costs", Description: "In columns of FOCUS 1.2, a row for each day and what is charged for in all of them: all three costs, in USD, to the last digit. " +
			"The present month unless other days are asked for." + asked,
	}, s.export)
}

type exportInput struct {
	Period string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
	rest.Selection
	rest.Export
}

// exported are the dimensions of a row of an export, in the order of its columns behind the first.
var exported = []string{cost.ProviderDim, cost.SubAccountDim, cost.RegionDim, cost.ServiceDim, cost.ResourceDim, cost.CategoryDim}

// columns are what they are called in FOCUS.
var columns = []string{
	"ChargePeriodStart", "ChargePeriodEnd", "ProviderName", "SubAccountId", "RegionId", "ServiceName", "ResourceId", "ChargeCategory",
	"BillingCurrency", "BilledCost", "EffectiveCost", "ListCost",
}

// exportRows is how many rows one answer holds.
const exportRows = 10_000

// place is where an answer ended: the last row that it had.
type place struct {
	Day  string   `json:"d"`
	Keys []string `json:"k"`
}

func (s *service) export(ctx context.Context, in *exportInput) (rest.Raw, error) {
	asked := Asked{Period: in.Period, Window: in.Window, Selection: in.Selection}
	q, err := s.question(ctx, &asked, thisMonth, cost.Billed)
	if err != nil {
		return rest.Raw{}, err
	}
	after, err := readPlace(in.Cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	f := in.Begin(rest.Exported{Name: "costs", Format: rest.CSV, Columns: columns, Bounds: s.bounds})
	last, full, err := s.exportDays(ctx, &q, after, f)
	if err != nil || !full {
		return endExport(ctx, f, "", err)
	}
	return endExport(ctx, f, last.cursor(), nil)
}

func endExport(ctx context.Context, f *rest.File, cursor string, err error) (rest.Raw, error) {
	if err != nil {
		return rest.Raw{}, err
	}
	return f.Answer(ctx, cursor)
}

// daysAtOnce is how many days of an export are asked for together.
const daysAtOnce = 7

// exportDays adds the rows behind a place until the file is full, and returns the last one that it added.
func (s *service) exportDays(ctx context.Context, q *cost.Question, after place, f *rest.File) (last place, full bool, err error) { //nolint:revive // what, from where, into what
	last = after
	from := q.From
	if at, err := time.Parse(time.DateOnly, after.Day); err == nil && at.After(from) {
		from = at
	}
	for ; from.Before(q.To); from = from.AddDate(0, 0, daysAtOnce) {
		part := *q
		part.From, part.To = from, earliest(from.AddDate(0, 0, daysAtOnce), q.To)
		rows, err := s.exportRows(ctx, part)
		if err != nil {
			return last, false, err
		}
		for i := range rows {
			at := place{rows[i].at.Format(time.DateOnly), rows[i].keys}
			if at.compare(&after) <= 0 {
				continue
			}
			if !f.Add(rows[i]) {
				return last, true, nil
			}
			last = at
		}
	}
	return last, false, nil
}

// compare orders places by day and keys.
func (p *place) compare(o *place) int {
	if c := strings.Compare(p.Day, o.Day); c != 0 {
		return c
	}
	return slices.Compare(p.Keys, o.Keys)
}

func (p *place) cursor() string {
	b, err := json.Marshal(p)
	if err != nil { // texts always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// readPlace reads a cursor; "" is the beginning.
func readPlace(cursor string) (p place, err error) {
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil {
		_, err = time.Parse(time.DateOnly, p.Day)
	}
	if err != nil {
		return p, fault.NewWithCause(fault.Invalid, err, "cursor: %.64q is not one that an answer gave; leave it out to begin anew", cursor)
	}
	return p, nil
}

// exportRow is what was charged on a day.
type exportRow struct {
	at    time.Time
	keys  []string
	costs cost.Amounts
}

// exportRows asks for all three costs of some days, and puts them side by side, by day and keys.
func (s *service) exportRows(ctx context.Context, q cost.Question) ([]exportRow, error) {
	q.Dims, q.Daily = exported, true
	rows := map[string]*exportRow{}
	for _, metric := range cost.Metrics {
		q.Metric = metric
		a, err := s.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range a.Rows {
			r := &a.Rows[i]
			for d := range r.Days {
				if r.Days[d].IsZero() {
					continue
				}
				at := q.From.AddDate(0, 0, d)
				id := at.Format(time.DateOnly) + "\x00" + strings.Join(r.Keys, "\x00")
				one := rows[id]
				if one == nil {
					one = &exportRow{at: at, keys: r.Keys}
					rows[id] = one
				}
				one.costs.Add(amountsIn(metric, r.Days[d]))
			}
		}
	}
	out := make([]exportRow, 0, len(rows))
	for _, one := range slices.Collect(maps.Values(rows)) {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b exportRow) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return slices.Compare(a.keys, b.keys)
	})
	return out, nil
}

// amountsIn returns an amount of one metric.
func amountsIn(m cost.Metric, a money.Amount) *cost.Amounts {
	switch m {
	case cost.Billed:
		return &cost.Amounts{Billed: a}
	case cost.Effective:
		return &cost.Amounts{Effective: a}
	default:
		return &cost.Amounts{List: a}
	}
}

// providerNames are what FOCUS calls our providers.
var providerNames = map[string]string{"aws": "AWS", "azure": "Microsoft", "gcp": "Google Cloud"}

// Cells returns the row as a line of CSV.
func (r exportRow) Cells() []string {
	keys := slices.Clone(r.keys)
	if name := providerNames[keys[0]]; name != "" {
		keys[0] = name
	}
	out := append([]string{r.at.Format(time.RFC3339), r.at.Add(day).Format(time.RFC3339)}, keys...)
	return append(out, cost.USD, r.costs.Billed.String(), r.costs.Effective.String(), r.costs.List.String())
}

// Line returns the row as a line of NDJSON, whose members are in the order of the columns.
func (r exportRow) Line() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, cell := range r.Cells() {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(`"` + columns[i] + `":`)
		if err := enc.Encode(cell); err != nil { // a text always encodes
			panic(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
