package costquery_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/chargeblocks"
)

func on(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }

// place is the service, region and team of a charge. A charge with an empty team has no tag.
type place struct{ service, region, team string }

func (p place) line(day int, billed, currency string) bill.Charge {
	c := bill.Charge{
		BillingPeriodStart: on(1), ChargePeriodStart: on(day), ServiceName: p.service, RegionID: p.region,
		BilledCost: money.MustParse(billed), BillingCurrency: currency,
	}
	if p.team != "" {
		c.Tags = []bill.Tag{{Key: "team", Value: p.team}}
	}
	return c
}

var lines = []bill.Charge{
	place{"EC2", "us-east-1", "red"}.line(1, "10.5", "USD"),
	place{"EC2", "us-east-1", ""}.line(2, "0.25", "USD"),
	place{"EC2", "eu-west-1", "blue"}.line(2, "3", "EUR"),
	place{"S3", "us-east-1", "red"}.line(3, "0.000001", "USD"),
	place{"RDS", "us-east-1", "blue"}.line(31, "-2", "USD"),
}

var all = chargeblocks.FromCharges(lines...)

func month(q costquery.Query) costquery.Query {
	q.From, q.To = on(1), on(32)
	if q.Measures == nil {
		q.Measures = []string{"BilledCost"}
	}
	return q
}

func TestRun_GroupsFiltersAndOrders(t *testing.T) {
	for name, c := range map[string]struct {
		query costquery.Query
		want  []string
	}{
		"all, by currency": {costquery.Query{}, []string{"[USD] [8.750001]", "[EUR] [3]"}},
		"by service": {
			costquery.Query{GroupBy: []string{"ServiceName"}},
			[]string{"[EC2 USD] [10.75]", "[EC2 EUR] [3]", "[S3 USD] [0.000001]", "[RDS USD] [-2]"},
		},
		"by a tag, empty where there is none": {
			costquery.Query{GroupBy: []string{"Tags.team"}, OrderBy: "Tags.team"},
			[]string{"[ USD] [0.25]", "[blue EUR] [3]", "[blue USD] [-2]", "[red USD] [10.500001]"},
		},
		"by day, counted": {costquery.Query{
			GroupBy:  []string{"ChargePeriodStart"},
			Measures: []string{"Count"}, Limit: 1,
		}, []string{"[2026-03-01 USD] [1]"}},
		"one of some values": {costquery.Query{Filters: []costquery.Filter{{
			"ServiceName", costquery.Is,
			[]string{"S3", "RDS"},
		}}}, []string{"[USD] [-1.999999]"}},
		"none of some values": {costquery.Query{Filters: []costquery.Filter{{
			"ServiceName", costquery.IsNot,
			[]string{"EC2"},
		}}}, []string{"[USD] [-1.999999]"}},
		"what begins with a text": {costquery.Query{Filters: []costquery.Filter{{
			"RegionId", costquery.StartsWith,
			[]string{"eu-"},
		}}}, []string{"[EUR] [3]"}},
		"what contains a text": {costquery.Query{Filters: []costquery.Filter{{
			"RegionId", costquery.Contains,
			[]string{"west"},
		}}}, []string{"[EUR] [3]"}},
		"what has no tag": {costquery.Query{Filters: []costquery.Filter{{
			"Tags.team", costquery.IsEmpty,
			nil,
		}}}, []string{"[USD] [0.25]"}},
		"all conditions must agree": {costquery.Query{Filters: []costquery.Filter{{
			"Tags.team", costquery.IsPresent,
			nil,
		}, {"ServiceName", costquery.Is, []string{"EC2"}}}}, []string{"[USD] [10.5]", "[EUR] [3]"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := month(c.query)
			if err := q.Check(); err != nil {
				t.Fatal(err)
			}
			got, err := costquery.Run(t.Context(), q, all)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, r := range got.Rows {
				rows = append(rows, fmt.Sprint(r.Keys, " ", r.Amounts))
			}
			if !slices.Equal(rows, c.want) || got.Scanned != len(lines) {
				t.Errorf("%q of %d, want %q", rows, got.Scanned, c.want)
			}
		})
	}
}

func TestRun_TheDaysAreFromAndBeforeTo(t *testing.T) {
	got, err := costquery.Run(t.Context(), costquery.Query{From: on(2), To: on(3), Measures: []string{"Count"}}, all)
	if err != nil || len(got.Rows) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := costquery.Run(ctx, month(costquery.Query{}), func(take func(*bill.Block) error) error {
		for {
			if err := all(take); err != nil {
				return err
			}
		}
	})
	if err == nil {
		t.Error("it goes on")
	}
}

func TestRun_HoldsABoundedNumberOfGroups(t *testing.T) {
	_, err := costquery.Run(t.Context(), month(costquery.Query{GroupBy: []string{"ResourceId"}}),
		func(take func(*bill.Block) error) error {
			k, c := bill.NewCollector(bill.Columns()), lines[0]
			for i := 0; ; i++ {
				c.ResourceID = strconv.Itoa(i)
				k.Add(&c)
				if err := take(k.Block()); err != nil {
					return err
				}
			}
		})
	if !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestCheck_NamesFieldAndValue(t *testing.T) {
	for name, q := range map[string]costquery.Query{
		"an unknown column":     {GroupBy: []string{"Region"}},
		"a tag without a key":   {GroupBy: []string{"Tags."}},
		"a column twice":        {GroupBy: []string{"RegionId", "RegionId"}},
		"too many columns":      {GroupBy: costquery.Columns()[:9]},
		"an unknown measure":    {Measures: []string{"Cost"}},
		"no measure":            {Measures: []string{}},
		"a measure twice":       {Measures: []string{"Count", "Count"}},
		"an unknown operator":   {Filters: []costquery.Filter{{"RegionId", "like", []string{"x"}}}},
		"a filter of no column": {Filters: []costquery.Filter{{"Nothing", costquery.Is, []string{"x"}}}},
		"no value":              {Filters: []costquery.Filter{{"RegionId", costquery.Is, nil}}},
		"a value too many":      {Filters: []costquery.Filter{{"RegionId", costquery.IsEmpty, []string{"x"}}}},
		"too large a value": {Filters: []costquery.Filter{{
			"RegionId", costquery.Is,
			[]string{string(make([]byte, 2000))},
		}}},
		"an order of no column":  {OrderBy: "-RegionId"},
		"a limit below nothing":  {Limit: -1},
		"a limit beyond the top": {Limit: 10_001},
	} {
		q = month(q)
		if err := q.Check(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, days := range map[string][2]int{
		"nothing between them": {5, 5}, "backwards": {9, 5},
		"too long": {1, 5000},
	} {
		q := costquery.Query{From: on(days[0]), To: on(days[1]), Measures: []string{"Count"}}
		if err := q.Check(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
