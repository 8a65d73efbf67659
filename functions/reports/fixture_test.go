package reports

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is our organization with six instances, two teams and the bills of four months. The other organization has a
// bill, too.
type fixture struct {
	*apitest.Fixture
	ids       []string
	web, data string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t, Operations)}
	a.ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
	a.web = inventorytest.Team(a.Fixture, ours, "Web", a.ids[0], a.ids[1])
	a.Clock.Advance(time.Second) // so that the ids of teams are in order
	a.data = inventorytest.Team(a.Fixture, ours, "Data", a.ids[1], a.ids[2])
	for _, m := range []string{"2025-12", "2026-01", "2026-02", "2026-03"} {
		a.bill(ours, m, m != "2026-03")
	}
	a.bring(theirs, "ca_9", "2026-03", false, charge("2026-03-01", "i-secret", "Amazon EC2", "777"))
	return a
}

// bill imports the bill of a month: 1.005, 2.005, … a day for the instances (fractions of a cent), storage without a
// resource, and support on the first day.
func (a *fixture) bill(org, month string, final bool) {
	a.Helper()
	m := apitest.Value(cost.ParseMonth(month))(a)
	var all []bill.Charge
	for d := range 9 {
		date := m.Start().AddDate(0, 0, d).Format(time.DateOnly)
		for i := range 6 {
			all = append(all, charge(date, fmt.Sprintf("i-%d", i), "Amazon EC2", fmt.Sprintf("%d.005", i+1)))
		}
		all = append(all, charge(date, "", "Amazon S3", "0.333"))
	}
	support := charge(m.Start().Format(time.DateOnly), "", "Support", "29")
	support.ChargeCategory, support.EffectiveCost = bill.Purchase, money.MustParse("10")
	a.bring(org, "ca_1", month, final, append(all, support)...)
}

func (a *fixture) bring(org, account, month string, final bool, charges ...bill.Charge) {
	a.Helper()
	b, err := cost.New(a.Platform).Begin(a.In(org), cost.Import{
		Org: org, AccountID: account, Provider: "aws", Month: apitest.Value(cost.ParseMonth(month))(a),
		Fingerprint: month, DeliveredAt: a.Clock.Now(),
		Source: "data_export", Export: "daily", Final: final,
	})
	a.Must(err)
	for i := range charges {
		a.Must(b.Add(&charges[i]))
	}
	_, err = b.Commit(a.In(org))
	a.Must(err)
}

// charge returns a usage charge of an amount on a day. It has the tag env=prod if the resource's number is even.
func charge(date, resource, service, amount string) bill.Charge {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err) // a mistake in a test
	}
	a := money.MustParse(amount)
	c := bill.Charge{
		BillingPeriodStart: cost.MonthOf(at).Start(), ChargePeriodStart: at, ChargeCategory: bill.Usage,
		SubAccountID: "123456789012",
		ServiceName:  service, RegionID: "eu-west-1", ResourceID: resource, PricingCategory: bill.Standard,
		BillingCurrency: cost.USD,
		BilledCost:      a, EffectiveCost: a, ListCost: a.MulInt(2),
	}
	if strings.HasSuffix(resource, "0") || strings.HasSuffix(resource, "2") {
		c.Tags = []bill.Tag{{Key: "env", Value: "prod"}}
	}
	return c
}

// get makes a request as a member of our organization who may read all reports.
func (a *fixture) get(path string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(ours, "ada", "viewer"), "GET "+path)
}

// as makes a request as a member of our organization with the given grants.
func (a *fixture) as(grants, path string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(ours, "bob", grants), "GET "+path)
}

// golden compares an answer with a file.
func (a *fixture) golden(name string, got apitest.Answer) {
	a.Helper()
	got.Want(200)
	text := strings.NewReplacer(a.web, "team_web", a.data, "team_data").Replace(got.Body)
	for i, id := range a.ids {
		text = strings.ReplaceAll(text, id, fmt.Sprintf("res_%d", i))
	}
	path := filepath.Join("testdata", name)
	if *update {
		a.Must(os.MkdirAll("testdata", 0o755))
		a.Must(os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	want, err := os.ReadFile(path)
	a.Must(err)
	if strings.TrimSpace(string(want)) != strings.TrimSpace(text) {
		a.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
	}
}

// usd reads an amount of an answer.
func usd(s string) money.Amount { return money.MustParse(s) }

// crooked wraps Books and returns answers that do not add up.
type crooked struct{ report.Books }

func (c crooked) Ask(ctx context.Context, org string, q cost.Question) (cost.Answer, error) {
	a, err := c.Books.Ask(ctx, org, q)
	if len(a.Rows) > 0 {
		a.Rows[0].Amount = a.Rows[0].Amount.Add(usd("0.01"))
	}
	return a, err
}

func (c crooked) Summaries(ctx context.Context, org string, from, to cost.Month) ([]cost.Summary, error) {
	all, err := c.Books.Summaries(ctx, org, from, to)
	for i := range all {
		all[i].Days[0].Billed = all[i].Days[0].Billed.Add(usd("0.01"))
	}
	return all, err
}

// onCrooked mounts the operations on crooked books.
func (a *fixture) onCrooked() {
	a.Mount(func(p *platform.Platform) *rest.Group { return operations(p, crooked{cost.New(p)}) })
}
