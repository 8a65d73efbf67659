package recommender

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const org = apitest.Org

// fixture is an organization with an AWS account, at 09:00 UTC on a day on which nothing was evaluated.
type fixture struct {
	*apitest.Fixture
	lines []costtest.Line
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Fixture: apitest.New(tb)}
	f.Put(identity.DirectoryKey(org), map[string]string{"org": org})
	f.Put(identity.AccessKey(org), identity.Access{})
	inventorytest.Connect(f.Fixture, org, inventorytest.Account)
	at := f.Clock.Now().UTC().Truncate(day).Add(day + 9*time.Hour)
	f.Clock.Advance(at.Sub(f.Clock.Now()))
	return f
}

// found returns a resource that is 100 days old.
func (f *fixture) found(uid string, facts cloud.Facts) cloud.Resource {
	return cloud.Resource{
		UID: uid, Name: uid, Status: cloud.Running, CreatedAt: f.Clock.Now().AddDate(0, 0, -100), Facts: facts,
	}
}

// volume returns an EBS volume that is unattached for some days, or attached for 0.
func (f *fixture) volume(uid string, unattachedDays int) cloud.Resource {
	since, attached := cloud.Never, 1.0
	if unattachedDays > 0 {
		since, attached = f.Clock.Now().AddDate(0, 0, -unattachedDays), 0
	}
	return f.found(uid, cloud.Facts{
		"attachment_count": attached, "unattached_since": since, "size_gb": 100.0, "encrypted": true,
		"volume_type": "gp3", "iops": 3000.0, "throughput_mibps": 125.0, "instance_stopped_at": cloud.Never,
	})
}

// discover lets a scan find resources of a kind.
func (f *fixture) discover(kind string, found ...cloud.Resource) {
	f.Helper()
	inventorytest.Discover(f.Fixture, org, kind, found...)
}

// bill imports 60 days of bills, with an amount a day for resources.
func (f *fixture) bill(perDay map[string]string) {
	f.Helper()
	for uid, usd := range perDay {
		f.lines = append(f.lines, costtest.Line{Resource: uid, Service: "EC2", USD: costtest.Every(usd)})
	}
	slices.SortFunc(f.lines, func(a, b costtest.Line) int { return strings.Compare(a.Resource, b.Resource) })
	today := f.Clock.Now().Truncate(day)
	costtest.Import(f.Fixture, costtest.Bill{
		Org: org, Account: inventorytest.Account, From: today.AddDate(0, 0, -80), To: today,
		Delivered: f.Clock.Now(),
	}, f.lines...)
}

// measure stores the measurements of a resource for the days before today.
func (f *fixture) measure(uid, kind string, days int, of func(at time.Time, m cloud.Measure) float64) {
	f.Helper()
	s := measurement.New(f.Platform)
	for n := 1; n <= days; n++ {
		start := f.Clock.Now().Truncate(day).AddDate(0, 0, -n)
		var all []measurement.Series
		for _, m := range cloud.MeasuresOf(kind) {
			one := measurement.Series{UID: uid, Measure: m}
			for hour := range one.Hours {
				one.Hours[hour] = float32(of(start.Add(time.Duration(hour)*time.Hour), m))
			}
			all = append(all, one)
		}
		f.Must(s.WriteDay(f.In(org), org, inventorytest.Account,
			measurement.Day{Start: start, Part: partOf(uid)}, all))
	}
}

// partOf returns a part number for the measurements of one resource.
func partOf(uid string) (n int) {
	for _, c := range uid {
		n = (n*31 + int(c)) % 900
	}
	return n
}

func (f *fixture) evaluate() Evaluated {
	f.Helper()
	return apitest.Value(Evaluate(f.Context(), f.Platform, nil))(f)
}

// rows formats the rows as "rule resource status net", without times and ids.
func (f *fixture) rows() string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		out = append(out, fmt.Sprintf("%s %s %s %s", r.RuleID, r.ResourceUID, r.Status, r.Savings.Net.Fixed(2)))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// row returns the only row.
func (f *fixture) row() recommendation.Row {
	f.Helper()
	rows := apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...)
	if len(rows) != 1 {
		f.Fatalf("%d rows: %s", len(rows), f.rows())
	}
	return rows[0]
}
