package recommendation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// idle returns a true finding of a rule for i-1 that saves 100 USD a month.
func idle() Finding {
	return Finding{
		RuleID: "aws-ec2-idle", RuleVersion: 1, Outcome: True,
		Resource: Resource{
			ResourceID:      "res_01k6v0e4y0c2b7m9q8r5t3w1xz",
			ResourceUID:     "i-1",
			ResourceName:    "web",
			ResourceType:    "aws-ec2",
			Provider:        "aws",
			CloudAccountID:  "ca_1",
			Region:          "eu-west-1",
			ResourceVersion: 7,
		},
		Category: "idle", Severity: High, Effort: "low", Risk: "low", Title: "Instance does almost nothing",
		Reason: "CPU was at most 2 %",
		Savings: Savings{
			Gross: money.FromInt(100), Net: money.FromInt(100), Cost: money.FromInt(120), Basis: Billed, Form: "all",
			Strength: ByStop,
		},
		Evidence: Evidence{
			Values: map[string]any{"m.cpu_max_14d": 2.04}, Thresholds: map[string]any{"cpu_pct": 5.0}, Window: "14d",
			Points: 336, Rule: "aws-ec2-idle", RuleVersion: 1,
		},
	}
}

// change returns the finding with changes.
func change(f Finding, changes ...func(*Finding)) *Finding {
	for _, c := range changes {
		c(&f)
	}
	return &f
}

func outcome(o Outcome) func(*Finding) { return func(f *Finding) { f.Outcome = o } }

func saving(usd int64) func(*Finding) {
	return func(f *Finding) { f.Savings.Net, f.Savings.Gross = money.FromInt(usd), money.FromInt(usd) }
}

func value(name string, v any) func(*Finding) {
	return func(f *Finding) { f.Evidence.Values = map[string]any{name: v} }
}

// history is a row under evaluation: each step is a day later than the one before.
type history struct {
	row  Row
	at   time.Time
	pass int
}

func (h *history) find(f *Finding) bool {
	h.pass++
	next, changed := Advance(h.row, f, Pass{ID: fmt.Sprint("pass ", h.pass), At: h.at})
	h.row, h.at = next, h.at.Add(24*time.Hour)
	return changed
}

func (h *history) decide(t *testing.T, d Decision) {
	t.Helper()
	d.At, d.By = h.at, "ada@example.com"
	next, _, err := Decide(h.row, d)
	if err != nil {
		t.Fatal(err)
	}
	h.row, h.at = next, h.at.Add(24*time.Hour)
}

// reach returns a row in a status.
func reach(t *testing.T, status Status) *history {
	t.Helper()
	h := &history{at: start}
	f := idle()
	if status == "" {
		return h
	}
	if status == Candidate {
		f.Metrics = true
	}
	h.find(&f)
	switch status {
	case Dismissed:
		h.decide(t, Decision{Status: Dismissed, Reason: Intended})
	case Applied:
		h.decide(t, Decision{Status: Applied})
	case Optimised:
		for range 3 {
			h.find(change(idle(), outcome(False)))
		}
	default:
	}
	if h.row.Status != status {
		t.Fatalf("the row is %q, not %q", h.row.Status, status)
	}
	return h
}

