package recommendation

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// ownRule returns an own rule whose title tells its edition.
func ownRule(id, title string) rule.OwnRule {
	return rule.OwnRule{
		ID: id, Title: title, ResourceType: "aws-ec2", Category: "governance", Severity: "low",
		Condition: "res.state == 'stopped'", Remediation: "Start it",
		Fixtures: rule.Fixtures{
			True: rule.Example{Res: map[string]any{"state": "stopped"}}, False: rule.Example{
				Res: map[string]any{"state": "running"},
			}, Unknown: []string{"res.state"},
		},
	}
}

// changeRules puts a document into force.
func (f *fixture) changeRules(d rule.Document, prune bool) (*RuleSet, error) {
	base := apitest.Value(f.store().ReadRules(f.In(org), org))(f)
	return f.store().ChangeRules(f.In(org), org, RuleEdit{
		Base: base, Change: base.ChangeTo(&d, prune), By: "ada@example.com", At: f.Clock.Now(), Why: "test",
	})
}

func TestRules_KeepEveryVersion(t *testing.T) {
	f := newFixture(t, 0)
	f.Equal("at first", apitest.Value(f.store().ReadRules(f.In(org), org))(f).Version, 0)
	off := false
	apitest.Value(f.changeRules(rule.Document{
		Rules:     []rule.OwnRule{ownRule("custom-a", "one"), ownRule("custom-b", "one")},
		Overrides: []rule.BuiltInOverride{{Rule: "aws-ec2-idle", Scope: "org", Enabled: &off}},
	}, false))(f)
	apitest.Value(f.changeRules(rule.Document{Rules: []rule.OwnRule{ownRule("custom-a", "two")}}, false))(f)
	apitest.Value(f.changeRules(rule.Document{Rules: []rule.OwnRule{ownRule("custom-a", "two")}}, true))(f)
	for version, want := range []string{
		"", "aws-ec2-idle 1, custom-a one 1, custom-b one 1", "aws-ec2-idle 1, custom-a two 2, custom-b one 1",
		"custom-a two 2",
	} {
		set := apitest.Value(f.store().ReadRulesAt(f.In(org), org, version))(f)
		f.Equal(fmt.Sprint("version ", version), described(set), want)
	}
	now := apitest.Value(f.store().ReadRules(f.In(org), org))(f)
	f.Equal("in force", described(now), "custom-a two 2")
	f.Equal("its author", now.By, "ada@example.com")
	listed := apitest.Value(f.store().ListRuleVersions(f.In(org), org))(f)
	f.Equal("versions", []int{listed[0].Version, listed[1].Rules, listed[2].Overrides, len(listed)}, []int{3, 2, 1, 3})
	_, err := f.store().ReadRulesAt(f.In(org), org, 4)
	f.Equal("a version that is not there", fault.KindOf(err), fault.NotFound)
}

// described formats the definitions of a set.
func described(s *RuleSet) string {
	var out []string
	for _, id := range RuleChange(pointers(s.Definitions)).IDs() {
		d, title := s.Definitions[id], ""
		if d.Own != nil {
			title = d.Own.Title + " "
		}
		out = append(out, fmt.Sprintf("%s %s%d", id, title, d.Version))
	}
	return strings.Join(out, ", ")
}

func pointers(m map[string]RuleDefinition) map[string]*RuleDefinition {
	out := map[string]*RuleDefinition{}
	for id, d := range m {
		out[id] = &d
	}
	return out
}

func TestRules_AChangeOfWhatIsThereIsNone(t *testing.T) {
	f := newFixture(t, 0)
	d := rule.Document{
		Rules:     []rule.OwnRule{ownRule("custom-a", "one")},
		Overrides: []rule.BuiltInOverride{{Rule: "aws-ec2-idle", Scope: "org", Severity: "low"}},
	}
	set := apitest.Value(f.changeRules(d, false))(f)
	again := set.Document()
	f.Equal("change", len(set.ChangeTo(&again, true)), 0)
}

// Of changes that are made at the same time, one comes into force, and its definitions are its own.
func TestRules_OfTwoChangesOfOneVersionOneWins(t *testing.T) {
	f := newFixture(t, 0)
	apitest.Value(f.changeRules(rule.Document{Rules: []rule.OwnRule{ownRule("custom-a", "first")}}, false))(f)
	base := apitest.Value(f.store().ReadRules(f.In(org), org))(f)
	const writers = 8
	var wins [writers]error
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			d := rule.Document{Rules: []rule.OwnRule{ownRule("custom-a", fmt.Sprint("of ", i))}}
			_, wins[i] = f.store().ChangeRules(f.In(org), org, RuleEdit{
				Base: base, Change: base.ChangeTo(&d, false), At: f.Clock.Now(),
			})
		})
	}
	wg.Wait()
	won := -1
	for i, err := range wins {
		switch {
		case err == nil && won < 0:
			won = i
		case err == nil:
			t.Errorf("%d and %d both won", won, i)
		case !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "read them and try again"):
			t.Error(err)
		}
	}
	set := apitest.Value(f.store().ReadRules(f.In(org), org))(f)
	f.Equal("title", set.Own()[0].Title, fmt.Sprint("of ", won))
	f.Equal("versions", len(apitest.Value(f.store().ListRuleVersions(f.In(org), org))(f)), 2)
}

func TestRules_AnOrganizationHas500(t *testing.T) {
	f := newFixture(t, 0)
	var d rule.Document
	for i := range rule.MaxOwnRules {
		d.Rules = append(d.Rules, ownRule(fmt.Sprintf("custom-r%d", i), "one"))
	}
	set := apitest.Value(f.changeRules(d, false))(f)
	f.Equal("rules", len(set.Own()), rule.MaxOwnRules)
	_, err := f.changeRules(rule.Document{Rules: []rule.OwnRule{ownRule("custom-more", "one")}}, false)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "501 own rules: at most 500") {
		t.Error(err)
	}
	f.Equal("read again", len(apitest.Value(f.store().ReadRules(f.In(org), org))(f).Own()), rule.MaxOwnRules)
}
