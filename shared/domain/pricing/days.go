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

// day is 24 hours: every day in UTC has that length.
const day = 24 * time.Hour

// estimates are the resources with an estimated cost, by account.
type estimates struct{ accounts map[string][]estimated }

// estimated is a resource with its present estimated cost.
type estimated struct {
	uid, name, provider, region, kind string
	discoveredAt                      time.Time
	hourly                            money.Amount
}

// add adds a resource, unless it costs nothing or its cost is that of its parts.
func (all *estimates) add(r *Priceable, c *KnownCost) {
	hourly := c.Rate.Hourly(r.Status)
	if c.Rate.Reason != "" || c.Rate.Shared || hourly.IsZero() {
		return
	}
	if all.accounts == nil {
		all.accounts = map[string][]estimated{}
	}
	all.accounts[r.CloudAccountID] = append(all.accounts[r.CloudAccountID],
		estimated{r.UID, r.Name, r.Provider, r.Region, r.Type, r.DiscoveredAt, hourly})
}

// estimateDays writes the estimated costs of each account for the days without a bill; today counts up to now. An
// estimate of a past day stays. Other days count the hours since the resource is known, at its present rate.
func (s *Store) estimateDays(ctx context.Context, org string, all *estimates) error {
	periods, err := s.costs.Periods(ctx, org)
	if err != nil {
		return fmt.Errorf("read which days of %s are billed: %w", org, err)
	}
	native, err := s.natives(ctx, org)
	if err != nil {
		return err
	}
	now := s.clock.Now().UTC()
	var errs []error
	written := map[cost.Month]bool{}
	for account, resources := range all.accounts {
		e := &estimate{org: org, now: now, account: account, native: native[account], resources: resources}
		for _, m := range e.months() {
			some, err := s.estimateMonth(ctx, e, m, periods)
			written[m] = written[m] || some
			errs = append(errs, err)
		}
	}
	for m, some := range written { // once for all accounts
		if some {
			errs = append(errs, s.costs.Summarize(ctx, org, m))
		}
	}
	return errors.Join(errs...)
}

// estimate is the estimate of an account's days under way.
type estimate struct {
	org       string
	now       time.Time
	account   string
	native    string // as its provider names it
	resources []estimated
}

// natives returns the provider's ID of each connected account, by our ID.
func (s *Store) natives(ctx context.Context, org string) (map[string]string, error) {
	all, err := s.inventory.ListAccounts(ctx, org)
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].CloudAccountID
	}
	return out, err
}

// months returns the months of yesterday and today: one or two.
func (e *estimate) months() []cost.Month {
	before, this := cost.MonthOf(e.now.Add(-day)), cost.MonthOf(e.now)
	if before == this {
		return []cost.Month{this}
	}
	return []cost.Month{before, this}
}

// covered returns the first day of the month without a bill, and the time of the last estimate of the month.
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

// estimateMonth writes the days of a month that are not billed. It reports whether there are any. The caller updates
// the summary of the month.
func (s *Store) estimateMonth(ctx context.Context, e *estimate, m cost.Month, periods []cost.Period) (bool, error) {
	from, estimated := e.covered(m, periods)
	end := e.now
	if m.End().Before(end) {
		end = m.End()
	}
	if !from.Before(end) {
		return false, nil
	}
	b, err := s.costs.Begin(ctx, cost.Import{
		Org: e.org, AccountID: e.account, Provider: e.resources[0].provider, Month: m, Estimated: true,
		Native: e.native, Fingerprint: "estimate of " + e.now.Format(time.RFC3339), DeliveredAt: e.now,
		Source: "estimate", Unsummarized: true,
	})
	if errors.Is(err, cost.ErrSame) || errors.Is(err, cost.ErrOlder) {
		return true, nil // another process was faster
	}
	if err != nil {
		return false, fmt.Errorf("estimate %s of %s: %w", m, e.account, err)
	}
	kept := estimated.Truncate(day) // days before it were estimated when they were over
	if kept.After(from) {
		if err = s.keepDays(ctx, e, b, from, kept); err != nil {
			return false, err
		}
		from = kept
	}
	if err = e.add(b, from, end); err != nil {
		return false, err
	}
	if _, err = b.Commit(ctx); err != nil {
		return false, fmt.Errorf("write the estimate of %s of %s: %w", m, e.account, err)
	}
	return true, nil
}

// keepDays copies the estimates of past days, from the day from to the day before to. All usage of these days is
// estimated, since the bill ends before them; taxes and credits may be dated later and count on the bill.
func (s *Store) keepDays(ctx context.Context, e *estimate, b *cost.Builder, from, to time.Time) error {
	had, err := s.costs.Ask(ctx, e.org, cost.Question{
		From: from, To: to, Metric: cost.Billed, Daily: true, UsageOnly: true,
		Dims:   []string{cost.ResourceDim, cost.ServiceDim, cost.RegionDim, cost.ProviderDim},
		Filter: map[string][]string{cost.AccountDim: {e.account}},
	})
	if err != nil {
		return fmt.Errorf("read what was estimated of %s: %w", e.account, err)
	}
	for _, row := range had.Rows {
		for n := range row.Days.Len() {
			amount := row.Days.At(n)
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

// add adds the estimated costs of the resources between two moments.
func (e *estimate) add(b *cost.Builder, from, end time.Time) error {
	for i := range e.resources {
		r := &e.resources[i]
		for at := from; at.Before(end); at = at.Add(day) {
			amount := during(r.hourly, clock.Latest(at, r.discoveredAt), clock.Earliest(at.Add(day), end))
			if amount.IsZero() {
				continue
			}
			c := charge(r.provider, amount, at)
			c.ResourceID, c.ResourceName, c.RegionID, c.ServiceName = r.uid, r.name, r.region, serviceOf(r.kind)
			if err := b.Add(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// during returns the cost of the time between two moments; 0 when to is not after from.
func during(hourly money.Amount, from, to time.Time) money.Amount {
	if !from.Before(to) {
		return money.Amount{}
	}
	return hourly.MulDiv(money.FromInt(int64(to.Sub(from)/time.Second)), money.FromInt(int64(time.Hour/time.Second)))
}

// charge returns the charge of an estimate. All three of its costs are the public price.
func charge(provider string, amount money.Amount, at time.Time) *bill.Charge {
	return &bill.Charge{
		ProviderName: provider, ChargePeriodStart: at, ChargePeriodEnd: at.Add(day), ChargeCategory: bill.Usage,
		PricingCategory: bill.Standard,
		BillingCurrency: cost.USD, BilledCost: amount, EffectiveCost: amount, ListCost: amount,
	}
}

// services maps types to the service names of bills, so that an estimate counts under the same service as the later
// bill.
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
