package opinion

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// Verdict says how an opinion relates to our recommendations.
type Verdict string

// The verdicts. OnlyWe is of a recommendation about which the provider has no opinion.
const (
	Agree    Verdict = "agree"
	Differs  Verdict = "differs"
	OnlyThey Verdict = "only_they"
	OnlyWe   Verdict = "only_we"
)

// Verdicts are all verdicts.
var Verdicts = []Verdict{Agree, Differs, OnlyThey, OnlyWe}

// The facts in which an opinion and a recommendation differ, in the order of their weight.
const (
	ActionFact = "action"
	TargetFact = "target"
	SavingFact = "savingsUSD"
)

// Difference is the fact in which an opinion and a recommendation differ.
type Difference struct {
	Fact   string `json:"fact"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// The reasons why we have no recommendation where the provider has one.
const (
	ReasonUnknown    = "unknown"     // a rule could not be decided
	ReasonFalse      = "false"       // a rule's condition is false
	ReasonSkipped    = "skipped"     // true, but the resource is too young, has a controller, or saves too little
	ReasonOff        = "off"         // the organization disabled the rule, or excludes the resource
	ReasonNoRule     = "no_rule"     // no rule recommends such an action for the type
	ReasonNoResource = "no_resource" // the resource is not in the inventory
)

// Why is the reason why we have no recommendation.
type Why struct {
	Reason     string `json:"reason"`
	RuleID     string `json:"ruleID,omitempty"`
	Fact       string `json:"fact,omitempty"`       // the missing one
	Permission string `json:"permission,omitempty"` // that would give it
	Detail     string `json:"detail,omitempty"`     // why it is missing, or the values of a false rule
}

// Ours is the outcome of a rule for the resource of an opinion.
type Ours struct {
	RuleID           string
	RecommendationID string
	Action           cloud.OpinionAction
	IsTrue           bool
	Target           string       // the class or type that it recommends; empty if it names none
	Net, Gross       money.Amount // USD a month
	Why              Why          // of a rule that is not true
}

// Judgement is what the comparison of an opinion with our recommendations found.
type Judgement struct {
	Verdict          Verdict
	RecommendationID string
	RuleID           string
	OurUSD           *money.Amount
	Difference       *Difference
	Why              *Why
}

// Judge compares an opinion with the outcomes of our rules for its resource. It takes the true rule with the same
// action, or else with an action of the same sort, or else the one that saves most.
func Judge(o *Opinion, ours []Ours) Judgement {
	best, rank := -1, -1
	for i := range ours {
		if r := likeness(o.Action, ours[i].Action); ours[i].IsTrue && (r > rank ||
			r == rank && ours[i].Net.Cmp(ours[best].Net) > 0) {
			best, rank = i, r
		}
	}
	if best < 0 {
		return Judgement{Verdict: OnlyThey, Why: whyNone(o.Action, ours)}
	}
	one := &ours[best]
	out := Judgement{
		Verdict: Agree, RecommendationID: one.RecommendationID, RuleID: one.RuleID, OurUSD: &one.Net,
		Difference: differenceOf(o, one),
	}
	if out.Difference != nil {
		out.Verdict = Differs
	}
	return out
}

// sortOf returns the sort of an action. Providers, and our rules, name a change of size in several ways; its target
// shows what differs.
func sortOf(a cloud.OpinionAction) cloud.OpinionAction {
	switch a {
	case cloud.OpinionUpgrade, cloud.OpinionScale:
		return cloud.OpinionResize
	case cloud.OpinionStop, cloud.OpinionDelete, cloud.OpinionSchedule, cloud.OpinionResize, cloud.OpinionCommit,
		cloud.OpinionOther:
	}
	return a
}

// ending are the actions that end a resource's use, for a time or for good.
var ending = []cloud.OpinionAction{cloud.OpinionStop, cloud.OpinionDelete, cloud.OpinionSchedule}

// likeness is 3 for the same action, 2 for the same sort of action, 1 for two that end the use, else 0.
func likeness(a, b cloud.OpinionAction) int {
	switch {
	case a == b:
		return 3
	case sortOf(a) == sortOf(b):
		return 2
	case slices.Contains(ending, a) && slices.Contains(ending, b):
		return 1
	}
	return 0
}

// differenceOf returns the first fact in which they differ, or nil.
func differenceOf(o *Opinion, ours *Ours) *Difference {
	switch {
	case likeness(o.Action, ours.Action) < 2:
		return &Difference{ActionFact, string(ours.Action), string(o.Action)}
	case o.Target != "" && ours.Target != "" && !strings.EqualFold(o.Target, ours.Target):
		return &Difference{TargetFact, ours.Target, o.Target}
	case o.USD != nil && !isClose(*o.USD, ours.Net) && !isClose(*o.USD, ours.Gross):
		return &Difference{SavingFact, ours.Net.Fixed(2), o.USD.Fixed(2)}
	}
	return nil
}

// isClose reports whether two savings differ by at most 20 %, or by 1 USD.
func isClose(a, b money.Amount) bool {
	apart := a.Sub(b).Abs()
	return apart.Cmp(money.FromInt(1)) <= 0 || apart.MulInt(5).Cmp(largest(a.Abs(), b.Abs())) <= 0
}

func largest(a, b money.Amount) money.Amount {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// whyOrder is the order in which reasons are given: an unknown rule is one that may be true.
var whyOrder = []string{ReasonUnknown, ReasonSkipped, ReasonOff, ReasonFalse}

// whyNone returns the reason why no rule of the sort of an action is true.
func whyNone(a cloud.OpinionAction, ours []Ours) *Why {
	for _, least := range []int{2, 1} {
		for _, reason := range whyOrder {
			for i := range ours {
				if ours[i].Why.Reason == reason && likeness(a, ours[i].Action) >= least {
					return &ours[i].Why
				}
			}
		}
	}
	return &Why{Reason: ReasonNoRule}
}
