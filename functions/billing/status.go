package billing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// SyncEntry is the state of a cloud account's bills.
type SyncEntry struct {
	CloudAccountID   string     `json:"cloudAccountID" doc:"The id of the cloud account" example:"ca_01jzk5x0h2v3m4n5p6q7r8s9ta"`
	Provider         string     `json:"provider"`
	LastSyncedAt     *time.Time `json:"lastSyncedAt" doc:"When everything that there was had last been imported; null before that"`
	Status           string     `json:"status" enum:"ok,stale,syncing,failed,never"`
	MonthsBackfilled int        `json:"monthsBackfilled" minimum:"0" maximum:"13" doc:"Of how many of the last 13 months there are bills"`
	Message          string     `json:"message" doc:"The problem, or the reason for a wait; empty if there is neither"`
	SupersededBy     []string   `json:"supersededBy" doc:"The cloud accounts on whose bills its charges of some months count in place of its own, which are kept: of an account that another one pays for, or that is connected for the second time"`
}

type noInput struct{}

func (s *service) listStatus(ctx context.Context, _ *noInput) ([]SyncEntry, error) {
	org := identity.CallerOrg(ctx)
	accounts, err := connection.ListAccounts(ctx, s.p.Table, org)
	if err != nil {
		return nil, err
	}
	entries, err := billimport.ListEntries(ctx, s.p.Table, org)
	if err != nil {
		return nil, err
	}
	periods, err := s.costs.Periods(ctx, org)
	if err != nil {
		return nil, err
	}
	out := make([]SyncEntry, len(accounts))
	for i := range accounts {
		out[i] = s.entryOf(&accounts[i], entries[accounts[i].ID])
		out[i].SupersededBy = supersedersOf(periods, accounts[i].ID)
	}
	return out, nil
}

