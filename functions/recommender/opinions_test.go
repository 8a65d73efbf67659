package recommender

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// opine imports opinions of the account: texts such as "vol-1 delete 15".
func (f *fixture) opine(texts ...string) {
	f.Helper()
	var all []opinion.Opinion
	for _, text := range texts {
		var uid, action string
		var usd int64
		apitest.Value(fmt.Sscan(text, &uid, &action, &usd))(f)
		all = append(all, opinion.Opinion{
			Opinion: cloud.Opinion{
				ID: "o-" + uid, ResourceUID: strings.TrimPrefix(uid, "-"), Action: cloud.OpinionAction(action),
			}, USD: new(money.FromInt(usd)),
		})
	}
	f.Must(opinion.New(f.Platform).Import(f.In(org), org, opinion.Account{
		AccountID: inventorytest.Account, Provider: "aws", Source: cloud.CostOptimizationHub, State: cloud.OpinionsRead,
	}, all))
}

// compared formats the compared opinions.
func (f *fixture) compared() string {
	f.Helper()
	var out []string
	c := apitest.Value(opinion.New(f.Platform).ReadComparison(f.In(org), org))(f)
	for i := range c.All {
		one := &c.All[i]
		text := fmt.Sprintf("%s %s", one.ResourceUID, one.Verdict)
		if one.Difference != nil {
			text += fmt.Sprintf(" %s %s/%s", one.Difference.Fact, one.Difference.Ours, one.Difference.Theirs)
		}
		if one.Why != nil {
			text += strings.TrimRight(fmt.Sprintf(" %s %s %s", one.Why.Reason, one.Why.RuleID, one.Why.Fact), " ")
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestEvaluate_ComparesTheProvidersOpinions(t *testing.T) {
	f := newFixture(t)
	unread := f.volume("vol-unread", 0)
	delete(unread.Facts, "attachment_count")
	unread.Facts.Miss("ec2:DescribeVolumes: AccessDenied", "attachment_count")
	used := f.volume("vol-used", 0)
	used.Facts["instance_state"] = "stopped"
	f.discover("aws-ebs", f.volume("vol-agree", 30), f.volume("vol-cheap", 30), f.volume("vol-resize", 30), used,
		unread)
	f.bill(map[string]string{"vol-agree": "0.5", "vol-cheap": "0.5", "vol-resize": "0.5", "vol-used": "0.5"})
	f.opine("vol-agree delete 15", "vol-cheap delete 99", "vol-resize resize 15", "vol-used delete 15",
		"vol-unread delete 15", "vol-gone delete 15")
	f.evaluate()
	const want = "vol-agree agree; vol-cheap differs savingsUSD 15.00/99.00; vol-gone only_they no_resource; " +
		"vol-resize differs action delete/resize; vol-unread only_they unknown aws-ebs-idle res.attachment_count; " +
		"vol-used only_they false aws-ebs-unattached"
	if got := f.compared(); got != want {
		t.Errorf("compared:\n got %s\nwant %s", got, want)
	}
	c := apitest.Value(opinion.New(f.Platform).ReadComparison(f.In(org), org))(f)
	for i := range c.All {
		if one := &c.All[i]; one.Verdict == opinion.Agree && (one.RecommendationID == "" || one.ResourceID == "" ||
			one.OurUSD.Fixed(2) != "15.00" || one.Source != cloud.CostOptimizationHub) {
			t.Errorf("an opinion that agrees is %+v", one)
		}
		if one := &c.All[i]; one.Why != nil && one.Why.Reason == "false" && !strings.Contains(one.Why.Detail, "is 1") {
			t.Errorf("the values of a false rule are %q", one.Why.Detail)
		}
	}
	if len(c.Accounts) != 1 || c.Accounts[0].Count != 6 {
		t.Errorf("imports %+v", c.Accounts)
	}
}

func TestEvaluate_ForgetsOpinionsThatTheProviderNoLongerHas(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 30))
	f.bill(map[string]string{"vol-1": "0.5"})
	f.opine("vol-1 delete 15")
	f.evaluate()
	f.Clock.Advance(24 * time.Hour)
	f.opine()
	f.evaluate()
	if got := f.compared(); got != "" {
		t.Errorf("compared: %s; want nothing", got)
	}
}

// The simulated cloud has opinions of all verdicts on its volumes: it knows the waste that was planted, and leaves some
// of it out.
func TestEvaluate_ComparesTheOpinionsOfASimulatedCloud(t *testing.T) {
	f := newFixture(t)
	var all []opinion.Opinion
	a := apitest.Value(f.connectSimulated().(cloud.OpinionReader).ReadOpinions(f.In(org), cloud.OpinionRequest{
		Limit: 1000,
	}, func(o cloud.Opinion) { all = append(all, opinion.Opinion{Opinion: o, USD: o.Saving}) }))(f)
	f.Must(opinion.New(f.Platform).Import(f.In(org), org, opinion.Account{
		AccountID: inventorytest.Account, Provider: "simulated", Source: a.Source, State: a.State,
	}, all))
	rows := f.evaluateSimulated(f.listSimulated())
	verdicts, opined := map[opinion.Verdict]int{}, map[string]bool{}
	c := apitest.Value(opinion.New(f.Platform).ReadComparison(f.In(org), org))(f)
	for i := range c.All {
		verdicts[c.All[i].Verdict]++
		opined[c.All[i].ResourceUID] = true
	}
	for uid := range rows {
		if !opined[uid] {
			verdicts[opinion.OnlyWe]++
		}
	}
	if verdicts[opinion.Agree]+verdicts[opinion.Differs] < 20 || verdicts[opinion.OnlyWe] < 5 {
		t.Errorf("%d opinions, by verdict: %v", len(all), verdicts)
	}
	t.Logf("%d opinions, by verdict: %v", len(all), verdicts)
}
