package cost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// The accounts of these tests: a payer, and one of the two accounts that it pays for.
var (
	payer  = Account{"ca_payer", "aws", "100"}
	member = Account{"ca_member", "aws", "200"}
)

// of returns an import of March for an account while the given accounts are connected.
func of(a Account, fingerprint string, connected ...Account) Import {
	in := imported(a.ID, fingerprint, now)
	in.Native, in.Provider = a.Native, a.Provider
	in.Accounts = func(context.Context) ([]Account, error) { return connected, nil }
	return in
}

// chargeOf returns a charge of a sub-account on a day of March.
func chargeOf(sub string, day int, amount string) bill.Charge {
	c := charge(day, "i-"+sub, "EC2", amount)
	c.SubAccountID, c.BillingAccountID = sub, "100"
	return c
}

// consolidated returns the charges of all three accounts.
func consolidated() []bill.Charge {
	return []bill.Charge{
		chargeOf("100", 1, "1"), chargeOf("200", 1, "20"), chargeOf("200", 2, "22"),
		chargeOf("300", 1, "300"),
	}
}

func own() []bill.Charge { return []bill.Charge{chargeOf("200", 1, "20"), chargeOf("200", 2, "22")} }

var bothConnected = []Account{payer, member}

func (s *fixture) wantRows(what string, q Question, want ...string) {
	s.Helper()
	equal(s, what, rows(s.ask(q)), want)
}

// wantOnce checks that the accounts' costs count exactly once, by each dimension and filter.
func (s *fixture) wantOnce(what string) {
	s.Helper()
	s.wantRows(what+", by account", ofMarch(AccountDim), "ca_payer=301", "ca_member=42")
	s.wantRows(what+", by sub-account", ofMarch(SubAccountDim), "300=300", "200=42", "100=1")
	q := ofMarch(ResourceDim)
	q.Filter = map[string][]string{AccountDim: {"ca_member"}}
	s.wantRows(what+", of the member", q, "i-200=42")
	q.Filter = map[string][]string{AccountDim: {"ca_payer"}}
	s.wantRows(what+", of the payer", q, "i-300=300", "i-100=1")
	s.summaryAgrees()
}

func (s *fixture) superseded() map[string]string {
	s.Helper()
	all, err := s.store.Periods(s.ctx, testOrg)
	s.Must(err)
	out := map[string]string{}
	for i := range all {
		if len(all[i].Superseded) > 0 {
			out[all[i].AccountID] = fmt.Sprint(all[i].Superseded, all[i].Whole)
		}
	}
	return out
}

func TestSources_APayersAndAMembersBillsCountOnceInAnyOrder(t *testing.T) {
	for name, order := range map[string][]Account{
		"the payer first":  {payer, member},
		"the member first": {member, payer},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			for i, a := range order {
				charges := own()
				if a == payer {
					charges = consolidated()
				}
				s.bring(of(a, "one", order[:i+1]...), charges...)
			}
			s.Must(s.store.Rebuild(s.ctx, testOrg, bothConnected)) // the second was connected behind the first import
			s.wantOnce(name)
			equal(t, "superseded", s.superseded(), map[string]string{"ca_member": "map[200:ca_payer] true"})
		})
	}
}

func TestSources_AMemberCountsAsItselfWithoutABillOfItsOwn(t *testing.T) {
	s := newFixture(t)
	s.bring(of(payer, "one", payer), consolidated()...)
	s.wantRows("before it is connected", ofMarch(AccountDim), "ca_payer=343")
	s.Must(s.store.Rebuild(s.ctx, testOrg, bothConnected))
	s.wantOnce("then")
}

func TestSources_APayerThatIsRemovedLeavesItsMembersToThemselves(t *testing.T) {
	for _, final := range []bool{false, true} {
		s := newFixture(t)
		for _, in := range []Import{of(payer, "one", bothConnected...), of(member, "one", bothConnected...)} {
			in.Final = final
			charges := consolidated()
			if in.AccountID == member.ID {
				charges = append(own(), chargeOf("200", 3, "5"))
			}
			s.bring(in, charges...)
		}
		s.wantOnce("while it is connected")
		s.Must(s.store.Rebuild(s.ctx, testOrg, []Account{member}))
		s.wantRows("by account, without it", ofMarch(AccountDim), "ca_payer=301", "ca_member=47")
		s.summaryAgrees()
		equal(t, "superseded", s.superseded(), map[string]string{"ca_payer": "map[200:ca_member] false"})
		s.Must(s.store.Rebuild(s.ctx, testOrg, []Account{}))
		s.wantOnce("when both are gone")
	}
}

func TestSources_AnAccountThatIsConnectedAgainCountsOnce(t *testing.T) {
	s := newFixture(t)
	again := Account{"ca_again", "aws", "200"}
	s.bring(of(member, "one", member), own()...)
	s.bring(of(again, "two", again), own()...)
	s.Must(s.store.Rebuild(s.ctx, testOrg, []Account{again}))
	s.wantRows("by account", ofMarch(AccountDim), "ca_again=42")
	s.summaryAgrees()
}

