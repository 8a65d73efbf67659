package recommender

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/commitment"
)

// listedText formats offers as "kind years payment rate source".
func listedText(offers []commitment.Offer) string {
	var out []string
	for _, o := range offers {
		out = append(out, fmt.Sprint(o.Kind, " ", o.Years, " ", o.Payment, " ", o.Rate, " ", o.Source))
	}
	return strings.Join(out, ", ")
}

func TestOffers_AreOfTheBillAndOfPublicPrices(t *testing.T) {
	prices := map[string]string{
		"commitment/plan/vm/Dsv5/1y/none": "0.7", "commitment/plan/vm/Esv5/1y/none": "0.6",
		"commitment/plan/vm/Dsv5/3y/none": "0.5", "commitment/reservation/vm/Dsv5/3y/none": "0.4",
	}
	for name, tt := range map[string]struct {
		product string
		at      scope
		change  func(s *subject)
		want    string
	}{
		"a plan, weighted by use; 3 years are known of three quarters": {
			"compute", scope{}, func(*subject) {}, "plan 1 none 0.675 prices v1, plan 3 none 0.625 prices v1",
		},
		"a reservation of a family": {
			"machines", scope{"eastus", "Dsv5"}, func(*subject) {}, "reservation 3 none 0.4 prices v1",
		},
		"a family without a price": {"machines", scope{"eastus", "Esv5"}, func(*subject) {}, ""},
		"old prices": {
			"compute", scope{}, func(s *subject) { s.now = s.now.AddDate(0, 0, 30) }, "",
		},
		"no class is known": {"compute", scope{}, func(s *subject) { s.classes = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "azure-subscription", "", nil)
			s.Region = "eastus"
			p := productNamed("azure-subscription", tt.product)
			s.reserved(p, map[string]eligibleUse{
				"vm-1": {region: "eastus", days: daily("30")}, "vm-2": {region: "eastus", days: daily("10")},
			})
			s.bills.accounts = nil
			s.classes = map[string]string{"vm-1": "Standard_D4s_v5", "vm-2": "Standard_E4s_v5"}
			s.listPrices(savingsNow.Add(-time.Hour), prices)
			tt.change(s)
			if got := listedText(s.offersOf(p, tt.at)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The families of AWS's machines have rates in public prices. Containers and functions have none: their use counts as
// without a discount.
func TestOffers_OfComputeSavingsPlansAreOfPublicPrices(t *testing.T) {
	s := newSubjectOf(t, "aws-account", "", nil)
	s.Region = "eu-west-1"
	p := productNamed("aws-account", "compute")
	s.reserved(p, map[string]eligibleUse{
		"f-1": {region: "eu-west-1", days: daily("10")}, "i-1": {region: "eu-west-1", days: daily("30")},
	})
	s.bills.eligible["ca_1"][0].kind = "aws-lambda"
	s.bills.accounts, s.classes = nil, map[string]string{"i-1": "m5.large"}
	if got := s.offersOf(p, scope{}); len(got) > 0 {
		t.Errorf("without prices: %v; want none", listedText(got))
	}
	s.listPrices(savingsNow.Add(-time.Hour), map[string]string{
		"commitment/plan/ec2/m5/1y/none": "0.7", "commitment/plan/ec2/m5/3y/all": "0.4",
	})
	const want = "plan 1 none 0.775 prices v1, plan 3 all 0.55 prices v1"
	if got := listedText(s.offersOf(p, scope{})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Public prices decide the rule of a subscription without any commitment, and its advice names the term.
func TestOffers_OfPublicPricesMakeTheGainKnown(t *testing.T) {
	s := newSubjectOf(t, "azure-subscription", "", nil)
	s.Region = "eastus"
	p := productNamed("azure-subscription", "machines")
	s.reserved(p, map[string]eligibleUse{"vm-1": {region: "eastus", days: daily("24")}})
	s.bills.accounts, s.classes = nil, map[string]string{"vm-1": "Standard_D4s_v5"}
	s.listPrices(savingsNow.Add(-time.Hour), map[string]string{
		"commitment/reservation/vm/Dsv5/1y/none": "0.6", "commitment/reservation/vm/Dsv5/3y/none": "0.4",
	})
	if v, why := s.derived(t, "vm_reserved_gain_30d"); why != "" || v != 292.0 { // 0.40 USD in 730 hours
		t.Errorf("the gain is %v (%s)", v, why)
	}
	a := s.adviceOn(p).scopes
	if len(a) != 1 || len(a[0].Offers) != 2 || a[0].Offers[0].Years != 1 || a[0].Offers[1].Years != 3 {
		t.Errorf("the advice is %+v", a)
	}
}
