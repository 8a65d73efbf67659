package billingsync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/sweeper"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// minutes runs the sweeper n times, a minute apart.
func (s *fixture) minutes(n int) {
	s.Helper()
	for range n {
		s.clk.Advance(time.Minute)
		apitest.Value(sweeper.Handler(s.Platform)(s.Context(), json.RawMessage(`{}`)))(s)
		s.idle()
	}
}

// pending counts the waiting rebuilds.
func (s *fixture) pending() (n int) {
	s.Helper()
	for shard := range workqueue.Shards {
		page, err := s.Table.Query(table.Within(s.Context(), workqueue.Prefix),
			table.Query{PK: workqueue.PK(shard), Prefix: "rebuild_", Limit: 100})
		s.Must(err)
		n += len(page.Items)
	}
	return n
}

// rebuilt runs the sweeper until no rebuild waits.
func (s *fixture) rebuilt() {
	s.Helper()
	for range 6 {
		if s.minutes(1); s.pending() == 0 {
			return
		}
	}
	s.Fatal("the costs are not rebuilt within six minutes")
}

// connectAs connects another account.
func (s *fixture) connectAs(native string, more ...settings) connection.Account {
	s.Helper()
	a := apitest.Data[connection.Account](s.Call(alice, "POST /cloud-accounts", fields{
		"provider": "simulated", "cloudAccountID": native, "name": "Sim " + native, "authMethod": "simulated",
		"permissionLevel": "read_only",
		"credentials":     small(more...),
	}))
	s.idle()
	return a
}

const payerNative = "100000000001"

// payersBill is a bill of October with the costs of the payer, the account of the fixture and an account that is not
// connected.
func payersBill(member string) string {
	var b strings.Builder
	b.WriteString("BillingAccountId,SubAccountId,BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ChargeCategory," +
		"ServiceName,ResourceId,BilledCost,EffectiveCost,ListCost,BillingCurrency,ProviderName\n")
	for sub, amount := range map[string]string{payerNative: "1.5", native: member, "999999999999": "100"} {
		fmt.Fprintf(&b, "%s,%s,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,2026-10-03T00:00:00Z,Usage,Compute,"+
			"r-%s,%s,%s,%s,USD,AWS\n", payerNative, sub, sub, amount, amount, amount)
	}
	return b.String()
}

func (s *fixture) octoberBy(dim string) map[string]string {
	s.Helper()
	a := apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a", cost.Question{
		From: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		Metric: cost.Billed, Dims: []string{dim},
	}))(s)
	out := map[string]string{"": a.Total.String()}
	for _, r := range a.Rows {
		out[r.Keys[0]] = r.Amount.String()
	}
	return out
}

// october returns an account's period of October.
func (s *fixture) october(accountID string) billing.Period {
	s.Helper()
	all := apitest.Data[rest.List[billing.Period]](s.Call(alice,
		"GET /billing/periods?period=2026-10&cloud_account_id="+accountID, nil))
	if len(all.Items) != 1 {
		s.Fatalf("%d periods of %s", len(all.Items), accountID)
	}
	return all.Items[0]
}

// Charges in both a payer's bill and a member's own bill count once, in either order of connection and import, and
// after the payer is removed.
func TestPayer_AndMemberCountOnceFromConnectionToRemoval(t *testing.T) {
	for _, payerFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("payer first: ", payerFirst), func(t *testing.T) {
			s := newFixture(t)
			var payer, member connection.Account
			bring := func() { payer = s.connectAs(payerNative, settings{"bills": "none"}) }
			if payerFirst {
				bring()
				s.upload(fields{"cloudAccountID": payer.ID}, payersBill("20"))
			}
			member = s.connect()
			if !payerFirst {
				bring()
				s.upload(fields{"cloudAccountID": payer.ID}, payersBill("20"))
			}
			s.rebuilt()
			if got := s.octoberBy(cost.AccountDim); got[""] != "121.5" || got[payer.ID] != "101.5" ||
				got[member.ID] != "20" {
				t.Errorf("October is %v", got)
			}
			if p := s.october(member.ID); p.Counts != "nothing" || len(p.SupersededBy) != 1 ||
				p.SupersededBy[0] != payer.ID {
				t.Errorf("the member's own is %+v", p)
			}
			if p := s.october(payer.ID); p.Counts != "all" || len(p.SupersededBy) != 0 {
				t.Errorf("the payer's is %+v", p)
			}
			s.Call(alice, "GET /billing/sync-status", nil).Want(200, `"supersededBy":["`+payer.ID+`"]`)

			s.Call(alice, "DELETE /cloud-accounts/"+payer.ID, nil).Want(200)
			s.idle()
			s.rebuilt()
			own := s.october(member.ID)
			want := money.MustParse("101.5").Add(own.Totals[0].Billed).String()
			if got := s.octoberBy(cost.AccountDim); got[""] != want ||
				got[member.ID] != own.Totals[0].Billed.String() || own.Counts != "all" {
				t.Errorf("without the payer October is %v, want %s; the member's own is %+v", got, want, own)
			}
			if p := s.october(payer.ID); p.Counts != "partly" {
				t.Errorf("the payer's is %+v", p)
			}
			s.Call(alice, "GET /billing/sync-status", nil).Want(200, `"supersededBy":[]`)
		})
	}
}