// supersedersOf returns the accounts whose bills supersede charges of an account.
func supersedersOf(periods []cost.Period, accountID string) []string {
	out := []string{}
	for i := range periods {
		if periods[i].AccountID == accountID && !periods[i].Estimated {
			out = append(out, superseders(&periods[i])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// superseders returns the accounts whose bills supersede charges of a period, without duplicates.
func superseders(p *cost.Period) []string {
	out := append([]string{}, slices.Sorted(maps.Values(p.Superseded))...)
	return slices.Compact(out)
}

func (s *service) entryOf(a *inventory.Account, e billimport.Entry) SyncEntry {
	status, message := e.StatusAt(s.p.Clock.Now(), a.CreatedAt)
	return SyncEntry{
		a.ID, a.Provider, rest.Optional(e.LastSyncedAt), string(status), min(e.Months, billimport.MaxMonths),
		message,
		[]string{},
	}
}

func (s *service) verify(ctx context.Context, _ *noInput) (rest.Job, error) {
	r, err := billimport.StartRun(ctx, s.p, identity.CallerOrg(ctx))
	job := rest.Job{JobID: r.JobID, Status: "running", StatusURL: statusPath}
	if err == nil {
		audit.NoteChange(ctx, audit.Change{Target: r.JobID, After: job})
	}
	return job, err
}

type periodsInput struct {
	rest.Page
	AccountID string `query:"cloud_account_id" maxLength:"128" doc:"Only of this cloud account"`
	Period    string `query:"period" maxLength:"7" doc:"Only this month" example:"2026-03"`
}

// Period is an imported billing period with its control totals.
type Period = billingPeriod

// billingPeriod is named after its schema in the interface description, BillingPeriod.
type billingPeriod struct {
	CloudAccountID string          `json:"cloudAccountID" doc:"The id of the cloud account; other: and its name of a vendor that is none"`
	Provider       string          `json:"provider"`
	Period         string          `json:"period" example:"2026-03"`
	Rows           int64           `json:"rows" doc:"The number of charges, without those that net to zero"`
	Totals         []CurrencyTotal `json:"totals" doc:"By currency, before any conversion"`
	Final          bool            `json:"final" doc:"The provider has closed it"`
	Estimated      bool            `json:"estimated" doc:"Made of our own estimates, until there is a bill"`
	SettledThrough *string         `json:"settledThrough" doc:"The last day that is complete; null when none is" example:"2026-03-29"`
	DeliveredAt    time.Time       `json:"deliveredAt"`
	ImportedAt     time.Time       `json:"importedAt"`
	Source         string          `json:"source"`
	Export         string          `json:"export" doc:"The name of the export, or of the uploaded file"`
	Fingerprint    string          `json:"fingerprint" doc:"The same for the same content"`
	Rates          []ExchangeRate  `json:"rates" doc:"The exchange rates of amounts that are not in US dollars; amounts in a currency without a rate are in no report"`
	SupersededBy   []string        `json:"supersededBy" doc:"The cloud accounts on whose bills the same charges are: these count there, and not here"`
	Counts         string          `json:"counts" enum:"all,partly,nothing" doc:"The part of the period that is in reports: superseded charges are not"`
}

// ExchangeRate is the value of one unit of a currency in USD.
type ExchangeRate struct {
	Currency string       `json:"currency" example:"EUR"`
	USD      money.Amount `json:"usd" example:"1.0843"`
	Source   string       `json:"source" doc:"bill: the bill says so itself" example:"European Central Bank"`
	Date     string       `json:"date" example:"2026-03-31"`
}

// CurrencyTotal is the sums in one currency, unrounded.
type CurrencyTotal struct {
	Currency  string       `json:"currency" example:"USD"`
	Rows      int64        `json:"rows"`
	Billed    money.Amount `json:"billed"`
	Effective money.Amount `json:"effective"`
	List      money.Amount `json:"list"`
}

func (s *service) listPeriods(ctx context.Context, in *periodsInput) (rest.List[Period], error) {
	if _, err := cost.ParseMonth(in.Period); in.Period != "" && err != nil {
		return rest.List[Period]{},
			fault.NewWithCause(fault.Invalid, err, "period: %.16q is not a month; write it like 2026-03", in.Period)
	}
	all, err := s.costs.Periods(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[Period]{}, err
	}
	all = slices.DeleteFunc(all, func(p cost.Period) bool {
		return in.AccountID != "" && p.AccountID != in.AccountID || in.Period != "" && p.Month.String() != in.Period
	})
	slices.SortStableFunc(all, func(a, b cost.Period) int {
		return cmp.Or(cmp.Compare(b.Month, a.Month), cmp.Compare(a.AccountID, b.AccountID))
	})
	return rest.MapItems(rest.PageOf(all, in.Page), newPeriod), nil
}

// countsOf returns how much of a period counts.
func countsOf(p *cost.Period) string {
	switch {
	case p.Whole:
		return "nothing"
	case len(p.Superseded) > 0:
		return "partly"
	}
	return "all"
}

func newPeriod(p cost.Period) Period {
	out := Period{
		CloudAccountID: p.AccountID, Provider: p.Provider, Period: p.Month.String(), Rows: p.Rows, Final: p.Final,
		Estimated:   p.Estimated,
		DeliveredAt: p.DeliveredAt, ImportedAt: p.ImportedAt, Source: p.Source, Export: p.Export,
		Fingerprint: p.Fingerprint,
		Totals:      []CurrencyTotal{}, Rates: []ExchangeRate{}, SupersededBy: superseders(&p), Counts: countsOf(&p),
	}
	if !p.SettledThrough.IsZero() {
		out.SettledThrough = rest.Optional(p.SettledThrough.Format(time.DateOnly))
	}
	for _, currency := range slices.Sorted(maps.Keys(p.Rates)) {
		r := p.Rates[currency]
		out.Rates = append(out.Rates, ExchangeRate{currency, r.USD, r.Source, r.Date})
	}
	for currency, t := range p.ByCurrency {
		out.Totals = append(out.Totals, CurrencyTotal{currency, t.Rows, t.Billed, t.Effective, t.List})
	}
	slices.SortFunc(out.Totals, func(a, b CurrencyTotal) int { return cmp.Compare(a.Currency, b.Currency) })
	return out
}
