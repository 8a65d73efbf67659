package recommender

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// plan plans a document, has the worker evaluate it, and returns the plan and its results.
func (f *fixture) plan(d rule.Document, prune bool) (recommendation.RulePlan, []recommendation.RulePlanResult) {
	f.Helper()
	f.Workflow = apitest.Idle{}
	s := recommendation.New(f.Platform)
	base := apitest.Value(s.ReadRules(f.In(org), org))(f)
	p := apitest.Value(s.StartRulePlan(f.In(org), f.Platform, org, base.ChangeTo(&d, prune), "ada@example.com"))(f)
	f.runTask("evaluate", recommendation.RefreshInput{Org: org, JobID: p.ID, Plan: true})
	p = apitest.Value(s.ReadRulePlan(f.In(org), org, p.ID))(f)
	return p, apitest.Value(s.ReadPlanResults(f.In(org), org, &p))(f)
}

// runTask has the worker run a task.
func (f *fixture) runTask(task string, input any) {
	f.Helper()
	b, err := json.Marshal(map[string]any{"task": task, "input": input})
	f.Must(err)
	apitest.Value(Handler(f.Platform, nil)(f.Context(), b))(f)
}

func TestPlan_ComparesWithTheVersionInForce(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 15), f.volume("vol-2", 40), f.volume("vol-3", 0))
	f.bill(map[string]string{"vol-1": "0.28", "vol-2": "0.30"})
	off := false
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	changed := bigVolume()
	changed.Severity = "high"
	p, results := f.plan(rule.Document{
		Rules: []rule.OwnRule{changed, {
			ID: "custom-unknown", Title: "x", ResourceType: "aws-ebs", Category: "governance", Severity: "low",
			Condition: "res.env == 'prod'", Remediation: "x",
		}},
		Overrides: []rule.BuiltInOverride{
			{Rule: unattachedRule, Scope: "org", Params: map[string]any{"min_age": "480h"}},
			{Rule: "aws-ec2-idle", Scope: "org", Enabled: &off},
		},
	}, true)
	var got []string
	for i := range results {
		r := &results[i]
		got = append(got, fmt.Sprintf("%s %s %d: %d-%d +%d -%d ~%d ?%d %s>%s", r.RuleID, r.Change, r.Evaluated,
			r.Before, r.After, r.Opened, r.Closed, r.Changed, r.Unknown, r.SavedUSD.Before.Fixed(2),
			r.SavedUSD.After.Fixed(2)))
	}
	f.Equal("results", strings.Join(got, "\n"), strings.Join([]string{
		"aws-ebs-unattached added 3: 2-1 +0 -1 ~0 ?0 17.40>9.00",
		"aws-ec2-idle added 0: 0-0 +0 -0 ~0 ?0 0.00>0.00",
		"custom-big-volume changed 3: 3-3 +0 -0 ~3 ?0 0.00>0.00",
		"custom-unknown added 3: 0-0 +0 -0 ~0 ?3 0.00>0.00",
	}, "\n"))
	f.Equal("totals", fmt.Sprintf("%+v", p.Totals),
		"{Rules:4 Resources:3 Opened:0 Closed:1 Changed:3 Unknown:3 Before:17.4 After:9}")
	f.Equal("status", p.StatusAt(f.Clock.Now()), recommendation.PlanCompleted)
	closed := results[0].Samples[slices.IndexFunc(results[0].Samples, func(s recommendation.PlanSample) bool {
		return s.Effect == recommendation.SampleClosed
	})]
	f.Equal("closed", closed.ResourceUID+" "+closed.NetUSD.Fixed(2)+fmt.Sprint(closed.Values["attachment_count"],
		closed.Thresholds), "vol-1 8.400 map[min_age:168h]")
	f.Equal("reason of the unknown", results[3].Missing[0].Fact, "res.env")
	f.Equal("no rows", f.rows(), "")
}

// A backtest evaluates earlier days with the stored metrics, and reads the bills of the months that are stored.
func TestPlan_BacktestsOverStoredMetricsAndBills(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ec2", f.instance("i-1"), f.instance("i-2"))
	f.bill(map[string]string{"i-1": "1.00", "i-2": "2.00"})
	f.Clock.Advance(35 * 24 * time.Hour)
	today := f.Clock.Now().Truncate(day)
	for _, uid := range []string{"i-1", "i-2"} {
		f.measure(uid, "aws-ec2", 32, func(at time.Time, m cloud.Measure) float64 {
			if uid == "i-2" && at.After(today.AddDate(0, 0, -20)) {
				return 90
			}
			return 1
		})
	}
	quiet := rule.OwnRule{
		ID: "custom-quiet", Title: "Is quiet", ResourceType: "aws-ec2", Category: "idle", Severity: "high",
		Condition: "m.cpu_max_14d < p.cpu", Params: map[string]any{"cpu": 5.0}, Remediation: "Stop it", Savings: "all",
	}
	p, results := f.plan(rule.Document{Rules: []rule.OwnRule{quiet}}, false)
	r := results[0]
	var days []string
	for _, d := range r.Days {
		at, err := time.Parse(time.DateOnly, d.Day)
		f.Must(err)
		days = append(days, fmt.Sprintf("%d: %d, %d unknown", int(today.Sub(at)/day), d.Matches, d.Unknown))
	}
	f.Equal("now", fmt.Sprint(r.After, r.Unknown), "1 0")
	f.Equal("days", strings.Join(days, "; "),
		"28: 0, 2 unknown; 21: 2, 0 unknown; 14: 1, 0 unknown; 7: 1, 0 unknown")
	f.Equal("first measured day", p.Backtest.Measured, today.AddDate(0, 0, -32).Format(time.DateOnly))
	f.Equal("resources", p.Backtest.Resources, 2)
	f.Equal("billed", r.Billed, 1)
	if len(p.Backtest.Months) < 2 || len(r.Months) != len(p.Backtest.Months) {
		t.Fatalf("%+v", p.Backtest)
	}
	whole := r.Months[1]
	if whole.Cost.Sign() <= 0 || whole.Saving.Cmp(whole.Cost) > 0 || whole.Saving.Sign() <= 0 {
		t.Errorf("%+v", r.Months)
	}
}

