package cost

import (
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

func TestStore_AnswersOfTwoAccountsAndReplacesOne(t *testing.T) {
	s := newFixture(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-1", "EC2", "10.5"), charge(2, "i-1", "EC2", "1.25"),
		charge(2, "db", "RDS", "3"))
	s.bring(imported("ca_2", "one", now), charge(2, "i-2", "EC2", "0.000000123"))
	equal(t, "by service", rows(s.ask(ofMarch(ServiceDim))), []string{"EC2=11.750000123", "RDS=3"})
	equal(t, "by account and resource", rows(s.ask(ofMarch(AccountDim, ResourceDim))),
		[]string{"ca_1,i-1=11.75", "ca_1,db=3", "ca_2,i-2=0.000000123"})
	equal(t, "by tag", rows(s.ask(ofMarch("tag:env", "tag:team"))), []string{"prod,=14.750000123"})
	equal(t, "total", s.ask(ofMarch()).Total.String(), "14.750000123")
	more := charge(3, "i-1", "EC2", "1")
	more.Tags = []bill.Tag{{Key: "env", Value: "prod"}, {Key: "team", Value: "a"}}
	bare := more
	bare.Tags = nil
	s.bring(imported("ca_3", "one", now), more, bare)
	equal(t, "by keys of tags", rows(s.ask(ofMarch(TagKeysDim))), []string{"env=14.750000123", "=1", "env\nteam=1"})
	s.bring(imported("ca_3", "none", now.Add(time.Hour)))

	p := s.bring(imported("ca_1", "two", now.Add(time.Hour)), charge(1, "i-1", "EC2", "7"))
	equal(t, "rows", p.Rows, 1)
	equal(t, "by service, replaced", rows(s.ask(ofMarch(ServiceDim))), []string{"EC2=7.000000123"})

	q := ofMarch(ServiceDim)
	q.Daily, q.From, q.To = true, march.Start().AddDate(0, 0, 1), march.Start().AddDate(0, 0, 3)
	a := s.ask(q)
	equal(t, "by day", a.Days, []money.Amount{money.MustParse("0.000000123"), {}})
	equal(t, "total of two days", a.Total, money.MustParse("0.000000123"))
	q.Daily = false
	equal(t, "total of two days at once", s.ask(q).Total, money.MustParse("0.000000123"))

	q = ofMarch(ResourceDim)
	q.Filter = map[string][]string{AccountDim: {"ca_2", "ca_3"}}
	equal(t, "of one account", rows(s.ask(q)), []string{"i-2=0.000000123"})
}

func TestStore_TakesOnlyLaterDeliveries(t *testing.T) {
	s := newFixture(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-1", "EC2", "10"))
	_, err := s.store.Begin(s.ctx, imported("ca_1", "one", now.Add(time.Hour)))
	equal(t, "the same again", errors.Is(err, ErrSame), true)
	_, err = s.store.Begin(s.ctx, imported("ca_1", "zero", now.Add(-time.Hour)))
	equal(t, "an earlier one", errors.Is(err, ErrOlder) && fault.Is(err, fault.Conflict), true)

	closed := imported("ca_1", "one", now.Add(time.Minute))
	closed.Final = true
	equal(t, "the same, closed", s.bring(closed, charge(1, "i-1", "EC2", "10")).Final, true)
	_, err = s.store.Begin(s.ctx, closed)
	equal(t, "the same, closed, again", errors.Is(err, ErrSame), true)

	slow, err := s.store.Begin(s.ctx, imported("ca_1", "two", now.Add(time.Hour)))
	s.Must(err)
	c := charge(1, "i-1", "EC2", "20")
	s.Must(slow.Add(&c))
	s.bring(imported("ca_1", "three", now.Add(2*time.Hour)), charge(1, "i-1", "EC2", "30"))
	_, err = slow.Commit(s.ctx)
	equal(t, "overtaken", errors.Is(err, ErrOlder), true)
	equal(t, "the later one stays", s.ask(ofMarch()).Total.String(), "30")
}

func TestBuilder_RefusesRowsOfAnotherMonth(t *testing.T) {
	s := newFixture(t)
	b, err := s.store.Begin(s.ctx, imported("ca_1", "one", now))
	s.Must(err)
	c := charge(1, "i-1", "EC2", "1")
	c.BillingPeriodStart = march.Add(1).Start()
	err = b.Add(&c)
	equal(t, "another billing period", fault.Message(err),
		"the billing period of a charge begins on 2026-04-01, but the delivery is of 2026-03")
	c = charge(40, "i-1", "EC2", "1")
	c.BillingPeriodStart = time.Time{}
	err = b.Add(&c)
	equal(t, "usage of another month, without a billing period", fault.Message(err),
		"the charge period of a charge begins on 2026-04-09, but the delivery is of 2026-03")
}

func TestSummarize_MayWaitForManyAccounts(t *testing.T) {
	s := newFixture(t)
	for _, account := range []string{"ca_1", "ca_2"} {
		in := imported(account, "one", now)
		in.Unsummarized = true
		s.bring(in, charge(1, "i-1", "EC2", "10"))
	}
	total := func() string {
		sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
		s.Must(err)
		return sums[0].Total.Billed.String()
	}
	equal(t, "made of the periods", total(), "20")
	s.Must(s.store.Summarize(s.ctx, testOrg, march))
	ctx, meter := table.WithMeter(s.ctx)
	_, err := s.store.Summaries(ctx, testOrg, march, march)
	s.Must(err)
	equal(t, "round trips when it is made", meter.Usage().RoundTrips, 1)
	equal(t, "as it was made", total(), "20")
}

func TestNew_SharesOneStoreOfAPlatform(t *testing.T) {
	s := newFixture(t)
	if first := New(s.Platform); first != New(s.Platform) {
		t.Error("a platform has two stores")
	}
}
