package recommender

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// listParts gives the region of the subject the prices of parts.
func (s *subject) listParts() *pricing.Table {
	t := &pricing.Table{Provider: s.Provider, Region: s.Region, Version: "v1", FetchedAt: savingsNow}
	for key, usd := range map[string]string{
		"cloudwatch/metric": "0.3", "rds-insights/first": "1.5", "rds-insights/further": "0.06",
	} {
		t.Add(cloud.Price{Key: key, Unit: cloud.PerMonth, USD: money.MustParse(usd)})
	}
	pair := pricing.ProviderRegion{Provider: s.Provider, Region: s.Region}
	s.tables = &priceTables{kept: map[pricing.ProviderRegion]*pricing.Table{pair: t}}
	return t
}

func TestPartCost_IsThePublicPriceOfThePart(t *testing.T) {
	kept := func(days float64, multiAZ bool) cloud.Facts {
		return cloud.Facts{"insights_days": days, "multi_az": multiAZ}
	}
	for name, tt := range map[string]struct {
		form, kind, class string
		facts             cloud.Facts
		usd               string
		why               condition.Reason
	}{
		"seven metrics of an instance": {"part:monitoring", "aws-ec2", "m6i.large", nil, "2.1", ""},
		"a month of two vCPUs":         {"part:insights", "aws-rds", "db.m6g.large", kept(31, false), "3", ""},
		"two years of two vCPUs":       {"part:insights", "aws-rds", "db.m6g.large", kept(731, false), "5.76", ""},
		"a standby has its own":        {"part:insights", "aws-rds", "db.m6g.large", kept(31, true), "6", ""},
		"an unknown class":             {"part:insights", "aws-rds", "db.x", kept(31, false), "0", unpriced},
		"an unknown retention":         {"part:insights", "aws-rds", "db.m6g.large", nil, "0", unpriced},
		"a part without a price":       {"part:cache", "aws-ec2", "m6i.large", nil, "0", unpriced},
		"of another type":              {"part:insights", "aws-ec2", "m6i.large", nil, "0", unpriced},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, tt.kind, tt.class, tt.facts)
			s.listParts()
			got, version, why := s.savingsOf(saves(t, tt.form))
			if why != tt.why || got.Net != money.MustParse(tt.usd) {
				t.Errorf("net %s, why %q", got.Net, why)
			}
			if why == "" && (got.Basis != recommendation.Estimated || version != "v1") {
				t.Errorf("basis %q, version %q", got.Basis, version)
			}
		})
	}
}

func TestPartCost_DependsOnTheStateAndTheList(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*subject, *pricing.Table)
		why     condition.Reason
	}{
		"nothing of a stopped instance": {func(s *subject, _ *pricing.Table) { s.Status = cloud.Stopped }, ""},
		"unknown at stale prices":       {func(_ *subject, t *pricing.Table) { t.Failed = "503" }, condition.Stale},
		"unknown without the price": {func(_ *subject, t *pricing.Table) {
			*t = pricing.Table{FetchedAt: savingsNow}
		}, unpriced},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "aws-ec2", "m6i.large", nil)
			tt.prepare(s, s.listParts())
			if got, _, why := s.savingsOf(saves(t, "part:monitoring")); why != tt.why || !got.Net.IsZero() {
				t.Errorf("net %s, why %q", got.Net, why)
			}
		})
	}
}
