package recommender

import (
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/foundation/money"
)

// partPrice gives the price of a month of a part of a resource's bill: an amount of each of some public prices.
type partPrice struct {
	kind, class string // the type and the charge class
	amounts     func(*subject) (map[string]money.Amount, bool)
}

// partPrices are the parts that public prices tell. The bill does not show them apart from the rest of the resource.
var partPrices = []partPrice{
	{cloud.AWSEC2, "monitoring", (*subject).monitoringAmounts},
	{cloud.AWSRDS, "insights", (*subject).insightsAmounts},
}

// partCost returns the price of the parts of the bill that a rule ends. It returns unpriced if no price is known.
func (s *subject) partCost(r *rule.Rule) (amount, condition.Reason) {
	i := slices.IndexFunc(partPrices, func(p partPrice) bool {
		return p.kind == s.Type && slices.Equal(r.Savings.Names, []string{p.class})
	})
	if i < 0 {
		return amount{}, unpriced
	}
	table := s.tables.table(pricing.ProviderRegion{Provider: s.Provider, Region: s.Region})
	switch {
	case table == nil:
		return amount{}, unpriced
	case table.Stale(s.now):
		return amount{}, condition.Stale
	}
	amounts, known := partPrices[i].amounts(s)
	out := amount{basis: recommendation.Estimated, version: table.Version}
	for key, n := range amounts {
		price, priced := table.Price(key)
		known = known && priced && price.Unit == cloud.PerMonth
		out.gross = out.gross.Add(price.USD.Mul(n))
	}
	if !known {
		return amount{}, unpriced
	}
	return out, ""
}

// detailedMetrics is how many metrics detailed monitoring of an instance adds
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/manage-detailed-monitoring.html).
const detailedMetrics = 7

// monitoringAmounts returns the metrics of an instance with detailed monitoring. A stopped instance has none.
func (s *subject) monitoringAmounts() (map[string]money.Amount, bool) {
	n := int64(detailedMetrics)
	if s.Status == cloud.Stopped {
		n = 0
	}
	return map[string]money.Amount{"cloudwatch/metric": money.FromInt(n)}, true
}

// insightsMonth is the unit of the retention of performance history, in days.
const insightsMonth = 31

// insightsAmounts returns the vCPU-months of performance history that a database keeps: those of the first month, and
// those of each further one. A standby in another zone has its own.
func (s *subject) insightsAmounts() (map[string]money.Amount, bool) {
	size, known := sizing.FindSize(vendorOf(s.Type), s.InstanceType)
	days, read := s.facts.Value("insights_days").(float64)
	vcpu, err := money.FromFloat(size.VCPU)
	if !known || !read || err != nil {
		return nil, false
	}
	if twice, _ := s.facts.Value("multi_az").(bool); twice {
		vcpu = vcpu.MulInt(2)
	}
	further := max((int64(days)+insightsMonth-1)/insightsMonth-1, 0)
	return map[string]money.Amount{"rds-insights/first": vcpu, "rds-insights/further": vcpu.MulInt(further)}, true
}
