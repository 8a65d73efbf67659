package recommender

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// accountBill is the figures of an account's bill of the last 30 settled days, in USD.
type accountBill struct {
	total      money.Amount // effective cost of use and purchases, without taxes and credits
	support    money.Amount
	cloudFront money.Amount
	uses       map[*product]*committedUse
}

// committedUse is the use of a product: what is paid on demand and under commitments, and at public prices all of it
// and the part that commitments cover.
type committedUse struct {
	onDemand, committed money.Amount
	list, listCommitted money.Amount
	some                bool // commitments cover a part
	unlisted            bool // a part of the use has no public price on the bill
	unlistedCommitted   bool // a part of the covered use has none
}

// useOf returns the use of a product; a zero one if there is none.
func (f *accountBill) useOf(p *product) *committedUse {
	if f == nil || f.uses[p] == nil {
		return &committedUse{}
	}
	return f.uses[p]
}

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
	if category == bill.Usage {
		f.addUse(metric, kind, purchase, r.Amount)
	}
}

// addUse adds the use of a type to the products that cover it.
func (f *accountBill) addUse(metric cost.Metric, kind, purchase string, usd money.Amount) {
	for i := range products {
		p := &products[i]
		if !p.covers(kind) {
			continue
		}
		if f.uses == nil {
			f.uses = map[*product]*committedUse{}
		}
		if f.uses[p] == nil {
			f.uses[p] = &committedUse{}
		}
		f.uses[p].add(metric, purchase, usd)
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

// add adds the use in one way of purchase.
func (u *committedUse) add(metric cost.Metric, purchase string, usd money.Amount) {
	committed := purchase == cost.Committed
	u.some = u.some || committed
	switch {
	case metric == cost.Effective && committed:
		u.committed = u.committed.Add(usd)
	case metric == cost.Effective:
		if purchase == cost.OnDemand {
			u.onDemand = u.onDemand.Add(usd)
		}
	default:
		u.list, u.unlisted = u.list.Add(usd), u.unlisted || usd.Sign() <= 0
		if committed {
			u.listCommitted, u.unlistedCommitted = u.listCommitted.Add(usd), u.unlistedCommitted || usd.Sign() <= 0
		}
	}
}

// coverage returns the share of the use that commitments cover at public prices, in percent: 0 without any commitment.
// It is unknown without any use, and of a bill without public prices.
func (u *committedUse) coverage() (any, condition.Reason) {
	switch {
	case !u.some && u.onDemand.Sign() > 0:
		return 0.0, ""
	case u.list.Sign() <= 0 || u.unlisted:
		return nil, unpriced
	}
	return u.listCommitted.Float64() / u.list.Float64() * 100, ""
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
