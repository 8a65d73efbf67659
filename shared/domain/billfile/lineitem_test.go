package billfile_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/seed"
)

// TestTheTableOfAthena_HasTheColumnsThatAreWritten compares the columns in template.yaml with the written ones. A
// column missing there cannot be queried, and an unknown column would be empty.
func TestTheTableOfAthena_HasTheColumnsThatAreWritten(t *testing.T) {
	k := newKept(t)
	items := k.bring("ca_1", importedMonth, all([]bill.Charge{random(seed.Fixed(t, 1, 1))}))
	b, err := os.ReadFile("../../../template.yaml")
	k.Must(err)
	_, text, _ := strings.Cut(string(b), "Name: line_items")
	text, _, _ = strings.Cut(text, "\n\n")
	types := map[string]string{}
	for _, m := range regexp.MustCompile(`\{Name: (\w+), Type: "([^"]+)"\}`).FindAllStringSubmatch(text, -1) {
		types[m[1]] = m[2]
	}
	for name := range items.Columns {
		want := "string"
		switch {
		case strings.HasSuffix(name, "Cost"), name == "PricingQuantity":
			want = "decimal(38,26)"
		case strings.HasSuffix(name, "Start"), strings.HasSuffix(name, "End"):
			want = "timestamp"
		case name == "Tags":
			want = "map<string,string>"
		}
		if got := types[strings.ToLower(name)]; got != want {
			t.Errorf("%s is %q in the table, want %q", name, got, want)
		}
	}
	if len(types) != len(items.Columns) {
		t.Errorf("%d columns in the table, %d in the files", len(types), len(items.Columns))
	}
	if !strings.Contains(string(b), "BytesScannedCutoffPerQuery: 53687091200\n") ||
		costquery.MaxScanned != 53687091200 {
		t.Error("the workgroup stops questions elsewhere than costquery.MaxScanned")
	}
}

// TestItems_SayHowLongTheirFilesAre compares the recorded sizes of a period with its files.
func TestItems_SayHowLongTheirFilesAre(t *testing.T) {
	k, r := newKept(t), seed.Fixed(t, 2, 2)
	var charges []bill.Charge
	for range 3000 {
		charges = append(charges, random(r))
	}
	items := k.bring("ca_1", importedMonth, all(charges))
	told := items.Footers
	for _, n := range items.Columns {
		told += n
	}
	size, err := k.files.Size(t.Context(), items.Part(apitest.Org, 0))
	if err != nil || size != told || items.Rows != 3000 || items.Parts != 1 {
		t.Errorf("%d bytes, %v; told are %d of %+v", size, err, told, items)
	}
}

// full is a store that fails after some bytes.
type full struct {
	archive.Files
	left int
}

var errFull = errors.New("the store is full")

func (f *full) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return f.Files.Put(ctx, name, func(to io.Writer) error {
		return write(writerFunc(func(b []byte) (int, error) {
			if f.left -= len(b); f.left < 0 {
				return 0, errFull
			}
			return to.Write(b)
		}))
	})
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// TestAStoreThatFails_LeavesNothing fails at the beginning of a file, within it and at its end.
func TestAStoreThatFails_LeavesNothing(t *testing.T) {
	for _, left := range []int{0, 1000, 500_000} {
		k, r := newKept(t), seed.Fixed(t, 3, 3)
		b, err := cost.New(k.Platform).Begin(k.In(apitest.Org),
			cost.Import{
				Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: importedMonth, Fingerprint: "1",
				DeliveredAt: k.Clock.Now(),
			})
		k.Must(err)
		w := billfile.NewLineItemWriter(&full{k.files, left}, b)
		for i := 0; i < 40_000 && err == nil; i++ {
			c := random(r)
			err = w.Add(k.In(apitest.Org), &c)
		}
		if err == nil {
			err = w.Close(k.In(apitest.Org))
		}
		w.Discard()
		if !errors.Is(err, errFull) {
			t.Errorf("%d: %v", left, err)
		}
		found, err := filepath.Glob(k.dir + "/*/*/*/*/*/*")
		if err != nil || len(found) > 0 {
			t.Errorf("left are %v, %v", found, err)
		}
	}
}

// late is a clock that advances by a second each time it is read.
type late struct {
	clock.Clock
	n int
}

func (l *late) Now() time.Time {
	l.n++
	return l.Clock.Now().Add(time.Duration(l.n) * 15 * time.Second)
}

