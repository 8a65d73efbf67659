package local

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
)

// evaluatedDemo is a fresh demo whose rules have been evaluated.
type evaluatedDemo struct {
	*testing.T
	*Service
	client *Client
}

func openEvaluatedDemo(t *testing.T) *evaluatedDemo {
	t.Helper()
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	d := &evaluatedDemo{t, s, NewClient(srv.URL)}
	demo, err := s.Demo(t.Context(), srv.URL)
	if err == nil {
		err = s.AwaitIdle(t.Context())
	}
	if err == nil {
		err = s.EvaluateRules(t.Context())
	}
	if err == nil {
		_, err = d.client.enter(t.Context(), demo.Password)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *evaluatedDemo) get(path string, out any) {
	d.Helper()
	if err := d.client.Do(d.Context(), http.MethodGet, path, nil, out); err != nil {
		d.Fatal(err)
	}
}

// shownWaste is the part of a recommendation that the test reads.
type shownWaste struct{ ID, RuleID, ResourceUID, ResourceType, Status, SavingsUSD string }

// waste lists the recommendations of the last account that wait for a decision, or are dismissed.
func (d *evaluatedDemo) waste() []shownWaste {
	d.Helper()
	account, err := d.client.lastDemoAccount(d.Context())
	if err != nil || account.ID == "" {
		d.Fatalf("account %+v, %v", account, err)
	}
	var found struct{ Items []shownWaste }
	d.get("/recommendations/resources?size=100&status=open,dismissed&cloud_account_id="+account.ID, &found)
	return found.Items
}

// A fresh demo shows recommendations without a day of waiting: its accounts have planted waste, metrics of two weeks
// and bills.
func TestDemo_ShowsThePlantedWaste(t *testing.T) {
	d := openEvaluatedDemo(t)
	for name, check := range map[string]func(*evaluatedDemo){
		"recommendations of every category":             (*evaluatedDemo).checkCategories,
		"exactly the planted waste of the last account": (*evaluatedDemo).checkPlanted,
		"a rule that is unknown, with the reason":       (*evaluatedDemo).checkUnknown,
		"an answer to each widget of every dashboard":   (*evaluatedDemo).checkDashboards,
	} {
		t.Run(name, func(t *testing.T) { check(&evaluatedDemo{t, d.Service, d.client}) })
	}
	t.Run("one dismissed and one reopened", func(t *testing.T) {
		(&evaluatedDemo{t, d.Service, d.client}).checkDecisions()
	})
	t.Run("one applied in the past, with the saving that its bills show", func(t *testing.T) {
		(&evaluatedDemo{t, d.Service, d.client}).checkRealized()
	})
}

func (d *evaluatedDemo) checkCategories() {
	var got struct {
		Net        string         `json:"net"`
		ByCategory map[string]int `json:"byCategory"`
	}
	d.get("/recommendations/summary", &got)
	for _, r := range rule.All() {
		if category := string(r.Category); got.ByCategory[category] == 0 {
			got.ByCategory[category] = -1
			d.Errorf("no recommendation of category %s", category)
		}
	}
	d.Logf("%v, net %s USD a month", got.ByCategory, got.Net)
}

// checkUnknown reads a rule that needs the memory of instances, which no agent measures here.
func (d *evaluatedDemo) checkUnknown() {
	var got struct {
		Items []struct {
			ID      string
			Unknown int
			Missing []struct{ Fact, Reason string }
		}
	}
	d.get("/recommendations/rules?search=aws-ec2-memory-oversized", &got)
	for _, r := range got.Items {
		for _, m := range r.Missing {
			if r.Unknown > 0 && m.Fact == "m.mem_max_14d" && m.Reason == "needs_agent" {
				return
			}
		}
	}
	d.Errorf("%+v; want that m.mem_max_14d needs an agent", got)
}

// checkPlanted compares the recommendations of the last account with the planted list, in both directions, and the
// list with the verbs that remediation carries out.
func (d *evaluatedDemo) checkPlanted() {
	account := DemoAccounts(d.Platform.Clock.Now())[len(demoAccounts)-1]
	waste, err := simulated.PlantedWaste(account)
	if err != nil {
		d.Fatal(err)
	}
	planted := map[string]bool{}
	for _, w := range waste {
		for _, id := range w.Rules {
			planted[id+" "+w.UID] = true
		}
	}
	verbs := map[rule.Verb]bool{}
	for _, got := range d.waste() {
		key := got.RuleID + " " + got.ResourceUID
		if !planted[key] {
			d.Errorf("%s is found, and not planted", key)
		}
		delete(planted, key)
		r := rule.ByID(got.RuleID)
		m := remediation.MeansOf(r, "simulated", got.ResourceType)
		verbs[r.Verb] = m.Executable
		if saves := got.SavingsUSD != "0.00"; !m.Executable || saves != r.Savings.Counts() {
			d.Errorf("%s %+v saves %s, %s", key, m, got.SavingsUSD, r.Savings)
		}
		d.planChange(got, m.Needs)
	}
	if len(planted) > 0 {
		d.Errorf("planted, and not found: %v", slices.Sorted(maps.Keys(planted)))
	}
	const want = "change-storage delete guard release resize scale schedule set-lifecycle setting stop"
	if all := strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(verbs))), "[]"); all != want {
		d.Errorf("the verbs are %s; want %s", all, want)
	}
}