func TestAccount_ThatIsConnectedForTheSecondTimeCountsOnce(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	total := s.ask().Total
	s.Call(alice, "DELETE /cloud-accounts/"+a.ID, nil).Want(200)
	s.idle()
	s.connect()
	s.rebuilt()
	if got := s.ask().Total; got != total {
		t.Errorf("connected again, the costs are %s; want %s", got, total)
	}
}

// Changes of teams and groups show in the costs of open months within minutes, many of them after one rebuild.
func TestRebuild_FollowsTeamsAndGroupsWithinMinutes(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations, resourcegroups.Operations)
	s.rebuilt()
	uids, ids := s.known(1)
	dearest, res := uids[0], ids[0]
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams",
		fields{"name": "Web", "resources": []string{res}})).ID
	group := apitest.Data[struct{ ID string }](s.Call(alice, "POST /resource-groups",
		fields{"name": "All", "selector": fields{"type": "aws-ec2"}})).ID
	for n := range 5 {
		s.Call(alice, "PUT /teams/"+team, fields{"name": fmt.Sprint("Web ", n), "resources": []string{res}}).Want(200)
	}
	if n := s.pending(); n != 1 {
		t.Errorf("%d rebuilds wait after seven changes; want 1", n)
	}
	s.rebuilt()
	want := amountOf(s.novemberBy(cost.ResourceDim), dearest)
	if got := amountOf(s.novemberBy(cost.TeamDim), team); got != want || got.IsZero() {
		t.Errorf("the team costs %s; its resource %s", got, want)
	}
	if amountOf(s.novemberBy(cost.GroupDim), group).IsZero() {
		t.Error("the group costs nothing")
	}
	sums := apitest.Value(cost.New(s.Platform).Summaries(s.In("org_a"), "org_a", november, november))(s)
	if !strings.Contains(fmt.Sprint(sums[0].By[cost.TeamDim]), team) {
		t.Errorf("the summary by team is %v", sums[0].By[cost.TeamDim])
	}

	s.Call(alice, "DELETE /teams/"+team, nil).Want(200)
	s.Call(alice, "DELETE /resource-groups/"+group, nil).Want(200)
	s.rebuilt()
	if got := amountOf(s.novemberBy(cost.TeamDim), team); !got.IsZero() {
		t.Errorf("a team that is gone costs %s", got)
	}
	if got := amountOf(s.novemberBy(cost.GroupDim), group); !got.IsZero() {
		t.Errorf("a group that is gone costs %s", got)
	}
	if s.hours(2); s.pending() != 0 {
		t.Error("a rebuild waits though nothing has changed")
	}
}

// Each write of a rebuild fails once, before or after it took effect. The rebuild still ends with the right costs.
func TestRebuild_KilledAnywhereIsDoneAgain(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations)
	s.rebuilt()
	_, ids := s.known(2)
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams", fields{"name": "Web"})).ID
	total := s.novemberBy().Total
	for call := 1; call <= 6; call++ {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			s.Call(alice, "PUT /teams/"+team, fields{"resources": ids[:1+call%2]}).Want(200)
			s.store.Inject(table.Injection{Harm: harm, PK: table.OrgPK("org_a") + "COST", Call: call})
			s.minutes(4)
			s.store.RemoveFaults()
			s.rebuilt()
			got := s.novemberBy(cost.TeamDim)
			if got.Total != total || amountOf(got, team).IsZero() {
				t.Errorf("call %d, harm %d: %v", call, harm, got.Rows)
			}
			sums := apitest.Value(cost.New(s.Platform).Summaries(s.In("org_a"), "org_a", november, november))(s)
			if sums[0].Total.Billed != total {
				t.Errorf("call %d, harm %d: the summary says %s, want %s", call, harm, sums[0].Total.Billed, total)
			}
		}
	}
}

func TestRebuild_ThatIsGivenUpIsBegunAnewLater(t *testing.T) {
	s := newFixture(t)
	call, err := json.Marshal(fields{
		"task":  "abandon",
		"input": domain.Input{Org: "org_a", JobID: "rebuild_1", Rebuild: true}, "error": fields{"Error": "x"},
	})
	s.Must(err)
	apitest.Value(s.worker(s.Context(), call))(s)
	if s.pending() != 1 {
		t.Error("nothing waits")
	}
	if s.minutes(30); s.pending() != 1 {
		t.Error("it is begun within half an hour")
	}
	s.clk.Advance(time.Hour)
	s.rebuilt()
}

var november = cost.MonthOf(noon)

func (s *fixture) novemberBy(dims ...string) cost.Answer {
	s.Helper()
	return apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a",
		cost.Question{From: november.Start(), To: november.End(), Metric: cost.Billed, Dims: dims}))(s)
}

func amountOf(a cost.Answer, key string) (sum money.Amount) {
	for _, r := range a.Rows {
		if r.Keys[0] == key {
			sum = sum.Add(r.Amount)
		}
	}
	return sum
}

// known returns the most expensive resources of November that the inventory knows: their native IDs and our IDs.
func (s *fixture) known(n int) (uids, ids []string) {
	s.Helper()
	for _, r := range s.novemberBy(cost.ResourceDim).Rows {
		if found := inventorytest.IDs(s.Fixture, "org_a", r.Keys[0]); len(found) == 1 && len(ids) < n {
			uids, ids = append(uids, r.Keys[0]), append(ids, found...)
		}
	}
	if len(ids) < n {
		s.Fatalf("the bill has %d resources of the inventory; want %d", len(ids), n)
	}
	return uids, ids
}
