package report

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// ImportReading is the store access of a function that asks a Reader for incomplete months.
var ImportReading = table.Access{Reads: []table.Partition{inventory.AccountPartition, billimport.Partition}}

// IncompleteMonth is a month whose bills are not all imported.
type IncompleteMonth struct {
	Period          string   `json:"period" example:"2026-03"`
	CloudAccountIDs []string `json:"cloudAccountIDs" doc:"The accounts whose bill of the month is not imported yet; empty with a grant on teams or resources"`
}

// IncompleteMonths returns the months of a question that the first imports of accounts have not imported yet, the
// oldest first. Callers with a limited scope see no accounts.
func (r *Reader) IncompleteMonths(ctx context.Context, q *cost.Question) ([]IncompleteMonth, error) {
	missing, err := r.missingBills(ctx)
	if err != nil {
		return nil, err
	}
	accounts := map[string][]string{}
	first, last := cost.MonthOf(q.From).String(), cost.MonthOf(q.To.Add(-Day)).String()
	for _, m := range missing {
		for _, month := range m.months {
			if month >= first && month <= last && concerns(q, &m) {
				accounts[month] = append(accounts[month], m.account)
			}
		}
	}
	out := []IncompleteMonth{}
	for _, month := range slices.Sorted(maps.Keys(accounts)) {
		ids := accounts[month]
		if slices.Sort(ids); q.Within != nil {
			ids = []string{}
		}
		out = append(out, IncompleteMonth{month, ids})
	}
	return out, nil
}

// PeriodsOf returns the periods of months.
func PeriodsOf(months []IncompleteMonth) []string {
	var out []string
	for i := range months {
		out = append(out, months[i].Period)
	}
	return out
}

// missingBills is the months of an account whose bills are not imported yet.
type missingBills struct {
	account, provider string
	months            []string
}

// concerns reports whether the filter of a question can match costs of an account.
func concerns(q *cost.Question, m *missingBills) bool {
	for dim, value := range map[string]string{cost.AccountDim: m.account, cost.ProviderDim: m.provider} {
		if values := q.Filter[dim]; len(values) > 0 && !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

// missingBills returns the connected accounts whose first import has not imported all of their bills. It takes two
// round trips, and remembers for ImportedFor that there are no such accounts.
func (r *Reader) missingBills(ctx context.Context) ([]missingBills, error) {
	org, now := identity.CallerOrg(ctx), r.p.Clock.Now()
	if r.imported.has(org, now) {
		return nil, nil
	}
	accounts, err := r.Inventory.ListAccounts(ctx, org)
	if err != nil {
		return nil, err
	}
	entries, err := billimport.ListEntries(ctx, r.p.Table, org)
	if err != nil {
		return nil, err
	}
	var out []missingBills
	for i := range accounts {
		a := &accounts[i]
		e, begun := entries[a.ID]
		if !begun {
			e = billimport.Requested(a.CreatedAt)
		}
		if months := e.MissingMonths(now); len(months) > 0 {
			out = append(out, missingBills{a.ID, a.Provider, months})
		}
	}
	if len(out) == 0 {
		r.imported.put(org, now.Add(ImportedFor))
	}
	return out, nil
}

// importedOrgs caches the organizations without missing bills, so that reports need no round trip for them.
type importedOrgs struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// The limits of the cache importedOrgs.
const (
	// ImportedFor is how long a Reader remembers that an organization misses no bills. A first import waits for the
	// first discovery of its account, so its first month is hardly imported within that time.
	ImportedFor  = 10 * time.Second
	importedMost = 1000
)

func (o *importedOrgs) has(org string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return now.Before(o.until[org])
}

func (o *importedOrgs) put(org string, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.until) >= importedMost || o.until == nil {
		o.until = map[string]time.Time{}
	}
	o.until[org] = until
}
