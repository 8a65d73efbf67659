package billingsync_test

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

func TestConnecting_ImportsThirteenMonthsByItself(t *testing.T) {
	race.SkipRepetition(t)
	for _, form := range []string{"cur", "focus"} {
		t.Run(form, func(t *testing.T) {
			s := newFixture(t)
			a := s.connect(settings{"bills": form})
			got := s.status()
			if got.Status != "ok" || got.MonthsBackfilled != 13 || got.LastSyncedAt == nil ||
				got.CloudAccountID != a.ID || got.Provider != "simulated" || got.Message != "" {
				t.Errorf("%+v", got)
			}
			if got := apitest.Data[connection.Account](s.Call(alice, "GET /cloud-accounts/"+a.ID,
				nil)); got.LastSyncedAt == nil ||
				got.LastSyncedAt.Before(noon) || got.LastSyncedAt.After(s.clk.Now()) {
				t.Errorf("the account was synchronized at %v", got.LastSyncedAt)
			}
			plan := s.plan(settings{"bills": form})
			s.wantPlanted(plan)
			var want money.Amount
			for _, m := range plan.Months {
				want = want.Add(m.Billed)
			}
			if all := s.ask(cost.ServiceDim); all.Total != want || len(all.Rows) < 5 {
				t.Errorf("the costs are %s in %d services; planted is %s", all.Total, len(all.Rows), want)
			}
			byType := map[string]bool{}
			for _, r := range s.ask(cost.TypeDim).Rows {
				byType[r.Keys[0]] = true
			}
			if !byType["aws-ec2"] || !byType["aws-rds"] {
				t.Errorf("resources of the inventory are not known on the bill: types %v", byType)
			}
		})
	}
}

func TestVerify_GivesTheRunThatIsUnderWay(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.gate.Lock()
	first := apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202)
	second := apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202)
	s.gate.Unlock()
	s.idle()
	if first.StatusURL != "/billing/sync-status" || first.Status != "running" || second.JobID != first.JobID {
		t.Errorf("%+v, then %+v", first, second)
	}
	if third := apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202); third.JobID == first.JobID {
		t.Error("a run that has ended is given again")
	}
	s.idle()
	s.Call(bob, "GET /billing/sync-status", nil).Want(200, `"data":[]`)
}

// A delivery is imported once, however often it is listed.
func TestRuns_OfTheSameDeliveriesChangeNothing(t *testing.T) {
	s := newFixture(t)
	s.connect()
	before := s.periods()
	s.verify()
	for month, p := range s.periods() {
		if p.ImportedAt != before[month].ImportedAt || p.Fingerprint != before[month].Fingerprint {
			t.Errorf("%s was imported again", month)
		}
	}
}

func TestSchedule_ImportsEachAccountOnceADay(t *testing.T) {
	s := newFixture(t)
	s.connect()
	if n := s.hours(12); n != 0 {
		t.Errorf("%d imports within half a day of the first", n)
	}
	if n := s.hours(24); n != 1 {
		t.Errorf("%d imports in the day after; want 1", n)
	}
	if n := s.hours(72); n < 2 || n > 4 {
		t.Errorf("%d imports in three days", n)
	}
	if got := s.status(); got.Status != "ok" || got.MonthsBackfilled != 13 {
		t.Errorf("%+v", got)
	}
}

// A month that is closed and restated afterwards is replaced.
func TestSchedule_FollowsARestatement(t *testing.T) {
	s := newFixture(t)
	s.clk.Advance(time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC).Sub(noon))
	s.connect()
	before, restated := s.periods(), 0
	s.clk.Advance(6 * 24 * time.Hour)
	s.hours(6)
	plan := s.plan()
	s.wantPlanted(plan)
	for month, p := range s.periods() {
		if was := before[month]; was.Final && was.Totals[0].Billed != p.Totals[0].Billed {
			restated++
		}
	}
	if month := plan.Months[len(plan.Months)-2]; month.Restated != (restated == 1) {
		t.Errorf("%d closed months changed; %s restated: %t", restated, month.Period, month.Restated)
	}
}