func TestSources_ProjectsThatShareABillingAccountCountOnce(t *testing.T) {
	s := newFixture(t)
	first, second := Account{"ca_1", "gcp", "web"}, Account{"ca_2", "gcp", "data"}
	shared := chargeOf("", 3, "7") // of no project
	all := []bill.Charge{chargeOf("web", 1, "1"), chargeOf("data", 1, "20"), chargeOf("other", 1, "300"), shared}
	s.bring(of(first, "one", first, second), all...)
	s.bring(of(second, "one", first, second), all...)
	s.wantRows("by sub-account", ofMarch(SubAccountDim), "other=300", "data=20", "=7", "web=1")
	s.wantRows("by account", ofMarch(AccountDim), "ca_1=308", "ca_2=20")
	s.summaryAgrees()
}

func TestSources_NamesOfOtherCloudsAndVendorsAreTheirOwn(t *testing.T) {
	s := newFixture(t)
	vendor := imported("other:acme", "one", now)
	vendor.Provider = "other"
	s.bring(vendor, chargeOf("200", 1, "1000"))
	s.bring(of(Account{"ca_x", "gcp", "200"}, "one"), chargeOf("200", 1, "100"))
	s.bring(of(member, "one", member), own()...)
	equal(t, "total", s.ask(ofMarch()).Total.String(), "1142")
}

func TestSources_AnEstimateOfAMemberCountsBehindThePayersBill(t *testing.T) {
	s := newFixture(t)
	s.bring(of(payer, "one", bothConnected...), consolidated()...)
	in := of(member, "estimate", bothConnected...)
	in.Estimated = true
	s.bring(in, chargeOf("", 1, "1000"), chargeOf("", 2, "1000"), chargeOf("", 3, "0.5"))
	s.wantRows("by account", ofMarch(AccountDim), "ca_payer=301", "ca_member=42.5")
}

func TestSources_ALineIsOfTheConnectedAccountThatItNames(t *testing.T) {
	at := pointer{Period: Period{AccountID: "ca_payer", Native: "100", Members: map[string]string{"200": "ca_member"}}}
	for word, want := range map[string]string{
		"200": "ca_member", "/subscriptions/200": "ca_member", "100": "ca_payer",
		"300": "ca_payer", "": "ca_payer",
	} {
		equal(t, "the account of "+word, at.accountOf(word), want)
	}
}

// TestSources_EachSubAccountCountsOnceWhateverIsConnected imports bills of random payers, in random order and with
// random connected accounts. Each sub-account must count once.
func TestSources_EachSubAccountCountsOnceWhateverIsConnected(t *testing.T) {
	r := seed.Fixed(t, 21, 22)
	for range 12 {
		s := newFixture(t)
		natives := []string{"10", "11", "12", "13", "14"}
		costs, connected := map[string]money.Amount{}, []Account{}
		for i, n := range natives {
			costs[n] = money.FromInt(int64(1) << (4 * i))
			connected = append(connected, Account{"ca_" + n, "aws", n})
		}
		onBill := map[string]bool{}
		for _, i := range r.Perm(len(natives)) {
			subs := []string{natives[i]}
			if r.IntN(2) == 0 {
				subs = drawSubs(r, natives[i], natives)
			}
			var charges []bill.Charge
			for _, sub := range subs {
				onBill[sub] = true
				charges = append(charges, chargeOf(sub, 1, costs[sub].String()))
			}
			s.bring(of(connected[i], "one", connected[:r.IntN(len(connected))]...), charges...)
		}
		gone := r.IntN(len(connected))
		for _, left := range [][]Account{connected, append(connected[:gone:gone], connected[gone+1:]...)} {
			s.Must(s.store.Rebuild(s.ctx, testOrg, left))
			want := money.Amount{}
			for sub := range onBill {
				want = want.Add(costs[sub])
			}
			for _, dims := range [][]string{nil, {AccountDim}, {SubAccountDim}, {ResourceDim}, {TeamDim}} {
				equal(t, fmt.Sprint("total by ", dims), s.ask(ofMarch(dims...)).Total, want)
			}
			s.summaryAgrees()
		}
	}
}

func drawSubs(r *rand.Rand, self string, natives []string) []string {
	out := []string{self}
	for _, n := range natives {
		if n != self && r.IntN(2) == 0 {
			out = append(out, n)
		}
	}
	return out
}

func TestSources_AnOlderBillOfThePayerChangesNothing(t *testing.T) {
	s := newFixture(t)
	s.bring(of(member, "one", bothConnected...), own()...)
	in := of(payer, "one", bothConnected...)
	in.DeliveredAt = in.DeliveredAt.Add(time.Hour)
	s.bring(in, consolidated()...)
	older := of(payer, "older", bothConnected...)
	if _, err := s.tryBring(older, chargeOf("200", 1, "9")); err == nil {
		t.Error("an older bill of the payer is taken")
	}
	s.wantOnce("then")
}

func TestPeriods_TellWhichAccountsTheyAreOf(t *testing.T) {
	s := newFixture(t)
	s.bring(of(payer, "one", bothConnected...), consolidated()...)
	s.bring(of(member, "one", bothConnected...), own()...)
	all, err := s.store.Periods(s.ctx, testOrg)
	s.Must(err)
	for _, p := range all {
		want := map[string][]string{"ca_payer": {"ca_payer", "ca_member"}, "ca_member": nil}[p.AccountID]
		equal(t, "the accounts of "+p.AccountID, p.Accounts(), want)
	}
	equal(t, "the payer's bills the member", []bool{all[1].Bills("ca_member"), all[0].Bills("ca_payer")},
		[]bool{true, false})
}
