package actions

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// addPrices adds to a plan what its resources cost an hour while they run, above what they cost while they are stopped.
func (s *service) addPrices(ctx context.Context, plan *DryRun) error {
	var uids []string
	for i := range plan.Steps {
		for _, r := range plan.Steps[i].Resources {
			uids = append(uids, r.ResourceUID)
		}
	}
	if len(uids) == 0 {
		return nil
	}
	org := identity.CallerOrg(ctx)
	rates, err := pricing.ReadRates(ctx, s.p.Table, s.inventory, org, uids...)
	if err != nil {
		return fault.Wrap("read the prices of the resources of a dry run", err)
	}
	plan.setPrices(rates)
	return nil
}

// setPrices sets the hourly cost of each step's resources and of the plan. A resource without a price is counted.
func (d *DryRun) setPrices(rates map[string]pricing.HourlyRate) {
	var total money.Amount
	priced := false
	for i := range d.Steps {
		for j := range d.Steps[i].Resources {
			r := &d.Steps[i].Resources[j]
			rate, known := rates[r.ResourceUID]
			if !known || rate.Reason != "" {
				d.WithoutRate++
				continue
			}
			hourly := rate.Running.Sub(rate.Off)
			r.HourlyUSD, total, priced = new(hourly.Fixed(4)), total.Add(hourly), true
		}
	}
	if priced {
		d.HourlyUSD = new(total.Fixed(4))
	}
}
