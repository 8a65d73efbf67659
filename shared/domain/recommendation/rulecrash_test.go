package recommendation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// A client whose request dies at any call reads the rules and makes the change again if it is not in force. Each
// version that is listed is whole, and the last one is as without a death.
func TestRules_KilledAtAnyWriteLeaveWholeVersions(t *testing.T) {
	killpoint.LosesNothing(t, 30, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t, 0)
		for n := range 4 {
			d := rule.Document{Rules: []rule.OwnRule{
				ownRule("custom-a", fmt.Sprint("edition ", n)), ownRule(fmt.Sprint("custom-r", n), "one"),
			}}
			lives.Run(f.In(org), t, func(ctx context.Context, proc *killpoint.Process) error {
				platform := f.Clone()
				platform.Table = proc.Store(f.Table)
				s := New(platform)
				base, err := s.ReadRules(ctx, org)
				if err != nil {
					return err
				}
				change := base.ChangeTo(&d, n == 3)
				if len(change) == 0 {
					return nil
				}
				_, err = s.ChangeRules(ctx, org, RuleEdit{Base: base, Change: change, At: f.Clock.Now()})
				return err
			})
		}
		var out []string
		versions := apitest.Value(f.store().ListRuleVersions(f.In(org), org))(f)
		for _, v := range slices.Backward(versions) {
			set := apitest.Value(f.store().ReadRulesAt(f.In(org), org, v.Version))(f)
			for _, o := range set.Own() {
				out = append(out, o.ID+" "+o.Title)
			}
			out = append(out, "/")
		}
		return strings.Join(out, "\n")
	})
}

// A worker that dies while it ends a plan ends it when it is called again, with the same results.
func TestRulePlan_KilledAtItsEndHasOneEnd(t *testing.T) {
	killpoint.LosesNothing(t, 20, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t, 0)
		f.Workflow = apitest.Idle{}
		own := ownRule("custom-a", "one")
		p := apitest.Value(f.store().StartRulePlan(f.In(org), f.Platform, org,
			RuleChange{"custom-a": {Own: &own}}, "ada@example.com"))(f)
		results := make([]RulePlanResult, 2_000)
		for i := range results {
			results[i] = RulePlanResult{RuleID: fmt.Sprint("custom-", i), Samples: []PlanSample{{
				Reason: strings.Repeat("x", 400),
			}}}
		}
		lives.Run(f.In(org), t, func(ctx context.Context, proc *killpoint.Process) error {
			platform := f.Clone()
			platform.Table = proc.Store(f.Table)
			again, err := New(platform).ReadRulePlan(ctx, org, p.ID)
			if err != nil || !again.EndedAt.IsZero() {
				return err
			}
			return New(platform).FinishRulePlan(ctx, org, &again, results)
		})
		p = apitest.Value(f.store().ReadRulePlan(f.In(org), org, p.ID))(f)
		got := apitest.Value(f.store().ReadPlanResults(f.In(org), org, &p))(f)
		change := apitest.Value(f.store().ReadPlannedChange(f.In(org), org, &p))(f)
		if p.Results < 2 {
			t.Errorf("the results are in %d items", p.Results)
		}
		return fmt.Sprint(p.StatusAt(f.Clock.Now()), len(got), got[1_999].RuleID, change.IDs())
	})
}
