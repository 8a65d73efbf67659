package opinion

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// theirs returns an opinion with an action, a target and a saving; 0 names none.
func theirs(action cloud.OpinionAction, target string, usd int64) *Opinion {
	o := &Opinion{Opinion: cloud.Opinion{Action: action, Target: target}}
	if usd != 0 {
		o.USD = new(money.FromInt(usd))
	}
	return o
}

// isTrue returns a true rule that is named after its action.
func isTrue(action cloud.OpinionAction, target string, usd int64) Ours {
	return Ours{
		RuleID: string(action), RecommendationID: "rec_" + string(action), Action: action, IsTrue: true, Target: target,
		Net: money.FromInt(usd), Gross: money.FromInt(usd + 10),
	}
}

func isNot(action cloud.OpinionAction, reason string) Ours {
	return Ours{RuleID: string(action), Action: action, Why: Why{Reason: reason, RuleID: string(action)}}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		theirs *Opinion
		ours   []Ours
		want   string
	}{
		"the same action and about the same saving agree": {
			theirs("stop", "", 100), []Ours{isTrue("stop", "", 90)}, "agree stop",
		},
		"an opinion without a saving agrees": {
			theirs("stop", "", 0), []Ours{isTrue("stop", "", 90)}, "agree stop",
		},
		"a saving before commitments agrees": {
			theirs("stop", "", 59), []Ours{isTrue("stop", "", 45)}, "agree stop",
		},
		"small savings agree within a dollar": {
			theirs("stop", "", 1), []Ours{isTrue("stop", "", 2)}, "agree stop",
		},
		"another saving differs": {
			theirs("stop", "", 200), []Ours{isTrue("stop", "", 90)}, "differs stop savingsUSD 90.00 200.00",
		},
		"a cost differs from a saving": {
			theirs("stop", "", -50), []Ours{isTrue("stop", "", 90)}, "differs stop savingsUSD 90.00 -50.00",
		},
		"another size differs before another saving": {
			theirs("resize", "m5.large", 1),
			[]Ours{isTrue("resize", "m5.xlarge", 90)},
			"differs resize target m5.xlarge m5.large",
		},
		"sizes are compared without regard to case": {
			theirs("resize", "Standard_D2S_v5", 90), []Ours{isTrue("resize", "standard_d2s_v5", 90)}, "agree resize",
		},
		"a size that we do not name is no difference": {
			theirs("resize", "m5.large", 90), []Ours{isTrue("resize", "", 90)}, "agree resize",
		},
		"upgrade and resize are of one sort": {
			theirs("upgrade", "gp3", 5), []Ours{isTrue("resize", "gp3", 5)}, "agree resize",
		},
		"the same action before one that saves more": {
			theirs("resize", "", 5), []Ours{isTrue("delete", "", 500), isTrue("resize", "", 5)}, "agree resize",
		},
		"an action that ends the use before a resize": {
			theirs("stop", "", 5),
			[]Ours{isTrue("resize", "", 500), isTrue("delete", "", 5)},
			"differs delete action delete stop",
		},
		"another action differs": {
			theirs("stop", "", 5), []Ours{isTrue("resize", "", 5)}, "differs resize action resize stop",
		},
		"of several the one that saves most": {
			theirs("commit", "", 5),
			[]Ours{isTrue("resize", "", 5), isTrue("stop", "", 6)},
			"differs stop action stop commit",
		},
		"no rule": {
			theirs("stop", "", 5), nil, "only_they no_rule",
		},
		"a rule of another sort does not explain it": {
			theirs("stop", "", 5), []Ours{isNot("resize", ReasonFalse)}, "only_they no_rule",
		},
		"an unknown rule before a false one": {
			theirs("stop", "", 5),
			[]Ours{isNot("stop", ReasonFalse), isNot("stop", ReasonUnknown)},
			"only_they unknown stop",
		},
		"a false rule of the action before one like it": {
			theirs("stop", "", 5),
			[]Ours{isNot("delete", ReasonUnknown), isNot("stop", ReasonFalse)},
			"only_they false stop",
		},
		"a rule that was switched off": {
			theirs("delete", "", 5), []Ours{isNot("stop", ReasonOff)}, "only_they off stop",
		},
		"a rule that skips the resource": {
			theirs("delete", "", 5), []Ours{isNot("delete", ReasonSkipped)}, "only_they skipped delete",
		},
	} {
		j := Judge(c.theirs, c.ours)
		got := string(j.Verdict)
		if j.RuleID != "" {
			got += " " + j.RuleID
		}
		if d := j.Difference; d != nil {
			got += fmt.Sprintf(" %s %s %s", d.Fact, d.Ours, d.Theirs)
		}
		if w := j.Why; w != nil {
			got += " " + w.Reason
			if w.RuleID != "" {
				got += " " + w.RuleID
			}
		}
		if got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
		if (j.RecommendationID != "") != (j.Verdict == Agree || j.Verdict == Differs) {
			t.Errorf("%s: %s of %q", name, j.Verdict, j.RecommendationID)
		}
	}
}
