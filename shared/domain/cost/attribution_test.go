package cost

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

// closed returns a closed month of an account. Its bill has the fingerprint "one".
func closed(account string, m Month) Import {
	in := imported(account, "one", now)
	in.Month, in.Final = m, true
	return in
}

// in returns a charge moved to the same day of another month.
func in(m Month, c bill.Charge) bill.Charge {
	c.ChargePeriodStart = m.Start().AddDate(0, 0, c.ChargePeriodStart.Day()-1)
	c.BillingPeriodStart = m.Start()
	return c
}

// attributing sets how many closed months follow changes of teams and groups.
func (s *fixture) attributing(months int) {
	s.Helper()
	s.Put(identity.OrganisationKey(testOrg),
		identity.OrganisationRecord{ChosenPreferences: identity.ChosenPreferences{AttributionMonths: &months}})
}

// between returns a question about whole months.
func between(from, to Month, dims ...string) Question {
	return Question{From: from.Start(), To: to.End(), Metric: Billed, Dims: dims}
}

// attributeClosed attributes all closed months, each in one call.
func (s *fixture) attributeClosed() {
	s.Helper()
	months, err := s.store.ClosedMonths(s.ctx, testOrg)
	s.Must(err)
	for _, m := range months {
		done, err := s.store.AttributeMonth(s.ctx, testOrg, m, s.Clock.Now().Add(time.Minute))
		s.Must(err)
		equal(s, "done with "+m.String(), done, true)
	}
}

func TestAttribution_ClosedMonthsFollowTeamsThatAreMadeLater(t *testing.T) {
	for months, want := range map[int][]string{
		13: {"team_z=21"},
		2:  {"team_z=17", "=4"},
		1:  {"team_z=11", "=10"},
		0:  {"=16", "team_z=5"},
	} {
		t.Run(strconv.Itoa(months)+" closed months", func(t *testing.T) {
			s := newFixture(t)
			s.attributing(months)
			inventorytest.Discover(s.Fixture, testOrg, "aws-ec2", inventorytest.Instances(1)...)
			for n, amount := range []string{"6", "6", "4"} {
				m := march.Add(-1 - n)
				s.bring(closed("ca_1", m), in(m, charge(1, "i-0", "EC2", amount)))
			}
			s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"))
			s.Clock.Advance(time.Hour)
			s.own("team_z", 1, "i-0")
			changed := s.Clock.Now()

			q := between(march.Add(-3), march, TeamDim)
			behind, err := s.store.RebuildOpen(s.ctx, testOrg, nil)
			s.Must(err)
			equal(t, "closed months are behind", behind, months > 0)
			equal(t, "after the rebuild of open months", rows(s.ask(q)), []string{"=16", "team_z=5"})
			equal(t, "attributed from", s.ask(q).Attribution.From(changed), march.Start())
			s.attributeClosed()
			equal(t, "after all", rows(s.ask(q)), want)
			a := s.ask(q)
			first := march.Add(-min(months, 3))
			if from := a.Attribution.From(changed); months < 13 && !from.Equal(first.Start()) ||
				months == 13 && !from.IsZero() {
				t.Errorf("attributed from %s", from)
			}
			s.summariesAgree(march.Add(-3), march)
		})
	}
}

// summariesAgree compares the summaries by team, and their times of attribution, with the answers to questions.
func (s *fixture) summariesAgree(from, to Month) {
	s.Helper()
	sums, err := s.store.Summaries(s.ctx, testOrg, from, to)
	s.Must(err)
	for i := range sums {
		m := sums[i].Month
		a := s.ask(between(m, m, TeamDim))
		byTeam := map[string]money.Amount{}
		for _, v := range sums[i].By[TeamDim] {
			byTeam[v.Value] = v.Billed
		}
		for _, r := range a.Rows {
			equal(s, fmt.Sprintf("summary of %s of %s", r.Keys[0], m), byTeam[r.Keys[0]], r.Amount)
		}
		equal(s, "summary of "+m.String(), sums[i].Total.Billed, a.Total)
		if sums[i].AttributedAt.After(a.Attribution[m]) {
			s.Errorf("the summary of %s is attributed at %s, its bills at %s", m, sums[i].AttributedAt,
				a.Attribution[m])
		}
	}
}

// attributedAt returns the time of attribution in the summary of a month.
func (s *fixture) attributedAt(m Month) time.Time {
	s.Helper()
	sums, err := s.store.Summaries(s.ctx, testOrg, m, m)
	s.Must(err)
	return sums[0].AttributedAt
}

