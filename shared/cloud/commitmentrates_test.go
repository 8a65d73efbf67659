package cloud

import (
	"errors"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

func TestFamilyOf_IsWhatAReservationCanChangeIn(t *testing.T) {
	for class, want := range map[string]string{
		"m5.large": "m5", "db.r5.2xlarge": "db.r5", "cache.t4g.micro": "cache.t4g", "r5.large.search": "r5",
		"ra3.4xlarge": "ra3", "Standard_D4s_v5": "Dsv5", "Standard_E8-4ads_v5": "Eadsv5", "Standard_B2s": "Bs",
		"db.serverless": "", "Basic": "", "": "",
	} {
		if got := FamilyOf(class); got != want {
			t.Errorf("%q is of %q, want %q", class, got, want)
		}
	}
}

func TestCommitmentRates_AreTheHighestOfAFamily(t *testing.T) {
	var rates CommitmentRates
	of := func(family string) CommitmentRate {
		return CommitmentRate{Kind: "reservation", Group: "rds", Family: family, Years: 1, Payment: "none"}
	}
	usd := money.MustParse
	rates.Add(of("db.r5"), usd("0.06"), usd("0.10"))
	rates.Add(of("db.r5"), usd("0.14"), usd("0.20"))
	rates.Add(of("db.m5"), usd("0.06"), usd("0.10"))
	rates.Add(of("db.m5"), usd("0.21"), usd("0.20")) // one class without a discount: the family has none
	rates.Add(of("db.x1"), usd("0"), usd("0.20"))
	rates.Add(of(""), usd("0.1"), usd("0.20"))
	var got []string
	err := rates.Tell(func(p Price) error {
		got = append(got, p.Key+" "+p.USD.String()+" "+string(p.Unit))
		return nil
	})
	if want := "commitment/reservation/rds/db.r5/1y/none 0.7 USD"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %v (%v), want %s", got, err, want)
	}
	broken := errors.New("it does not take it")
	if err = rates.Tell(func(Price) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