// A faulty delivery leaves the month unchanged, and the account shows the reason.
func TestFaults_LeaveTheMonthAsItWas(t *testing.T) {
	race.SkipRepetition(t)
	for fault, want := range map[string][]string{
		"truncated":   {"sample", "2026-11/simulated-00001.csv.gz", "row", "cut off"},
		"brokenRow":   {"sample", "2026-11/simulated-00001.csv.gz, row 3", "12,3O"},
		"wrongMonth":  {"sample", "2026-11/simulated-00001.csv.gz, row 3", "2026-12-01"},
		"rows":        {"totals", "simulated of 2026-11", "the manifest lists"},
		"missingFile": {"reachability", "NoSuchKey", "2026-11/simulated-00002.csv.gz"},
	} {
		t.Run(fault, func(t *testing.T) {
			s := newFixture(t)
			a := s.connect(settings{"bills": "focus"})
			before := s.periods()
			s.clk.Advance(24 * time.Hour)
			s.change(a.ID, settings{"bills": "focus", "billFault": fault, "billFaultMonth": "2026-11"})
			s.verify()
			got := s.status()
			if got.Status != "failed" || got.MonthsBackfilled != 13 {
				t.Errorf("%+v", got)
			}
			for _, w := range want {
				if !strings.Contains(got.Message, w) {
					t.Errorf("%q does not say %q", got.Message, w)
				}
			}
			for month, p := range s.periods() {
				if p.Fingerprint != before[month].Fingerprint || p.Totals[0] != before[month].Totals[0] {
					t.Errorf("%s has changed", month)
				}
			}
			s.clk.Advance(49 * time.Hour)
			if got = s.status(); got.Status != "stale" || !strings.Contains(got.Message, want[0]) {
				t.Errorf("after two days: %+v", got)
			}
			s.change(a.ID, settings{"bills": "focus"})
			s.verify()
			s.wantPlanted(s.plan(settings{"bills": "focus"}))
			if got = s.status(); got.Status != "ok" || got.Message != "" {
				t.Errorf("when it is mended: %+v", got)
			}
		})
	}
}

// A month that cannot be imported does not prevent the import of the others.
func TestFaults_OfOneMonthLeaveTheOthers(t *testing.T) {
	s := newFixture(t)
	s.connect(settings{"billFault": "brokenRow", "billFaultMonth": "2026-07"})
	if got := s.status(); got.Status != "failed" || got.MonthsBackfilled != 12 || len(s.periods()) != 12 ||
		!strings.Contains(got.Message, "2026-07/simulated-00001.csv.gz, row 3") {
		t.Errorf("%+v, %d periods", got, len(s.periods()))
	}
}

// A closed month with another control total is refused. For an open month the difference is only reported, because the
// provider's own interface is ahead of its export.
func TestControlTotal_RefusesAClosedMonthAndIsToldOfAnOpenOne(t *testing.T) {
	s := newFixture(t)
	s.connect(settings{"billFault": "total", "billFaultMonth": "2026-09"})
	if got := s.status(); got.Status != "failed" || got.MonthsBackfilled != 12 ||
		!strings.Contains(got.Message, "totals: simulated of 2026-09: its files come to") {
		t.Errorf("closed: %+v", got)
	}
	if _, in := s.periods()["2026-09"]; in {
		t.Error("a closed month is in whose total is another one")
	}
	s = newFixture(t)
	s.connect(settings{"billFault": "total", "billFaultMonth": "2026-11"})
	got := s.status()
	if got.Status != "ok" || got.MonthsBackfilled != 13 ||
		!strings.Contains(got.Message, "2026-11: its files come to") ||
		!strings.Contains(got.Message, "while the month is open") {
		t.Errorf("open: %+v", got)
	}
	if _, in := s.periods()["2026-11"]; !in {
		t.Error("an open month is not in")
	}
}

