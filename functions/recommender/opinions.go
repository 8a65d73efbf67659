package recommender

import (
	"context"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
)

// comparison compares the opinions of one shard with the findings of its resources.
type comparison struct {
	accounts map[string]opinion.Account // by id; of the pass
	opinions map[opinion.Subject][]opinion.Opinion
	ours     []opinion.Ours // of the resource under evaluation
	results  []opinion.Compared
}

// beginComparison reads the opinions of a shard: one round trip, and one for the accounts in the first shard. An
// organization without imports costs no more than that one.
func (e *evaluation) beginComparison(ctx context.Context, shard int) error {
	if e.comparing == nil {
		all, err := e.opinionStore.Accounts(ctx, e.org)
		if err != nil {
			return err
		}
		e.comparing = &comparison{accounts: map[string]opinion.Account{}}
		for i := range all {
			e.comparing.accounts[all[i].AccountID] = all[i]
		}
	}
	c := e.comparing
	c.opinions, c.results = nil, nil
	if len(c.accounts) == 0 {
		return nil
	}
	accounts := slices.Collect(maps.Values(c.accounts))
	if shard == opinion.AccountShard {
		if err := e.opinionStore.WriteAccounts(ctx, e.org, accounts); err != nil {
			return err
		}
	}
	var err error
	c.opinions, err = e.opinionStore.ReadShard(ctx, e.org, shard, accounts)
	return err
}

// endComparison stores the comparison of a shard. Opinions about resources that were not evaluated are of none that the
// inventory knows.
func (e *evaluation) endComparison(ctx context.Context, shard int) error {
	c := e.comparing
	if len(c.accounts) == 0 {
		return nil
	}
	for k, all := range c.opinions {
		for i := range all {
			one := c.newResult(k, &all[i])
			one.Take(&opinion.Judgement{
				Verdict: opinion.OnlyThey, Why: &opinion.Why{Reason: opinion.ReasonNoResource},
			})
			c.results = append(c.results, one)
		}
	}
	slices.SortFunc(c.results, func(a, b opinion.Compared) int {
		return strings.Compare(a.AccountID+a.ResourceUID+"\x00"+a.ID, b.AccountID+b.ResourceUID+"\x00"+b.ID)
	})
	return e.opinionStore.WriteCompared(ctx, e.org, shard, c.results)
}

func (c *comparison) newResult(k opinion.Subject, o *opinion.Opinion) opinion.Compared {
	a := c.accounts[k.AccountID]
	return opinion.Compared{Opinion: *o, AccountID: k.AccountID, Provider: a.Provider, Source: a.Source}
}

// subjectOf returns the subject of the opinions about a resource.
func subjectOf(r *inventory.Resource) opinion.Subject {
	if r.ID == r.CloudAccountID {
		return opinion.Subject{AccountID: r.ID}
	}
	return opinion.Subject{AccountID: r.CloudAccountID, UID: r.UID}
}

// hasOpinions reports whether there are opinions about a resource.
func (e *evaluation) hasOpinions(r *inventory.Resource) bool {
	return e.comparing != nil && len(e.comparing.opinions[subjectOf(r)]) > 0
}

// judge compares the opinions about a resource with the outcomes of its rules.
func (e *evaluation) judge(r *inventory.Resource) {
	c, k := e.comparing, subjectOf(r)
	for i := range c.opinions[k] {
		one := c.newResult(k, &c.opinions[k][i])
		one.ResourceID, one.ResourceName, one.ResourceType = r.ID, r.Name, r.Type
		j := opinion.Judge(&one.Opinion, c.ours)
		one.Take(&j)
		c.results = append(c.results, one)
	}
	delete(c.opinions, k)
	c.ours = c.ours[:0]
}

// keepOurs keeps the outcome of a rule about cost for the comparison.
func (e *evaluation) keepOurs(of *evaluator, r *compiledRule, s *subject, f *recommendation.Finding) error {
	if !r.Category.IsCost() {
		return nil
	}
	out := opinion.Ours{
		RuleID: r.ID, Action: actionOf(r.Rule), IsTrue: f.Outcome == recommendation.True,
		Net: recommendation.Counted(f.Savings.Net), Gross: recommendation.Counted(f.Savings.Gross),
	}
	if out.IsTrue {
		out.RecommendationID, out.Target = recommendation.IDOf(s.ID, s.UID, r.ID), s.shownTarget(r.Rule)
	} else {
		why, err := of.whyNot(r, s, f)
		if err != nil {
			return err
		}
		out.Why = why
	}
	e.comparing.ours = append(e.comparing.ours, out)
	return nil
}

// whyNot returns why a rule is not true for a resource.
func (e *evaluator) whyNot(r *compiledRule, s *subject, f *recommendation.Finding) (opinion.Why, error) {
	out := opinion.Why{RuleID: r.ID}
	switch f.Outcome {
	case recommendation.Off:
		out.Reason = opinion.ReasonOff
	case recommendation.Unknown:
		out.Reason = opinion.ReasonUnknown
		if len(f.Missing) > 0 {
			m := f.Missing[0]
			out.Fact, out.Permission, out.Detail = m.Fact, m.Permission, m.Reason
		}
	case recommendation.False, recommendation.True, recommendation.Gone, recommendation.Booked:
		as, err := e.settingOf(r, s)
		if err != nil {
			return out, err
		}
		out.Reason = opinion.ReasonFalse
		if outcome, _ := e.decide(r, as); outcome == recommendation.True {
			out.Reason = opinion.ReasonSkipped
		}
		out.Detail = reasonOf(r, e.evidence(r, as, s).Values)
	}
	return out, nil
}

// actionOf returns the action of a rule in the words of opinions.
func actionOf(r *rule.Rule) cloud.OpinionAction {
	switch r.Verb {
	case rule.VerbStop:
		return cloud.OpinionStop
	case rule.VerbDelete, rule.VerbRelease:
		return cloud.OpinionDelete
	case rule.VerbSchedule:
		return cloud.OpinionSchedule
	case rule.VerbScale:
		return cloud.OpinionScale
	case rule.VerbResize:
		return cloud.OpinionResize
	case rule.VerbChangeStorage:
		return cloud.OpinionUpgrade
	case rule.VerbPurchase:
		return cloud.OpinionCommit
	case rule.VerbSetLifecycle, rule.VerbGuard, rule.VerbSetting, rule.VerbLicence, rule.VerbAdvice:
	}
	return cloud.OpinionOther
}

// targetSettings are the settings that name a class or a type of storage, as providers name their targets.
var targetSettings = []string{"class", "machine_type", "volume_type", "storage_type", "disk_type", "sku", "tier"}

// shownTarget returns the class or type that the rule recommends; empty if it names none.
func (s *subject) shownTarget(r *rule.Rule) string {
	for _, set := range r.Target.Settings {
		if slices.Contains(targetSettings, set.Name) {
			if value, known := s.settingValue(r, set); known {
				return value
			}
		}
	}
	return ""
}
