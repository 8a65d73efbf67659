package recommendations

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// compare stores compared opinions: about i-0, which agrees with the recommendation to stop it, about i-1, which
// differs, about a resource that is not in the inventory, and about the account.
func (f *fixture) compare() {
	f.Helper()
	s := opinion.New(f.Platform)
	a := opinion.Account{
		AccountID: inventorytest.Account, Provider: "aws", Source: cloud.CostOptimizationHub, State: cloud.OpinionsRead,
		Count: 4, TriedAt: f.Clock.Now(), At: f.Clock.Now(),
	}
	f.Must(s.WriteAccounts(f.In(apitest.Org), apitest.Org, []opinion.Account{a}))
	one := func(n int, action cloud.OpinionAction, usd int64) opinion.Compared {
		o := opinion.Opinion{Opinion: cloud.Opinion{
			ID: fmt.Sprint("o-", n), ResourceUID: fmt.Sprint("i-", n), Action: action, Current: "m5.xlarge",
			Saving: new(money.FromInt(usd)), Currency: "EUR", Restart: new(true),
		}, USD: new(money.FromInt(usd + 1))}
		return opinion.Compared{Opinion: o, AccountID: a.AccountID, Provider: "aws", Source: a.Source}
	}
	agrees, differs, lone, account := one(0, "stop", 100), one(1, "resize", 7), one(9, "delete", 3), one(8, "commit", 2)
	agrees.Verdict, agrees.ResourceID, agrees.RecommendationID = opinion.Agree, f.ids[0], f.recs[0]
	differs.Verdict, differs.ResourceID, differs.RecommendationID = opinion.Differs, f.ids[1], f.recs[2]
	differs.Difference = &opinion.Difference{Fact: opinion.ActionFact, Ours: "stop", Theirs: "resize"}
	lone.Verdict, lone.Why = opinion.OnlyThey, &opinion.Why{Reason: opinion.ReasonNoResource}
	account.Verdict, account.ResourceUID = opinion.OnlyThey, ""
	account.Why = &opinion.Why{
		Reason: opinion.ReasonUnknown, RuleID: "aws-account-sp", Fact: "res.cover", Permission: "ce:Get",
	}
	byShard := map[int][]opinion.Compared{}
	for _, c := range []opinion.Compared{agrees, differs, lone, account} {
		n := opinion.ShardOf(c.ResourceUID)
		byShard[n] = append(byShard[n], c)
	}
	for shard, all := range byShard {
		f.Must(s.WriteCompared(f.In(apitest.Org), apitest.Org, shard, all))
	}
}

// opined formats the items of an answer as "total uid verdict; …".
func opined(a apitest.Answer) string {
	l := apitest.Data[ListedOpinions](a)
	var out []string
	for i := range l.Items {
		it := &l.Items[i]
		uid := "account"
		if it.ResourceUID != nil {
			uid = *it.ResourceUID
		}
		out = append(out, fmt.Sprintf("%s %s", uid, it.Verdict))
	}
	return fmt.Sprintf("%d: %s", l.Total, strings.Join(out, "; "))
}

func TestOpinions_ListFiltersSortsAndPages(t *testing.T) {
	f := newFixture(t)
	f.compare()
	for query, want := range map[string]string{
		"?verdict=agree,differs":  "2: i-0 agree; i-1 differs",
		"?verdict=only_they":      "2: i-9 only_they; account only_they",
		"?verdict=only_we&size=1": "4: i-2 only_we",
		"?verdict=agree&source=aws_cost_optimization_hub&provider=aws&cloud_account_id=" +
			inventorytest.Account: "1: i-0 agree",
		"?source=azure_advisor":                "0: ",
		"?provider=gcp":                        "0: ",
		"?cloud_account_id=ca_9":               "0: ",
		"?verdict=agree,differs&size=1&page=2": "2: i-1 differs",
		"?verdict=agree&page=7":                "1: ",
	} {
		if got := opined(f.Call(ada, "GET /recommendations/opinions"+query).AtMost(3)); got != want {
			t.Errorf("%s: %s; want %s", query, got, want)
		}
	}
	f.Call(ada, "GET /recommendations/opinions?verdict=agree").AtMost(2)
	f.Call(ada, "GET /recommendations/opinions?verdict=maybe").Want(400)
}

