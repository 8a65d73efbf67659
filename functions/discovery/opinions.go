package discovery

import (
	"context"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/foundation/money"
)

// Importing replaces the parts of a share that imports the provider's own recommendations. The first pass of an account
// on a day has such a share.
type Importing struct {
	Tries int `json:"tries,omitempty"` // so far
}

// These constants set how often an import is tried, how long it waits between tries, and how long one try may take.
const (
	maxImporting   = 3
	importingPause = time.Minute
	importingTime  = 5 * time.Minute
)

// importingDue returns the share that imports the opinions of the account, unless that was tried today. Of an account
// that was never discovered, the locations are not known yet.
func (w *worker) importingDue(ctx context.Context, in discovery.Input, a inventory.Account) ([]Share, error) {
	if !cloud.HasOpinions(a.Provider) || a.LastDiscoveredAt.IsZero() {
		return nil, nil
	}
	last, err := w.opinions.LastImport(ctx, in.Org, in.AccountID)
	if err != nil || !last.Due(w.p.Clock.Now()) {
		return nil, err
	}
	return []Share{{Input: in, Started: w.p.Clock.Now(), Parts: []Progress{}, Importing: &Importing{}}}, nil
}

// importShare imports the opinions of the account. If they cannot be read, those of the last import stay, with the
// error. The outcome of the pass does not depend on it.
func (w *worker) importShare(ctx context.Context, sh Share, a inventory.Account, conn cloud.Conn) (Share, error) {
	sh.Done = true
	reader, ok := conn.(cloud.OpinionReader)
	if !ok {
		return sh, nil
	}
	all, answer, err := w.readOpinions(ctx, sh, reader)
	head := opinion.Account{
		AccountID: a.ID, Provider: a.Provider, Source: answer.Source, State: answer.State, Message: answer.Message,
		Cut: answer.Cut,
	}
	switch {
	case err != nil && mayPass(err) && sh.Importing.Tries < maxImporting:
		sh.Importing = &Importing{Tries: sh.Importing.Tries + 1}
		sh.Done, sh.WaitSeconds = false, int(importingPause.Seconds())
		return sh, nil
	case err != nil:
		w.p.Log.WarnContext(ctx, "opinions were not imported", "org", sh.Org, "account", a.ID, "error", err.Error())
		return sh, w.opinions.NoteFailure(ctx, sh.Org, head, err)
	}
	w.p.Log.InfoContext(ctx, "opinions were imported", "account", a.ID, "state", string(answer.State),
		"opinions", len(all), "calls", answer.Calls, "cut", answer.Cut)
	return sh, w.opinions.Import(ctx, sh.Org, head, all)
}

// readOpinions reads the opinions of an account, with their savings in US dollars.
func (w *worker) readOpinions(ctx context.Context, sh Share, conn cloud.OpinionReader) (
	[]opinion.Opinion, cloud.OpinionAnswer, error,
) {
	places, err := w.locationsOf(ctx, sh.Input)
	if err != nil {
		return nil, cloud.OpinionAnswer{}, err
	}
	limited, stop := context.WithTimeout(ctx, importingTime)
	defer stop()
	var all []opinion.Opinion
	answer, err := conn.ReadOpinions(limited, cloud.OpinionRequest{
		Locations: places, Limit: opinion.MaxPerAccount,
	}, func(o cloud.Opinion) { all = append(all, opinion.Opinion{Opinion: o}) })
	if err == nil {
		err = w.convertSavings(ctx, all)
	}
	return all, answer, err
}

// locationsOf returns the regions and zones of the account's resources.
func (w *worker) locationsOf(ctx context.Context, in discovery.Input) ([]string, error) {
	found := map[string]bool{}
	err := w.inventory.EachIndexed(ctx, in.Org, func(r inventory.IndexedResource) {
		if r.CloudAccountID == in.AccountID {
			found[r.Region], found[r.Zone] = true, true
		}
	})
	delete(found, "")
	delete(found, cloud.Global)
	return slices.Sorted(maps.Keys(found)), err
}

// convertSavings sets the savings in US dollars, at today's rates. Without a rate there is none.
func (w *worker) convertSavings(ctx context.Context, all []opinion.Opinion) error {
	rates := map[string]*money.Amount{"USD": new(money.FromInt(1))}
	for i := range all {
		o := &all[i]
		if o.Saving == nil {
			continue
		}
		rate, asked := rates[o.Currency]
		if !asked {
			r, known, err := w.estimates.RateOf(ctx, o.Currency, w.p.Clock.Now())
			if err != nil {
				return err
			}
			if known {
				rate = &r.USD
			}
			rates[o.Currency] = rate
		}
		if rate != nil {
			usd := o.Saving.Mul(*rate).Round(6)
			o.USD = &usd
		}
	}
	return nil
}
