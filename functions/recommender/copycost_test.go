package recommender

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/money"
)

// volumeSubject returns an EBS volume of 100 GiB that costs 10 USD a month, of which commitments cover a part.
func volumeSubject(t *testing.T, perDayCommitted string, prices *pricing.Table) *subject {
	t.Helper()
	s := newSubject(t)
	s.Type, s.Provider, s.Region, s.UID, s.ID = "aws-ebs", "aws", "eu-west-1", "vol-1", "res_1"
	s.Capacity = map[string]int64{"sizeGiB": 100}
	s.bill("vol-1", cost.OnDemand, "0.3", 0)
	s.bill("vol-1", cost.Committed, perDayCommitted, 0)
	s.tables = &priceTables{kept: map[pricing.ProviderRegion]*pricing.Table{
		{Provider: "aws", Region: "eu-west-1"}: prices,
	}}
	return s
}

// snapshotPrices returns prices of a day, with one of a GiB and month of snapshots.
func snapshotPrices(fetched time.Time, usd string) *pricing.Table {
	t := &pricing.Table{Version: "v1", FetchedAt: fetched}
	t.Add(cloud.Price{Key: "ebs/snapshot", Unit: cloud.PerMonth, USD: money.MustParse(usd)})
	return t
}

func TestSavings_OfADeletionAreWithoutTheSnapshotThatIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		committed       string
		prices          *pricing.Table
		gross, net      string
		copied, unknown string
	}{
		"less 100 GiB for a month":        {"0", snapshotPrices(savingsNow, "0.05"), "4", "4", "5", ""},
		"and less what commitments cover": {"0.1", snapshotPrices(savingsNow, "0.05"), "7", "4", "5", ""},
		"never below 0":                   {"0", snapshotPrices(savingsNow, "0.1"), "0", "0", "10", ""},
		"without a price it is unknown":   {"0", &pricing.Table{FetchedAt: savingsNow}, "9", "9", "0", "unpriced"},
		"without prices it is unknown":    {"0", nil, "9", "9", "0", "unpriced"},
		"at stale prices it is unknown": {
			"0", snapshotPrices(savingsNow.AddDate(0, -2, 0), "0.05"), "9", "9", "0", "stale",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := volumeSubject(t, tt.committed, tt.prices)
			got, _, why := s.savingsOf(rule.ByID("aws-ebs-unattached"))
			if why != "" || got.Copy == nil || got.Gross.String() != tt.gross || got.Net.String() != tt.net ||
				got.Copy.USD.String() != tt.copied || got.Copy.Unknown != tt.unknown {
				t.Errorf("gross %s, net %s, snapshot %+v, why %q", got.Gross, got.Net, got.Copy, why)
			}
		})
	}
}

func TestSavings_OfARuleThatKeepsNoSnapshotHaveNoCostOfIt(t *testing.T) {
	s := volumeSubject(t, "0", snapshotPrices(savingsNow, "0.05"))
	if got, _, why := s.savingsOf(saves(t, "all")); why != "" || got.Copy != nil || got.Net.String() != "9" {
		t.Errorf("%+v, why %q", got, why)
	}
}

func TestSavings_OfDisksAreClaimedWithoutTheirSnapshots(t *testing.T) {
	s := volumeSubject(t, "0", snapshotPrices(savingsNow, "0.05"))
	s.Type, s.UID, s.ID = cloud.AWSEC2, "i-1", "res_9"
	s.parts["i-1"] = parts{disks: []disk{
		{uid: "vol-1", id: "res_1", kind: "aws-ebs", provider: "aws", region: "eu-west-1", gib: 100},
	}}
	got, _, why := s.savingsOf(rule.ByID("aws-ec2-stopped-long"))
	if why != "" || got.Net.String() != "4" || len(got.Claims) != 1 || got.Claims[0].USD.String() != "4" {
		t.Errorf("%+v, why %q", got, why)
	}
}

// A volume that costs less than its snapshot saves nothing in the first month, and is still deleted.
func TestWorthwhile_IsTheSavingOfTheMonthsWithoutASnapshot(t *testing.T) {
	s := recommendation.Savings{Copy: &recommendation.CopyCost{USD: money.FromInt(5)}}
	if !worthwhile(saves(t, "all"), &s) {
		t.Error("it opens no recommendation")
	}
}

func TestRealized_IsLessTheSnapshotThatIsKept(t *testing.T) {
	first := savingsNow.Truncate(day).AddDate(0, 0, -billedDays-2)
	days := make([]money.Amount, billedDays) // 1 USD a day until the 15th, and nothing after it
	for i := range 15 {
		days[i] = money.FromInt(1)
	}
	b := bills{
		from: map[string]time.Time{"ca_1": first},
		of:   map[string][]billed{"vol-1": {{days: money.SeriesOf(days...)}}},
	}
	row := recommendation.Row{
		Resource: recommendation.Resource{ResourceUID: "vol-1", CloudAccountID: "ca_1"},
		Savings:  recommendation.Savings{Copy: &recommendation.CopyCost{USD: money.FromInt(5)}},
		History:  []recommendation.Event{{To: recommendation.Applied, At: first.AddDate(0, 0, 14)}},
	}
	for name, tt := range map[string]struct {
		copied *recommendation.CopyCost
		month  string
		ends   string
	}{
		"less its cost":    {row.Savings.Copy, "25", "less 5.00 USD for the snapshot that is kept for 30 days"},
		"without its cost": {&recommendation.CopyCost{Unknown: "unpriced"}, "30", "its price is unknown (unpriced)"},
		"no snapshot":      {nil, "30", "and 2026-02-21 to 2026-02-27"},
	} {
		t.Run(name, func(t *testing.T) {
			row.Savings.Copy = tt.copied
			line, measured := b.realized(&row, savingsNow)
			proof := line.Proof()
			if !measured || line.Month.String() != tt.month || proof[max(0, len(proof)-len(tt.ends)):] != tt.ends {
				t.Errorf("%v, %s a month by %q", measured, line.Month, proof)
			}
		})
	}
}