// The table of the design: each status and each event.
func TestAdvance_FollowsTheTableOfTransitions(t *testing.T) {
	followed := func(f *Finding) { f.Outcome, f.Followed = False, true }
	metrics := func(f *Finding) { f.Metrics = true }
	events := []struct {
		name    string
		finding *Finding
		want    map[Status]Status
	}{
		{"a state is true", change(idle()), map[Status]Status{
			"": Open, Candidate: Open, Open: Open, Dismissed: Dismissed, Applied: Applied, Optimised: Open,
		}},
		{"a metric is true for a day", change(idle(), metrics), map[Status]Status{
			"": Candidate, Candidate: Open, Open: Open, Dismissed: Dismissed, Applied: Applied, Optimised: Optimised,
		}},
		{"it is false once", change(idle(), outcome(False)), map[Status]Status{
			"": "", Candidate: Candidate, Open: Open, Dismissed: Dismissed, Applied: Applied, Optimised: Optimised,
		}},
		{"the advice was followed", change(idle(), followed), map[Status]Status{
			"": "", Candidate: Candidate, Open: Applied, Dismissed: Dismissed, Applied: Applied, Optimised: Optimised,
		}},
		{"it is unknown", change(idle(), outcome(Unknown)), map[Status]Status{
			"": "", Candidate: Candidate, Open: Open, Dismissed: Dismissed, Applied: Applied, Optimised: Optimised,
		}},
		{
			"the resource is gone",
			change(idle(), outcome(Gone)),
			map[Status]Status{
				"":        "",
				Candidate: Candidate,
				Open:      Optimised,
				Dismissed: Optimised,
				Applied:   Optimised,
				Optimised: Optimised,
			},
		},
		{"the rule is off", change(idle(), outcome(Off)), map[Status]Status{
			"": "", Candidate: Candidate, Open: Optimised, Dismissed: Dismissed, Applied: Optimised,
			Optimised: Optimised,
		}},
		{"the saving is above 1.5 times and 50 USD more", change(idle(), saving(151)), map[Status]Status{
			Dismissed: Open,
		}},
		{"the saving is 50 USD more", change(idle(), saving(150)), map[Status]Status{Dismissed: Dismissed}},
		{"the severity rises", change(idle(), func(f *Finding) { f.Severity = Critical }), map[Status]Status{
			Dismissed: Open,
		}},
		{
			"the rule changes",
			change(idle(), func(f *Finding) { f.RuleVersion = 2 }),
			map[Status]Status{Dismissed: Open},
		},
		{
			"the resource changes", change(idle(), func(f *Finding) { f.Resource.ResourceVersion = 8 }),
			map[Status]Status{Dismissed: Open},
		},
	}
	for _, e := range events {
		for from, want := range e.want {
			h := reach(t, from)
			before := h.row
			changed := h.find(e.finding)
			if h.row.Status != want {
				t.Errorf("%s: %q becomes %q, want %q", e.name, from, h.row.Status, want)
			}
			if changed != (h.row.Version == before.Version+1) {
				t.Errorf(
					"%s: %q: changed is %v, versions %d, %d",
					e.name,
					from,
					changed,
					before.Version,
					h.row.Version,
				)
			}
		}
	}
}

func TestAdvance_ThreeFalseEvaluationsEndARow(t *testing.T) {
	for _, from := range []Status{Open, Applied} {
		h := reach(t, from)
		for n, want := range []Status{from, from, Optimised} {
			if h.find(change(idle(), outcome(False))); h.row.Status != want {
				t.Errorf("%s: after %d: %s", from, n+1, h.row.Status)
			}
		}
		if h.row.Ended != EndedFalse || h.row.EndedAt.IsZero() || h.row.Falses != 0 {
			t.Errorf("%s: %+v", from, h.row)
		}
	}
}

func TestAdvance_ATrueEvaluationStartsTheCountAgainAndAnUnknownOneDoesNot(t *testing.T) {
	h := reach(t, Open)
	for _, o := range []Outcome{False, False, True, False, Unknown, Unknown, False} {
		h.find(change(idle(), outcome(o)))
	}
	if h.row.Status != Open || h.row.Falses != 2 {
		t.Errorf("%s after %d", h.row.Status, h.row.Falses)
	}
}

func TestAdvance_ARepeatedOrAnOlderPassChangesNothing(t *testing.T) {
	for _, o := range []Outcome{True, False, Gone, Off} {
		f := change(idle(), outcome(o), saving(300))
		p := Pass{ID: "pass", At: start.Add(48 * time.Hour)}
		row, changed := Advance(reach(t, Open).row, f, p)
		if !changed {
			t.Fatalf("%d: nothing changed", o)
		}
		if again, changed := Advance(row, f, p); changed || again.Version != row.Version {
			t.Errorf("%d: the pass changed the row twice", o)
		}
		if _, changed := Advance(row, change(idle()), Pass{ID: "older", At: start}); changed {
			t.Errorf("%d: an older pass changed the row", o)
		}
	}
}

func TestAdvance_TwoEvaluationsOfOneDayAreOneDay(t *testing.T) {
	h := &history{at: start}
	f := change(idle(), func(f *Finding) { f.Metrics = true })
	h.find(f)
	h.at = start.Add(15 * time.Hour)
	if changed := h.find(f); changed || h.row.Status != Candidate {
		t.Errorf("%s", h.row.Status)
	}
	h.at = start.Add(16 * time.Hour) // the next day
	if h.find(f); h.row.Status != Open || h.row.Episode != 1 {
		t.Errorf("%s", h.row.Status)
	}
}