func TestConnecting_WaitsForTheFirstExportAndNamesAPermission(t *testing.T) {
	for name, tt := range map[string]struct {
		settings settings
		says     string
	}{
		"no export":     {settings{"bills": "none"}, "no export of bills is set up"},
		"no permission": {settings{"denied": "billing"}, "cur:DescribeReportDefinitions"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.connect(tt.settings)
			if got := s.status(); got.Status != "never" || !strings.Contains(got.Message, "waiting for first export") ||
				!strings.Contains(got.Message, tt.says) {
				t.Errorf("%+v", got)
			}
			s.clk.Advance(49 * time.Hour)
			if got := s.status(); got.Status != "failed" || !strings.Contains(got.Message, tt.says) {
				t.Errorf("after two days %+v", got)
			}
		})
	}
}

// Each write of an import fails once, before or after it took effect. The stored month is then the old or the new one,
// and the next run stores the new one.
func TestKilled_AnywhereAMonthIsAsBeforeOrAsDelivered(t *testing.T) {
	race.SkipRepetition(t)
	s := newFixture(t)
	s.connect()
	for call := 1; call <= 12; call++ {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			before := s.periods()
			s.clk.Advance(24 * time.Hour)
			s.store.Inject(table.Injection{Harm: harm, PK: table.OrgPK("org_a") + "COST", Call: call})
			s.verify()
			s.store.RemoveFaults()
			planned := map[string]money.Amount{}
			for _, m := range s.plan().Months {
				planned[m.Period.Format("2006-01")] = m.Billed
			}
			for month, p := range s.periods() {
				if was := before[month]; p.Totals[0].Billed != planned[month] &&
					(len(was.Totals) == 0 || p.Totals[0] != was.Totals[0]) {
					t.Errorf("call %d, harm %d: %s is %s", call, harm, month, p.Totals[0].Billed)
				}
			}
			s.clk.Advance(time.Hour)
			s.verify()
			if got := s.status(); got.Status != "ok" {
				t.Errorf("call %d, harm %d: %+v", call, harm, got)
			}
			for _, m := range s.plan().Months {
				if p := s.periods()[m.Period.Format("2006-01")]; p.Totals[0].Billed != m.Billed {
					t.Errorf("call %d, harm %d: %s is %s after another run; want %s", call, harm, p.Period,
						p.Totals[0].Billed, m.Billed)
				}
			}
		}
	}
}

func TestDeleting_AnAccountForgetsHowItsBillsStandAndKeepsItsCosts(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	total := s.ask().Total
	s.Call(alice, "DELETE /cloud-accounts/"+a.ID, nil).Want(200)
	s.idle()
	s.hours(6)
	s.Call(alice, "GET /billing/sync-status", nil).Want(200, `"data":[]`)
	if s.ask().Total != total {
		t.Errorf("the costs are %s; want %s", s.ask().Total, total)
	}
	if n := s.hours(30); n != 0 {
		t.Errorf("%d imports were begun", n)
	}
}

func TestPeriods_AreAPageAndAreFiltered(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	list := func(query string) rest.List[billing.Period] {
		return apitest.Data[rest.List[billing.Period]](s.Call(alice, "GET /billing/periods?"+query,
			nil).AtMost(1))
	}
	if got := list("limit=2&page=2"); got.Total != 13 || len(got.Items) != 2 || got.Items[0].Period != "2026-09" {
		t.Errorf("%+v", got)
	}
	if got := list("period=2026-03&cloud_account_id=" + a.ID); got.Total != 1 || got.Items[0].Period != "2026-03" ||
		*got.Items[0].SettledThrough != "2026-03-31" {
		t.Errorf("%+v", got)
	}
	if got := list("cloud_account_id=ca_none"); got.Total != 0 {
		t.Errorf("%+v", got)
	}
	s.Call(alice, "GET /billing/periods?period=March", nil).Want(400, "2026-03")
}
