package recommender

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// billedDays is the number of settled days that savings and costs are computed from; fewestDays is the smallest number
// of days after a change of a resource that still stand for a month.
const (
	billedDays = 30
	fewestDays = 7
)

const day = 24 * time.Hour

// bills holds the effective costs of an organization's resources on their last 30 settled days. Taxes, credits,
// purchases of commitments and corrections are left out, and so are own estimates.
type bills struct {
	from map[string]time.Time // the first of the 30 days, by account; accounts without 30 billed days are missing
	of   map[string][]billed  // by native id

	accounts   map[string]*accountBill  // by account; those without any charge are missing
	eligible   map[string][]eligibleUse // of commitments, by account
	deliveries map[string]delivery      // the last ones, by account
}

// billed is the cost of a resource in one way of purchase.
type billed struct {
	purchase string
	days     money.Series
}

// readBills reads the bills of an organization: the costs of the wanted resources, and the figures of accounts if they
// are evaluated. It asks once for all accounts with the same last settled day.
func readBills(ctx context.Context, costs *cost.Store, of inputsOf, n *needs) (bills, error) {
	out := bills{
		from: map[string]time.Time{}, of: map[string][]billed{}, accounts: map[string]*accountBill{},
		eligible: map[string][]eligibleUse{},
	}
	month := cost.MonthOf(of.now)
	periods, err := costs.PeriodsBetween(ctx, of.org, month.Add(-3), month)
	if err != nil {
		return out, fmt.Errorf("read the billing periods of %s: %w", of.org, err)
	}
	first := firstBilled(periods)
	out.deliveries = lastDeliveries(periods)
	together := map[time.Time][]string{}
	for account, last := range cost.SettledByAccount(periods) {
		from := last.AddDate(0, 0, 1-billedDays)
		if !first[account].IsZero() && !from.Before(first[account]) {
			out.from[account], together[from] = from, append(together[from], account)
		}
	}
	for from, accounts := range together {
		slices.Sort(accounts)
		w := window{from, accounts, n}
		if err = out.read(ctx, costs, of.org, w); err != nil {
			return out, err
		}
		if !n.accounts() {
			continue
		}
		if err = out.readAccounts(ctx, costs, of.org, w); err != nil {
			return out, err
		}
	}
	return out, nil
}

// window is 30 days of accounts.
type window struct {
	from     time.Time
	accounts []string
	needs    *needs
}

// read reads the costs of the wanted resources. If rules about accounts alone are evaluated, it reads the use that
// commitments could cover, and the charges whose resource is an account. The costs of all resources would take several
// times the memory.
func (b *bills) read(ctx context.Context, costs *cost.Store, org string, w window) error {
	q := cost.Question{
		From: w.from, To: w.from.AddDate(0, 0, billedDays), Metric: cost.Effective, Daily: true, UsageOnly: true,
		BillsOnly: true,
		Dims:      []string{cost.ResourceDim, cost.PurchaseDim, cost.AccountDim, cost.TypeDim, cost.RegionDim},
		Filter:    map[string][]string{cost.AccountDim: w.accounts},
	}
	if w.needs == nil || w.needs.subjects == nil {
		q.Resource = w.needs.costFilter()
		return b.ask(ctx, costs, org, q, b.addRow)
	}
	q.Resource = func(uid string) bool { return w.needs.subjects[uid] }
	if err := b.ask(ctx, costs, org, q, b.addCost); err != nil {
		return err
	}
	q.Resource = nil
	q.Filter[cost.PurchaseDim], q.Filter[cost.TypeDim] = []string{cost.OnDemand}, committableTypes()
	return b.ask(ctx, costs, org, q, b.addEligible)
}

// ask calls add with each row of the answer that names a resource.
func (b *bills) ask(
	ctx context.Context, costs *cost.Store, org string, q cost.Question, add func(*cost.Row),
) error {
	a, err := costs.Ask(ctx, org, q)
	if err != nil {
		return fmt.Errorf("read the costs of %d days of %s: %w", billedDays, org, err)
	}
	for i := range a.Rows {
		if a.Rows[i].Keys[0] != "" {
			add(&a.Rows[i])
		}
	}
	return nil
}

// addRow adds the days of a resource.
func (b *bills) addRow(r *cost.Row) {
	b.addCost(r)
	b.addEligible(r)
}

// addCost adds the days of a resource to its costs.
func (b *bills) addCost(r *cost.Row) {
	b.of[r.Keys[0]] = append(b.of[r.Keys[0]], billed{r.Keys[1], r.Days})
}

// addEligible adds the days of a resource to the use that a commitment could cover, if one could.
func (b *bills) addEligible(r *cost.Row) {
	uid, purchase, account, kind, region := r.Keys[0], r.Keys[1], r.Keys[2], r.Keys[3], r.Keys[4]
	if purchase == cost.OnDemand && isCommittable(kind) {
		b.eligible[account] = append(b.eligible[account], eligibleUse{uid, kind, region, r.Days})
	}
}

// firstBilled returns the first day of the oldest bill of each account.
func firstBilled(periods []cost.Period) map[string]time.Time {
	out := map[string]time.Time{}
	for i := range periods {
		p := &periods[i]
		if p.Estimated {
			continue
		}
		for _, account := range p.Accounts() {
			if known, is := out[account]; !is || p.Month.Start().Before(known) {
				out[account] = p.Month.Start()
			}
		}
	}
	return out
}

// last30Days returns the effective cost of a resource on the last 30 settled days of its account, 0 if the bills do
// not name it. It returns false if the account has no 30 settled days.
func (b *bills) last30Days(account, uid string) (money.Amount, bool) {
	if b.from[account].IsZero() {
		return money.Amount{}, false
	}
	return b.costFrom(uid, 0).all, true
}

// monthlyCost is the cost of a resource in 30 days: all of it, and the part that commitments cover.
type monthlyCost struct{ all, committed money.Amount }

// monthly returns the cost of a resource in 30 days at its present state: the settled days after since, as 30 days. It
// returns false if fewer than 7 of the days are after since, or the bills do not name the resource.
func (b *bills) monthly(account, uid string, since time.Time) (monthlyCost, bool) {
	from := b.from[account]
	if from.IsZero() || len(b.of[uid]) == 0 {
		return monthlyCost{}, false
	}
	skip := 0
	if since.After(from) {
		skip = int((since.Sub(from) + day - 1) / day)
	}
	days := int64(billedDays - skip)
	if days < fewestDays {
		return monthlyCost{}, false
	}
	c := b.costFrom(uid, skip)
	return monthlyCost{c.all.MulInt(billedDays).DivInt(days), c.committed.MulInt(billedDays).DivInt(days)}, true
}

// costFrom returns the cost of a resource on the days from a number on.
func (b *bills) costFrom(uid string, skip int) (out monthlyCost) {
	for i := range b.of[uid] {
		one := &b.of[uid][i]
		for n := skip; n < one.days.Len(); n++ {
			amount := one.days.At(n)
			out.all = out.all.Add(amount)
			if one.purchase == cost.Committed {
				out.committed = out.committed.Add(amount)
			}
		}
	}
	return out
}
