package pricing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// day is one of 24 hours, as days in UTC are.
const day = 24 * time.Hour

// estimateDays writes for each account what its resources are estimated to have cost on the days that no bill tells yet, today up to now. What
// was estimated of a day that is over stays; other days are as many hours as the resource is known, at the rate that it has now.
func (s *Store) estimateDays(ctx context.Context, org string, all []Priceable, costs []KnownCost) error {
	periods, err := s.costs.Periods(ctx, org)
	if err != nil {
		return fmt.Errorf("read which days of %s are billed: %w", org, err)
	}
	native, err := s.natives(ctx, org)
	if err != nil {
		return err
	}
	accounts := map[string][]int{}
	for i := range all {
		if r := &costs[i].Rate; r.Reason == "" && !r.Shared && !r.Hourly(all[i].Status).IsZero() {
			accounts[all[i].CloudAccountID] = append(accounts[all[i].CloudAccountID], i)
		}
	}
	now := s.clock.Now().UTC()
	var errs []error
	for account, which := range accounts {
		e := &estimate{now: now, account: account, native: native[account], all: all, costs: costs, which: which}
		for _, m := range e.months() {
			errs = append(errs, s.estimateMonth(ctx, org, e, m, periods))
		}
	}
	return errors.Join(errs...)
}

// estimate is the days of an account under way.
type estimate struct {
	now     time.Time
	account string
	native  string // as its provider names it
	all     []Priceable
	costs   []KnownCost
	which   []int // of all
}

// natives returns what providers call the accounts that are connected, by id.
func (s *Store) natives(ctx context.Context, org string) (map[string]string, error) {
	all, err := s.inventory.ListAccounts(ctx, org)
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].CloudAccountID
	}
	return out, err
}

// months are those in which yesterday and today are.
func (e *estimate) months() []cost.Month {
	before, this := cost.MonthOf(e.now.Add(-day)), cost.MonthOf(e.now)
	if before == this {
		return []cost.Month{this}
	}
	return []cost.Month{before, this}
}

// covered tells from which day on the month is not billed, and up to which moment it was estimated already.
func (e *estimate) covered(m cost.Month, periods []cost.Period) (from, estimated time.Time) {
	from = m.Start()
	for _, p := range periods {
		switch {
		case p.Month != m || !p.Bills(e.account):
		case p.Estimated:
			estimated = p.DeliveredAt
		case p.Final:
			from = m.End()
		case !p.BilledThrough.IsZero():
			from = p.BilledThrough.Add(day)
		}
	}
	return from, estimated
}

// estimateMonth writes the days of a month that are not billed.
func (s *Store) estimateMonth(ctx context.Context, org string, e *estimate, m cost.Month, periods []cost.Period) error { //nolint:revive // all of it is about the month
	from, estimated := e.covered(m, periods)
	end := e.now
	if m.End().Before(end) {
		end = m.End()
	}
	if !from.Before(end) {
		return nil
	}
	b, err := s.costs.Begin(ctx, cost.Import{
		Org: org, AccountID: e.account, Provider: e.all[e.which[0]].Provider, Month: m, Estimated: true,
		Native: e.native, Fingerprint: "estimate of " + e.now.Format(time.RFC3339), DeliveredAt: e.now,
		Source: "estimate",
	})
	if errors.Is(err, cost.ErrSame) || errors.Is(err, cost.ErrOlder) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("estimate %s of %s: %w", m, e.account, err)
	}
	kept := estimated.Truncate(day) // days before it were estimated when they were over
	if kept.After(from) {
		if err = s.keepDays(ctx, org, b, e.account, from, kept); err != nil {
			return err
		}
		from = kept
	}
	if err = e.add(b, from, end); err != nil {
		return err
	}
	if _, err = b.Commit(ctx); err != nil {
		return fmt.Errorf("write the estimate of %s of %s: %w", m, e.account, err)
	}
	return nil
}

// keepDays adds what was estimated of days before. All usage of these days is estimated, for the bill's ends before; its taxes and credits may lie
// behind, and count on the bill.
func (s *Store) keepDays(ctx context.Context, org string, b *cost.Builder, account string, from, to time.Time) error { //nolint:revive // which days of which account
	had, err := s.costs.Ask(ctx, org, cost.Question{
		From: from, To: to, Metric: cost.Billed, Daily: true, UsageOnly: true,
		Dims:   []string{cost.ResourceDim, cost.ServiceDim, cost.RegionDim, cost.ProviderDim},
		Filter: map[string][]string{cost.AccountDim: {account}},
	})
	if err != nil {
		return fmt.Errorf("read what was estimated of %s: %w", account, err)
	}
	for _, row := range had.Rows {
		for n, amount := range row.Days {
			if amount.IsZero() {
				continue
			}
			c := charge(row.Keys[3], amount, from.Add(time.Duration(n)*day))
			c.ResourceID, c.ServiceName, c.RegionID = row.Keys[0], row.Keys[1], row.Keys[2]
			if err = b.Add(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds what the resources cost from a day on until a moment.
func (e *estimate) add(b *cost.Builder, from, end time.Time) error {
	for _, i := range e.which {
		r := &e.all[i]
		hourly := e.costs[i].Rate.Hourly(r.Status)
		for at := from; at.Before(end); at = at.Add(day) {
			amount := during(hourly, clock.Latest(at, r.DiscoveredAt), clock.Earliest(at.Add(day), end))
			if amount.IsZero() {
				continue
			}
			c := charge(r.Provider, amount, at)
			c.ResourceID, c.ResourceName, c.RegionID, c.ServiceName = r.UID, r.Name, r.Region, serviceOf(r.Type)
			if err := b.Add(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// during returns what the time between two moments costs; nothing when there is none.
func during(hourly money.Amount, from, to time.Time) money.Amount {
	if !from.Before(to) {
		return money.Amount{}
	}
	return hourly.MulDiv(money.FromInt(int64(to.Sub(from)/time.Second)), money.FromInt(int64(time.Hour/time.Second)))
}

// charge makes the line of an estimate. A public price is what all costs are as long as nothing better is known.
func charge(provider string, amount money.Amount, at time.Time) *bill.Charge {
	return &bill.Charge{
		ProviderName: provider, ChargePeriodStart: at, ChargePeriodEnd: at.Add(day), ChargeCategory: bill.Usage,
		PricingCategory: bill.Standard,
		BillingCurrency: cost.USD, BilledCost: amount, EffectiveCost: amount, ListCost: amount,
	}
}

// services are what bills call the services that types belong to, so that an estimate stands where the bill will.
var services = map[string]string{
	"aws-ec2": "Amazon Elastic Compute Cloud", "aws-ebs": "Amazon Elastic Compute Cloud",
	"aws-rds": "Amazon Relational Database Service",
	"aws-nat": "Amazon Virtual Private Cloud", "aws-eip": "Amazon Virtual Private Cloud",
	"aws-elb":         "Elastic Load Balancing",
	"aws-elasticache": "Amazon ElastiCache", "aws-redshift": "Amazon Redshift",
	"aws-opensearch": "Amazon OpenSearch Service",
	"azure-vm":       "Virtual Machines", "azure-vmss": "Virtual Machines", "azure-disk": "Storage",
	"gcp-compute": "Compute Engine",
	"gcp-disk":    "Compute Engine", "gcp-cloudsql": "Cloud SQL", "gcp-gke": "Kubernetes Engine",
}

func serviceOf(kind string) string {
	k, _ := cloud.KindOf(kind)
	return cmp.Or(services[kind], k.Name, kind)
}