func TestAdvance_MetricsOfTwoDaysOpenARowAtOnce(t *testing.T) {
	h := &history{at: start}
	f := change(idle(), func(f *Finding) { f.Metrics, f.TrueBefore = true, true })
	if h.find(f); h.row.Status != Open || h.row.Episode != 1 {
		t.Errorf("%s", h.row.Status)
	}
}

func TestAdvance_AFalseDayForgetsTheFirstTrueOne(t *testing.T) {
	h := reach(t, Candidate)
	h.find(change(idle(), outcome(False)))
	f := change(idle(), func(f *Finding) { f.Metrics = true })
	if h.find(f); h.row.Status != Candidate {
		t.Errorf("%s on the first day of two", h.row.Status)
	}
	if h.find(f); h.row.Status != Open {
		t.Errorf("%s on the second day", h.row.Status)
	}
}

func TestAdvance_AnAppliedRowReopensAfterThreeDays(t *testing.T) {
	h := reach(t, Applied)
	applied := h.row.AppliedAt
	h.at = applied.Add(appliedGrace - time.Second)
	if h.find(change(idle())); h.row.Status != Applied {
		t.Errorf("%s before three days", h.row.Status)
	}
	h.at = applied.Add(appliedGrace)
	if h.find(change(idle())); h.row.Status != Open || h.row.Reopened != 1 || !h.row.AppliedAt.IsZero() {
		t.Errorf("%s, reopened %d times", h.row.Status, h.row.Reopened)
	}
}

func TestAdvance_ADismissalEndsAtItsTime(t *testing.T) {
	until := start.Add(10 * 24 * time.Hour)
	for o, want := range map[Outcome]string{True: "open", False: "open, 1 false", Unknown: "dismissed"} {
		h := reach(t, Open)
		h.decide(t, Decision{Status: Dismissed, Reason: Later, Until: until})
		h.find(change(idle(), func(f *Finding) { f.RuleVersion, f.Resource.ResourceVersion = 9, 9 }))
		if h.row.Status != Dismissed {
			t.Fatal("a change of the rule or the resource ends a dismissal with a time")
		}
		h.at = until
		h.find(change(idle(), outcome(o)))
		got := string(h.row.Status)
		if h.row.Falses > 0 {
			got += fmt.Sprintf(", %d false", h.row.Falses)
		}
		if got != want {
			t.Errorf("%d: %s, want %s", o, got, want)
		}
	}
	h := reach(t, Open)
	h.decide(t, Decision{Status: Dismissed, Reason: Later, Until: until})
	if h.row.Effective(until.Add(-time.Second)) != Dismissed || h.row.Effective(until) != Open {
		t.Error("the status does not follow the time")
	}
}

func TestAdvance_TrueAgainIsANewEpisode(t *testing.T) {
	h := reach(t, Optimised)
	h.find(change(idle(), saving(40)))
	if h.row.Status != Open || h.row.Episode != 2 || h.row.Ended != "" || !h.row.EndedAt.IsZero() ||
		h.row.Savings.Net != money.FromInt(40) {
		t.Errorf("%+v", h.row)
	}
	var moves []string
	for _, e := range h.row.History {
		moves = append(moves, string(e.From)+">"+string(e.To))
	}
	if got := strings.Join(moves, " "); got != ">open open>optimised optimised>open" {
		t.Error(got)
	}
}

func TestAdvance_WritesOnlyWhatShows(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Finding)
		want   bool
	}{
		"a time":                          {func(f *Finding) { f.Evidence.At = start }, false},
		"a version of the prices":         {func(f *Finding) { f.Evidence.PriceVersion = "2" }, false},
		"the third digit of a value":      {value("m.cpu_max_14d", 2.01), false},
		"the second digit of a value":     {value("m.cpu_max_14d", 2.2), true},
		"another value":                   {value("res.state", "on"), true},
		"a saving of 2 %":                 {saving(102), false},
		"a saving of 3 %":                 {saving(103), true},
		"a much smaller saving":           {saving(11), true},
		"the severity":                    {func(f *Finding) { f.Severity = Low }, true},
		"the name of the resource":        {func(f *Finding) { f.Resource.ResourceName = "db" }, true},
		"a version of the resource alone": {func(f *Finding) { f.Resource.ResourceVersion = 8 }, false},
	} {
		h := reach(t, Open)
		if got := h.find(change(idle(), c.change)); got != c.want {
			t.Errorf("%s: changed is %v", name, got)
		}
	}
	if moved(money.FromInt(10), money.FromInt(11)) || !moved(money.FromInt(10), money.MustParse("11.01")) {
		t.Error("a saving that differs by 1 USD is the same one, by more it is not")
	}
}