func TestAQuestion_TakesBoundedTimeAndGroups(t *testing.T) {
	k, r := newKept(t), seed.Fixed(t, 4, 4)
	var charges []bill.Charge
	for range 20_001 {
		charges = append(charges, random(r))
	}
	items := k.bring("ca_1", importedMonth, all(charges))
	j := costquery.Job{
		Org:   apitest.Org,
		Query: costquery.Query{From: importedMonth.Start(), To: importedMonth.End(), Measures: []string{"Count"}},
		Items: []cost.LineItems{items},
	}
	_, err := billfile.NewLineItemEngine(k.files, &late{Clock: k.Clock}).Advance(t.Context(), &j)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "20s") {
		t.Error(err)
	}
	got, err := billfile.NewLineItemEngine(k.files, k.Clock).Advance(t.Context(), &j)
	if err != nil || !slices.Equal(got.Answer.Columns, []string{"BillingCurrency"}) ||
		got.Answer.Scanned != len(charges) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestADelivery_IsBroughtInAgainForItsLines imports a bill like a version that stored no line items, and then imports
// it again.
func TestADelivery_IsBroughtInAgainForItsLines(t *testing.T) {
	k := newKept(t)
	in := cost.Import{
		Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: importedMonth, Fingerprint: "1",
		DeliveredAt: k.Clock.Now(),
	}
	b, err := cost.New(k.Platform).Begin(k.In(apitest.Org), in)
	k.Must(err)
	_, err = b.Commit(k.In(apitest.Org))
	k.Must(err)
	if _, err = cost.New(k.Platform).Begin(k.In(apitest.Org), in); !errors.Is(err, cost.ErrSame) {
		t.Error(err)
	}
	in.Lines = true
	b, err = cost.New(k.Platform).Begin(k.In(apitest.Org), in)
	k.Must(err)
	w := billfile.NewLineItemWriter(k.files, b)
	k.Must(w.Close(k.In(apitest.Org)))
	_, err = b.Commit(k.In(apitest.Org))
	k.Must(err)
	if _, err = cost.New(k.Platform).Begin(k.In(apitest.Org), in); !errors.Is(err, cost.ErrSame) {
		t.Errorf("of a bill without lines: %v", err)
	}
}

// TestASubAccount_OnSeveralBillsCountsOnce checks that a sub-account on several bills of a month counts once, in
// questions as in reports: on its payer's bill. If two bills pay for each other, half counts on each.
func TestASubAccount_OnSeveralBillsCountsOnce(t *testing.T) {
	billOf := func(subs ...string) (out []bill.Charge) {
		for i, sub := range subs {
			out = append(out, bill.Charge{
				BillingPeriodStart: importedMonth.Start(), ChargePeriodStart: importedMonth.Start().AddDate(0, 0, i),
				ChargeCategory: bill.Usage, BillingCurrency: "USD",
				ServiceName: "EC2", SubAccountID: sub, BillingAccountID: "pays",
				BilledCost: money.FromInt(int64(1 + i)),
			})
		}
		return out
	}
	for name, bills := range map[string]map[string][]bill.Charge{
		"a payer and its member":         {"111": billOf("111", "222"), "222": billOf("222")},
		"two that have the same export":  {"111": billOf("111", "222", "333"), "222": billOf("111", "222", "333")},
		"lines that name no sub-account": {"111": billOf("", "111", "222"), "222": billOf("", "222")},
		"each by itself":                 {"111": billOf("111"), "222": billOf("222")},
		"names as Azure writes them": {
			"111": billOf("/subscriptions/111", "/subscriptions/222"),
			"222": billOf("/subscriptions/222"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			connected := func(context.Context) ([]cost.Account, error) {
				return []cost.Account{
					{ID: "ca_111", Provider: "aws", Native: "111"},
					{ID: "ca_222", Provider: "aws", Native: "222"},
				}, nil
			}
			for _, native := range slices.Sorted(maps.Keys(bills)) {
				k.bringAs(cost.Import{
					AccountID: "ca_" + native, Month: importedMonth, Native: native,
					Accounts: connected,
				},
					all(bills[native]))
			}
			report := apitest.Value(cost.New(k.Platform).Ask(k.In(apitest.Org), apitest.Org,
				cost.Question{From: importedMonth.Start(), To: importedMonth.End(), Metric: cost.Billed}))(k)
			items := apitest.Value(cost.New(k.Platform).LineItems(k.In(apitest.Org), apitest.Org, importedMonth,
				importedMonth))(k)
			q := costquery.Query{From: importedMonth.Start(), To: importedMonth.End(), Measures: []string{"BilledCost"}}
			k.Must(q.Check())
			step, err := billfile.NewLineItemEngine(k.files, k.Clock).Advance(k.Context(),
				&costquery.Job{Org: apitest.Org, Query: q, Items: items})
			k.Must(err)
			if got := step.Answer.Rows[0].Amounts[0]; got != report.Total || report.Total.IsZero() {
				t.Errorf("the question comes to %s, the report to %s", got, report.Total)
			}
			if sql := q.SQL(apitest.Org, items); strings.Contains(sql, "NOT (period") != slices.ContainsFunc(items,
				func(l cost.LineItems) bool {
					return len(l.Left) > 0
				}) {
				t.Errorf("what counts elsewhere is not left out: %s", sql)
			}
		})
	}
}
