package rulechecker_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lamplighter.dev/functions/rulechecker"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// check has the worker check rules.
func check(f *apitest.Fixture, in any) (recommendation.CheckedRules, error) {
	f.Helper()
	b, err := json.Marshal(in)
	f.Must(err)
	out, err := rulechecker.Handler(f.Platform)(f.Context(), b)
	checked, _ := out.(recommendation.CheckedRules)
	return checked, err
}

const text = `
rules:
  - {id: custom-stopped, title: It is stopped, resourceType: aws-ec2, category: governance, severity: low,
     condition: res.status == 'stopped', remediation: Start it, fixtures: {true: {res: {status: stopped}},
     false: {res: {status: running}}, unknown: [res.status]}}
`

func TestRuleChecker_AnswersTheWholeDocument(t *testing.T) {
	f := apitest.New(t)
	got, err := check(f, recommendation.RuleCheck{Text: text, Document: rule.Document{
		Overrides: []rule.BuiltInOverride{{Rule: "aws-ec2-idle", Scope: "org", Severity: "low"}},
	}})
	f.Must(err)
	f.Equal("document", got.Document.Rules[0].ID+got.Document.Overrides[0].Rule, "custom-stoppedaws-ec2-idle")
}

func TestRuleChecker_MistakesAreInvalid(t *testing.T) {
	f := apitest.New(t)
	for _, c := range []struct{ old, replacement, want string }{
		{"res.status ==", "res.stat ==", "line 1, column 1"},
		{"rules:", "rulez:", `document: the document has rules and overrides in YAML or JSON: unknown field "rulez"`},
		{"{status: running}", "{status: stopped}", `fixture "false"`},
	} {
		_, err := check(f, recommendation.RuleCheck{Text: strings.Replace(text, c.old, c.replacement, 1)})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.replacement, err, c.want)
		}
	}
	if _, err := check(f, "no object"); !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
}