// planChange makes a dry run of the change of a recommendation: its condition is true on a fresh read.
func (d *evaluatedDemo) planChange(of shownWaste, needs []string) {
	d.Helper()
	in := map[string]any{"dryRun": true}
	if slices.Contains(needs, remediation.ScheduleParameter) {
		schedule, err := d.client.create(d.Context(), "/schedules", map[string]any{
			"name": "Nights off", "enabled": true,
			"crons": []map[string]string{{"cronExpression": "0 19 * * *", "action": "stop"}},
		})
		if err != nil {
			d.Fatal(err)
		}
		in["parameters"] = map[string]string{remediation.ScheduleParameter: schedule}
	}
	var dry struct {
		Targets []struct{ Plan struct{ Calls []string } }
	}
	err := d.client.Do(d.Context(), http.MethodPost, "/recommendations/"+of.ID+"/remediate", in, &dry)
	if err != nil || len(dry.Targets) != 1 || len(dry.Targets[0].Plan.Calls) == 0 {
		d.Errorf("%s: %+v, %v", of.RuleID, dry, err)
	}
}

// checkDecisions lets the demo make its decisions, and again as a later start does: they are made once.
func (d *evaluatedDemo) checkDecisions() {
	base := d.undecided.Load()
	var first string
	for range 2 {
		d.undecided.Store(base)
		if err := errors.Join(d.DecideDemo(d.Context()), d.AwaitIdle(d.Context())); err != nil {
			d.Fatal(err)
		}
		if d.undecided.Load() != nil {
			d.Error("the decisions are still due")
		}
		got := d.decisionsOn(dismissedRule) + "; " + d.decisionsOn(reopenedRule)
		if first = cmp.Or(first, got); got != first {
			d.Errorf("after another start: %s; before: %s", got, first)
		}
	}
	const want = "dismissed intended after [open dismissed]; open  after [open dismissed open]"
	if first != want {
		d.Errorf("%s; want %s", first, want)
	}
}

// decisionsOn returns the status of the planted recommendation of a rule, the reason and its history.
func (d *evaluatedDemo) decisionsOn(ruleID string) string {
	d.Helper()
	found, err := d.client.plantedFindings(d.Context(), ruleID)
	if err != nil || len(found) != 1 {
		d.Fatal(found, err)
	}
	one := found[0]
	var row struct {
		Status    string
		Dismissal struct{ Reason string }
	}
	d.get("/recommendations/"+one.ID, &row)
	var to []string
	for _, e := range one.History {
		to = append(to, e.To)
	}
	return fmt.Sprintf("%s %s after %v", row.Status, row.Dismissal.Reason, to)
}
