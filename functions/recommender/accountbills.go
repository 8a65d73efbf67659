package recommender

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// accountBill is the figures of an account's bill of the last 30 settled days, in USD.
type accountBill struct {
	total      money.Amount // effective cost of use and purchases, without taxes and credits
	support    money.Amount
	cloudFront money.Amount
	caches     reservedUse
}

// reservedUse is the use of machines of a kind: what is paid on demand, and at public prices all of it and the part
// that commitments cover.
type reservedUse struct {
	onDemand            money.Amount
	list, listCommitted money.Amount
	unlisted            bool // a part of the use has no public price on the bill
}

// cacheTypes are the types whose nodes reservations of caches cover.
var cacheTypes = map[string]bool{"aws-elasticache": true, "aws-memorydb": true}

// readAccounts reads the figures of the accounts of a window.
func (b *bills) readAccounts(ctx context.Context, costs *cost.Store, org string, w window) error {
	for _, metric := range []cost.Metric{cost.Effective, cost.List} {
		a, err := costs.Ask(ctx, org, cost.Question{
			From: w.from, To: w.from.AddDate(0, 0, billedDays), Metric: metric, BillsOnly: true,
			Dims: []string{
				cost.AccountDim, cost.TypeDim, cost.ServiceDim, cost.PurchaseDim, cost.CategoryDim, cost.ClassDim,
			},
			Filter: map[string][]string{cost.AccountDim: w.accounts},
		})
		if err != nil {
			return fmt.Errorf("read the costs of accounts of %s: %w", org, err)
		}
		for i := range a.Rows {
			b.addFigure(metric, &a.Rows[i])
		}
	}
	return nil
}

// addFigure adds a row of an answer to the figures of its account.
func (b *bills) addFigure(metric cost.Metric, r *cost.Row) {
	account, kind, service, purchase, category := r.Keys[0], r.Keys[1], r.Keys[2], r.Keys[3], r.Keys[4]
	if r.Keys[5] != "" || category != bill.Usage && category != bill.Purchase {
		return // a correction, a tax or a credit says nothing of these days
	}
	f := b.accounts[account]
	if f == nil {
		f = &accountBill{}
		b.accounts[account] = f
	}
	if metric == cost.Effective {
		f.addCost(service, r.Amount)
	}
	if cacheTypes[kind] && category == bill.Usage {
		f.caches.add(metric, purchase, r.Amount)
	}
}

// addCost adds a cost to the total and to the figure of its service.
func (f *accountBill) addCost(service string, usd money.Amount) {
	f.total = f.total.Add(usd)
	name := strings.ToLower(strings.ReplaceAll(service, " ", ""))
	switch {
	case strings.HasPrefix(name, "awssupport"), strings.HasPrefix(name, "awspremiumsupport"):
		f.support = f.support.Add(usd)
	case strings.HasSuffix(name, "cloudfront"):
		f.cloudFront = f.cloudFront.Add(usd)
	}
}

// add adds the use of machines in one way of purchase.
func (u *reservedUse) add(metric cost.Metric, purchase string, usd money.Amount) {
	if metric == cost.Effective {
		if purchase == cost.OnDemand {
			u.onDemand = u.onDemand.Add(usd)
		}
		return
	}
	u.unlisted = u.unlisted || usd.Sign() <= 0
	if u.list = u.list.Add(usd); purchase == cost.Committed {
		u.listCommitted = u.listCommitted.Add(usd)
	}
}

// lastDeliveries returns the last delivery of each account that the periods bill.
func lastDeliveries(periods []cost.Period) map[string]delivery {
	out := map[string]delivery{}
	for i := range periods {
		p := &periods[i]
		if p.Estimated {
			continue
		}
		for _, account := range p.Accounts() {
			if p.DeliveredAt.After(out[account].at) {
				out[account] = delivery{p.Source, p.DeliveredAt}
			}
		}
	}
	return out
}