func TestAdvance_KeepsTheLastEvents(t *testing.T) {
	h := reach(t, Open)
	for range 2 * MaxHistory {
		h.decide(t, Decision{Status: Applied})
		h.decide(t, Decision{Status: Open})
	}
	if len(h.row.History) != MaxHistory {
		t.Errorf("%d events", len(h.row.History))
	}
}

// Each status and each decision of a person: the wanted status, or the kind of the error.
func TestDecide_FollowsTheTableOfTransitions(t *testing.T) {
	dismiss := Decision{Status: Dismissed, Reason: Wrong}
	for _, c := range []struct {
		decision Decision
		want     map[Status]string
	}{
		{Decision{Status: Open}, map[Status]string{
			Open: "open", Dismissed: "open", Applied: "open", Optimised: "conflict",
		}},
		{dismiss, map[Status]string{
			Open: "dismissed", Dismissed: "dismissed", Applied: "dismissed", Optimised: "conflict",
		}},
		{Decision{Status: Applied}, map[Status]string{
			Open: "applied", Dismissed: "applied", Applied: "applied", Optimised: "conflict",
		}},
		{Decision{Status: Optimised}, map[Status]string{
			Open: "conflict", Dismissed: "conflict", Applied: "conflict", Optimised: "optimised",
		}},
	} {
		for from, want := range c.want {
			h := reach(t, from)
			d := c.decision
			d.At = h.at
			next, changed, err := Decide(h.row, d)
			got := string(next.Status)
			if fault.Is(err, fault.Conflict) {
				got = "conflict"
			}
			if got != want || changed && err != nil {
				t.Errorf("%s to %s: %s (%v), want %s", from, d.Status, got, err, want)
			}
		}
	}
}

func TestDecide_RefusesWithTheWayOut(t *testing.T) {
	h := reach(t, Open)
	for want, d := range map[string]Decision{
		"status":                      {Status: "closed"},
		"say why":                     {Status: Dismissed},
		"not one of intended":         {Status: Dismissed, Reason: "bored"},
		"in the past":                 {Status: Dismissed, Reason: Later, Until: h.at},
		"more than 365 days":          {Status: Dismissed, Reason: Later, Until: h.at.Add(MaxDismissal + 1)},
		"go with status dismissed":    {Status: Applied, Until: h.at.Add(time.Hour)},
		"leave them out for open":     {Status: Open, Text: "hello"},
		"leave them out for applied":  {Status: Applied, Reason: Wrong},
		"not one of open, applied, d": {Status: Candidate},
	} {
		d.At = h.at
		_, _, err := Decide(h.row, d)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestConfirm_AMeasuredSavingEndsTheRowOnce(t *testing.T) {
	m := Realized{USD: money.FromInt(90), At: start.Add(240 * time.Hour), Proof: "line 1"}
	for from, want := range map[Status]Status{
		Open: Optimised, Applied: Optimised, Optimised: Optimised, Dismissed: Dismissed,
	} {
		row, changed := Confirm(reach(t, from).row, m)
		if !changed || row.Status != want || row.Realized.USD != money.FromInt(90) {
			t.Errorf("%s becomes %s", from, row.Status)
		}
		if _, again := Confirm(row, m); again {
			t.Errorf("%s: one line counts twice", from)
		}
	}
	if _, changed := Confirm(reach(t, Candidate).row, m); changed {
		t.Error("a candidate has saved something")
	}
}

func TestIDOf_HasTheTimeOfTheResourceAndTheShard(t *testing.T) {
	seen := map[string]bool{}
	for n := range 200 {
		uid := fmt.Sprint("i-", n)
		id := IDOf("res_01k6v0e4y0c2b7m9q8r5t3w1xz", uid, "aws-ec2-idle")
		k, ok := Key("org_1", id)
		if !ok || k.PK != rowPK("org_1", ShardOf(uid)) || !strings.HasPrefix(id, "rec_01k6v0e4y0") || seen[id] {
			t.Fatalf("%s of %s is at %v", id, uid, k)
		}
		seen[id] = true
	}
	for _, text := range []string{
		"", "rec_", "res_01k6v0e4y0c2b7m9q8r5t3w1xz", "rec_81k6v0e4y0c2b7m9q8r5t3w1xz", "rec_x",
	} {
		if _, ok := Key("org_1", text); ok {
			t.Errorf("%q is an id", text)
		}
	}
}