func TestAttribution_OfAnUnchangedMonthIsRecordedWithoutNewStamps(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "4")))
	before, err := s.store.readPointers(s.ctx, testOrg, february, february)
	s.Must(err)
	s.Clock.Advance(time.Hour)
	s.own("team_c", 2)
	behind, err := s.store.RebuildOpen(s.ctx, testOrg, nil)
	s.Must(err)
	equal(t, "behind", behind, true)
	s.attributeClosed()
	after, err := s.store.readPointers(s.ctx, testOrg, february, february)
	s.Must(err)
	equal(t, "stamps", after[0].Stamps, before[0].Stamps)
	equal(t, "attributed at", after[0].AttributedAt, s.Clock.Now())
	equal(t, "attributed at, in the summary", s.attributedAt(february), s.Clock.Now())
	s.summariesAgree(february, february)

	ctx, meter := table.WithMeter(s.ctx)
	_, err = s.store.AttributeMonth(ctx, testOrg, february, s.Clock.Now().Add(time.Minute))
	s.Must(err)
	equal(t, "write units of the second time", meter.Usage().WriteUnits, 0)
	behind, err = s.store.RebuildOpen(s.ctx, testOrg, nil)
	s.Must(err)
	equal(t, "behind afterwards", behind, false)
}

func TestAttribution_ContinuesWhereACallEnded(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	for n := range 3 {
		account := "ca_" + strconv.Itoa(n)
		s.bring(closed(account, february), in(february, charge(1, "i-0", "EC2", "4")))
	}
	s.Clock.Advance(time.Hour)
	s.own("team_a", 2)
	s.own("team_d", 1, "i-0")
	s.store.clock = &steps{Manual: s.Clock}
	until := s.Clock.Now().Add(4 * time.Second) // each look at the clock takes a second
	var calls int
	for done := false; !done; calls++ {
		if calls > 5 {
			t.Fatal("the month is never done")
		}
		var err error
		done, err = s.store.AttributeMonth(s.ctx, testOrg, february, until)
		s.Must(err)
		equal(t, "total", s.ask(between(february, february)).Total.String(), "12")
		until = s.Clock.Now().Add(4 * time.Second)
	}
	if calls < 2 {
		t.Errorf("it took %d calls", calls)
	}
	equal(t, "teams", rows(s.ask(between(february, february, TeamDim))), []string{"team_d=12"})
	s.summariesAgree(february, february)
}

// steps is a clock on which each look takes a second.
type steps struct{ *clock.Manual }

// Now advances the clock.
func (c *steps) Now() time.Time {
	c.Advance(time.Second)
	return c.Manual.Now()
}

// TestAttribution_KilledAnywhereIsDoneAgain makes each store call of an attribution fail in turn, before and after it
// has taken effect. In between and afterwards, the parts add up to the total.
func TestAttribution_KilledAnywhereIsDoneAgain(t *testing.T) {
	february := march.Add(-1)
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		s := owned(t)
		s.attributing(13) // so that its reading can fail
		s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "5")))
		s.bring(closed("ca_2", february), in(february, charge(1, "i-1", "EC2", "0.7")),
			in(february, charge(2, "", "Tax", "0.03")))
		for call, done := 1, false; !done; call++ {
			if call > 60 {
				t.Fatal("an attribution takes more than 60 calls")
			}
			s.Clock.Advance(time.Minute)
			team := "team_" + string(rune('k'+call%2))
			s.own(team, int64(call), "i-0", "i-1")
			s.own("team_"+string(rune('k'+(call+1)%2)), int64(call))
			s.own("team_a", int64(call+1))
			s.faulty.Inject(table.Injection{Harm: harm, Call: call})
			before := s.faulty.CallCount()
			_, err := s.store.AttributeMonth(s.ctx, testOrg, february, s.Clock.Now().Add(time.Minute))
			done = s.faulty.CallCount()-before < call
			s.faulty.RemoveFaults()
			equal(t, "total in between", s.ask(between(february, february, TeamDim)).Total.String(), "5.73")
			s.summariesAgree(february, february)
			if done != (err == nil) {
				t.Fatalf("harm %d of call %d: %v", harm, call, err)
			}
			s.attributeClosed()
			got := rows(s.ask(between(february, february, TeamDim)))
			want := team + "=5.23333333333333333333333333333" // the last digit goes to one of the three
			if !strings.HasPrefix(got[0], want) || len(got) != 4 {
				t.Fatalf("harm %d of call %d: %v, want %s", harm, call, got, want)
			}
			equal(t, "attributed at", s.attributedAt(february), s.Clock.Now())
			s.summariesAgree(february, february)
		}
	}
}

func TestAttribution_AMonthThatFailsDoesNotPreventTheOthers(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "5")))
	broken := s.bring(closed("ca_2", february), in(february, charge(1, "i-0", "EC2", "7")))
	s.bring(closed("ca_3", february), in(february, charge(1, "i-0", "EC2", "9")))
	s.Clock.Advance(time.Hour)
	s.own("team_a", 2)
	s.own("team_h", 1, "i-0")
	s.faulty.Inject(table.Injection{Harm: table.FailBefore, PK: PK(testOrg) + "#" + broken.Generation})
	s.store = s.fresh() // without the chunks in memory
	_, err := s.store.AttributeMonth(s.ctx, testOrg, february, s.Clock.Now().Add(time.Minute))
	if err == nil {
		t.Error("no error")
	}
	s.faulty.RemoveFaults()
	equal(t, "teams", rows(s.ask(between(february, february, TeamDim))), []string{"team_h=14", "team_a=7"})
	s.attributeClosed()
	equal(t, "teams, tried again", rows(s.ask(between(february, february, TeamDim))), []string{"team_h=21"})
}