func TestOpinions_ShowBothSidesAndTheReason(t *testing.T) {
	f := newFixture(t)
	f.compare()
	l := apitest.Data[ListedOpinions](f.Call(ada, "GET /recommendations/opinions?size=100"))
	by := map[string]ListedOpinion{}
	for _, it := range l.Items {
		if it.ResourceUID != nil && it.Verdict != opinion.OnlyWe {
			by[*it.ResourceUID] = it
		} else if it.Verdict == opinion.OnlyThey {
			by["account"] = it
		}
	}
	if it := by["i-0"]; *it.SavingsUSD != "101.00" || it.Savings.Amount != "100.00" || it.Savings.Currency != "EUR" ||
		*it.RecommendationID != f.recs[0] || *it.Current != "m5.xlarge" || !*it.Restart || it.Target != nil {
		t.Errorf("agree: %+v", it)
	}
	if it := by["i-1"]; it.Difference == nil || it.Difference.Ours != "stop" || it.Difference.Theirs != "resize" {
		t.Errorf("differs: %+v", it)
	}
	if it := by["account"]; it.Reason.Reason != "unknown" || *it.Reason.Fact != "res.cover" ||
		it.RecommendationID != nil {
		t.Errorf("of the account: %+v", it)
	}
	d := apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+f.recs[0]).AtMost(6))
	if len(d.Opinions) != 1 || d.Opinions[0].Verdict != opinion.Agree || *d.Opinions[0].SavingsUSD != "101.00" {
		t.Errorf("opinions of a recommendation: %+v", d.Opinions)
	}
	d = apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+f.recs[1]))
	if d.Opinions == nil || len(d.Opinions) != 0 {
		t.Errorf("opinions of one without any: %+v", d.Opinions)
	}
	sum := apitest.Data[RecommendationSummary](f.Call(ada, "GET /recommendations/summary").AtMost(4)).Opinions
	if sum.Agree != 1 || sum.Differs != 1 || sum.OnlyThey != 2 || sum.OnlyWe != 4 || len(sum.Imports) != 1 ||
		*sum.Imports[0].State != cloud.OpinionsRead || sum.Imports[0].Opinions != 4 {
		t.Errorf("summary: %+v", sum)
	}
}

func TestOpinions_AreNarrowedByGrantsAndOrganizations(t *testing.T) {
	f := newFixture(t)
	f.compare()
	tom := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	if got := opined(f.Call(tom, "GET /recommendations/opinions?verdict=agree,differs,only_they")); got !=
		"1: i-0 agree" {
		t.Errorf("a grant on a team sees %s", got)
	}
	sum := apitest.Data[RecommendationSummary](f.Call(tom, "GET /recommendations/summary")).Opinions
	if sum.Agree != 1 || sum.Differs+sum.OnlyThey != 0 || sum.OnlyWe != 1 || len(sum.Imports) != 0 {
		t.Errorf("a grant on a team counts %+v", sum)
	}
	if got := opined(f.Call(eve, "GET /recommendations/opinions")); got != "0: " {
		t.Errorf("another organization sees %s", got)
	}
}

func TestOpinions_TwentyThousandInTwoRoundTrips(t *testing.T) {
	f := newFixture(t)
	s := opinion.New(f.Platform)
	a := opinion.Account{AccountID: inventorytest.Account, Provider: "aws", State: cloud.OpinionsRead}
	f.Must(s.WriteAccounts(f.In(apitest.Org), apitest.Org, []opinion.Account{a}))
	for shard := range opinion.Shards {
		all := make([]opinion.Compared, 1_250)
		for i := range all {
			all[i] = opinion.Compared{AccountID: a.AccountID, Verdict: opinion.OnlyThey, Opinion: opinion.Opinion{
				Opinion: cloud.Opinion{ID: fmt.Sprint(shard, "-", i), ResourceUID: fmt.Sprintf("i-%017d", i)},
				USD:     new(money.FromInt(int64(i))),
			}}
		}
		f.Must(s.WriteCompared(f.In(apitest.Org), apitest.Org, shard, all))
	}
	l := apitest.Data[ListedOpinions](f.Call(ada, "GET /recommendations/opinions?verdict=only_they&size=100").AtMost(2))
	if l.Total != 20_000 || len(l.Items) != 100 || *l.Items[0].SavingsUSD != "1249.00" {
		t.Errorf("%d opinions, %d on the page", l.Total, len(l.Items))
	}
}