// A resource that has changed since a day is unknown on it: its facts of the day are not stored.
func TestPlan_ABacktestDoesNotGuessEarlierFacts(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0), f.volume("vol-2", 0))
	f.Clock.Advance(10 * 24 * time.Hour)
	larger := f.volume("vol-1", 0)
	larger.Facts["size_gb"] = 120.0
	larger.CreatedAt = larger.CreatedAt.AddDate(0, 0, -10)
	second := f.volume("vol-2", 0)
	second.CreatedAt = second.CreatedAt.AddDate(0, 0, -10)
	f.discover("aws-ebs", larger, second)
	_, results := f.plan(rule.Document{Rules: []rule.OwnRule{bigVolume()}}, false)
	last := results[0].Days[len(results[0].Days)-1]
	f.Equal("7 days ago", fmt.Sprint(last.Matches, last.Unknown), "1 1")
	first := results[0].Days[0]
	f.Equal("28 days ago", fmt.Sprint(first.Matches, first.Unknown), "0 2")
}

func TestPlan_IsAppliedWhileNothingHasChanged(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0))
	s := recommendation.New(f.Platform)
	apply := func(p recommendation.RulePlan) error {
		_, _, err := s.ApplyRulePlan(f.In(org), org, p.ID, "bo@example.com")
		return err
	}
	conflict := func(what string, err error, want string) {
		t.Helper()
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", what, err, want)
		}
	}
	first, _ := f.plan(rule.Document{Rules: []rule.OwnRule{bigVolume()}}, false)
	second, _ := f.plan(rule.Document{Rules: []rule.OwnRule{bigVolume()}}, false)
	f.Must(apply(first))
	conflict("again", apply(first), "applied already: it became version 1")
	conflict("another one of the version before", apply(second), "version 0 of the rules, and version 1 is in force")
	set := apitest.Value(s.ReadRules(f.In(org), org))(f)
	f.Equal("in force", set.Own()[0].ID+" "+set.By, "custom-big-volume bo@example.com")

	other := bigVolume()
	other.ID = "custom-other"
	third, _ := f.plan(rule.Document{Rules: []rule.OwnRule{other}}, false)
	f.discover("aws-ec2", f.instance("i-1"))
	f.discover("aws-ebs", f.volume("vol-1", 0))
	f.Must(apply(third)) // resources of another type, and those that are as before, do not matter
	other.Title = "Another title"
	fourth, _ := f.plan(rule.Document{Rules: []rule.OwnRule{other}}, false)
	f.Clock.Advance(time.Minute)
	f.discover("aws-ebs", f.volume("vol-1", 0), f.volume("vol-2", 0))
	conflict("after a new resource", apply(fourth), "have changed since")
	fifth, _ := f.plan(rule.Document{Rules: []rule.OwnRule{other}}, false)
	f.Clock.Advance(24*time.Hour + time.Second)
	conflict("after a day", apply(fifth), "more than 24 hours ago")
	f.Workflow = apitest.Idle{}
	sixth := apitest.Value(s.StartRulePlan(f.In(org), f.Platform, org, recommendation.RuleChange{}, "a"))(f)
	conflict("before it ended", apply(sixth), "still running")
	f.runTask("finish", recommendation.RefreshInput{Org: org, JobID: sixth.ID, Plan: true})
	conflict("after it failed", apply(sixth), "has failed")
}

// A worker that is called twice for a plan ends it once.
func TestPlan_AnEndedPlanIsNotEvaluatedAgain(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0))
	p, _ := f.plan(rule.Document{Rules: []rule.OwnRule{bigVolume()}}, false)
	f.Clock.Advance(time.Hour)
	in := recommendation.RefreshInput{Org: org, JobID: p.ID, Plan: true}
	f.runTask("evaluate", in)
	f.runTask("finish", in)
	again := apitest.Value(recommendation.New(f.Platform).ReadRulePlan(f.In(org), org, p.ID))(f)
	f.Equal("plan", fmt.Sprint(again.EndedAt, again.Error), fmt.Sprint(p.EndedAt, ""))
}