// TestAttribution_NeverChangesATotal draws bills, teams and kills. Before, during and after each attribution, teams and
// Unassigned add up to the total of the charges, to the last digit, and the other organization stays as it was.
func TestAttribution_NeverChangesATotal(t *testing.T) {
	r := seed.Fixed(t, 20, 11)
	for range 4 {
		s := owned(t)
		s.store.rolling = worthwhile{} // always
		var charges []bill.Charge
		for n := range 4 {
			m := march.Add(-n)
			imp := rated("ca_1", "one", now)
			imp.Month, imp.Final = m, n > 0
			drawn := drawCharges(r, 150)
			for i := range drawn {
				drawn[i] = in(m, drawn[i])
			}
			s.bring(imp, drawn...)
			charges = append(charges, drawn...)
		}
		other := closed("ca_1", march.Add(-1))
		other.Org = otherOrg
		s.bring(other, in(march.Add(-1), charge(1, "i-0", "EC2", "99")))
		q := Question{From: march.Add(-3).Start(), To: march.End(), Metric: Billed, Daily: true}
		whole := s.ask(q)
		want, total := oracle(charges, q, func(*bill.Charge) string { return "" })
		equal(t, "total", whole.Total, total)
		for round := range 8 {
			s.Clock.Advance(time.Minute)
			s.attributing([]int{13, 2, 0}[r.IntN(3)])
			uids := []string{"i-0", "i-1", "i-2"}
			s.own("team_"+string(rune('a'+r.IntN(4))), int64(100+round), uids[:r.IntN(4)]...)
			s.faulty.Inject(table.Injection{
				Harm: []table.Harm{table.FailBefore, table.FailAfter}[r.IntN(2)],
				Call: 1 + r.IntN(40),
			})
			_, _ = s.store.RebuildOpen(s.ctx, testOrg, nil) // killed or not
			for n := range 3 {
				_, _ = s.store.AttributeMonth(s.ctx, testOrg, march.Add(-1-n), s.Clock.Now().Add(time.Minute))
			}
			s.faulty.RemoveFaults()
			for _, q.Dims = range [][]string{{TeamDim}, {GroupDim}, {TeamDim, ServiceDim}} {
				a := s.ask(q)
				var sum money.Amount
				for i := range a.Rows {
					sum.Increase(&a.Rows[i].Amount)
				}
				if sum != want[""] || a.Total != whole.Total || fmt.Sprint(a.Days) != fmt.Sprint(whole.Days) {
					t.Fatalf("round %d: by %s, %s and %s; want %s", round, q.Dims, sum, a.Total, want[""])
				}
			}
			s.summariesAgree(march.Add(-3), march)
		}
		a, err := s.store.Ask(contextOf(s, otherOrg), otherOrg, between(march.Add(-1), march.Add(-1), TeamDim))
		s.Must(err)
		equal(t, "the other organization", rows(a), []string{"=99"})
	}
}

// Periods and summaries of an earlier version do not say which teams and groups they follow. Closed ones count as
// attributed at the end of their month, and the next rebuild attributes them.
func TestAttribution_OfAnEarlierVersion(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "4")))
	s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"))
	for _, m := range []Month{february, march} {
		s.Change(periodKey(testOrg, m, "ca_1", false), table.Remove("attributedAt"), table.Remove("definitions"))
		s.Change(summaryKey(testOrg, m), table.Remove("attributedAt"))
	}
	s.Clock.Advance(time.Hour)
	both := between(february, march, TeamDim)
	for changed, want := range map[time.Time]time.Time{
		february.Start(): {}, february.End(): {}, february.End().Add(time.Second): march.Start(), now: march.Start(),
		s.Clock.Now(): march.End(),
	} {
		equal(t, "attributed from, changed at "+changed.String(), s.ask(both).Attribution.From(changed), want)
	}
	equal(t, "in the summary of February", s.attributedAt(february), february.End())
	equal(t, "in the summary of March", s.attributedAt(march), now)

	s.own("team_a", 2)
	s.own("team_d", 1, "i-0")
	behind, err := s.store.RebuildOpen(s.ctx, testOrg, nil)
	s.Must(err)
	equal(t, "behind", behind, true)
	s.attributeClosed()
	equal(t, "teams", rows(s.ask(both)), []string{"team_d=9"})
	equal(t, "attributed from", s.ask(both).Attribution.From(s.Clock.Now()), time.Time{})
	ctx, meter := table.WithMeter(s.ctx)
	_, err = s.fresh().Summaries(ctx, testOrg, february, march)
	s.Must(err)
	equal(t, "round trips of summaries", meter.Usage().RoundTrips, 1)
}
