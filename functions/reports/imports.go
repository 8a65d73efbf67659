package reports

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
)

// IncompleteMonth is a month whose bills are not all imported.
type IncompleteMonth struct {
	Period          string   `json:"period" example:"2026-03"`
	CloudAccountIDs []string `json:"cloudAccountIDs" doc:"The accounts whose bill of the month is not imported yet; empty with a grant on teams or resources"`
}

// basis returns the basis of a report from a question and its answer.
func (s *service) basis(ctx context.Context, q *cost.Question, a *cost.Answer) (Basis, error) {
	out, err := s.importedBasis(ctx, q, a)
	if err != nil {
		return out, err
	}
	return out, s.attribute(ctx, &out, q, a.Attribution)
}

// importedBasis returns the basis of a report without AttributedFrom.
func (s *service) importedBasis(ctx context.Context, q *cost.Question, a *cost.Answer) (Basis, error) {
	out := newBasis(q, a)
	var err error
	if out.Incomplete, err = s.incompleteMonths(ctx, q); err != nil {
		return out, err
	}
	if out.CostSource = report.CostSource(q, a, s.p.Clock.Now()); len(out.Incomplete) > 0 {
		out.CostSource = report.EstimatedCost
	}
	return out, nil
}

// summaryBasis returns the basis of a summary. Its incomplete months are also those of the month before, and of the
// history of a forecast; its source is that of the month alone.
func (s *service) summaryBasis(ctx context.Context, q *cost.Question, h *history) (Basis, error) {
	out, err := s.basis(ctx, q, &h.month)
	if err != nil {
		return out, err
	}
	all, now := *q, s.p.Clock.Now()
	if all.From = cost.MonthOf(q.From).Add(-1).Start(); now.Before(q.To) {
		all.From = h.First
	}
	out.Incomplete, err = s.incompleteMonths(ctx, &all)
	return out, err
}

// incompleteMonths returns the months of a question that the first imports of accounts have not imported yet, the
// oldest first. Callers with a limited scope see no accounts.
func (s *service) incompleteMonths(ctx context.Context, q *cost.Question) ([]IncompleteMonth, error) {
	missing, err := s.missingBills(ctx)
	if err != nil {
		return nil, err
	}
	accounts := map[string][]string{}
	first, last := cost.MonthOf(q.From).String(), cost.MonthOf(q.To.Add(-report.Day)).String()
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
// round trips, and remembers for importedFor that there are no such accounts.
func (s *service) missingBills(ctx context.Context) ([]missingBills, error) {
	org, now := identity.CallerOrg(ctx), s.p.Clock.Now()
	if s.imported.has(org, now) {
		return nil, nil
	}
	accounts, err := s.Inventory.ListAccounts(ctx, org)
	if err != nil {
		return nil, err
	}
	entries, err := billimport.ListEntries(ctx, s.p.Table, org)
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
		s.imported.put(org, now.Add(importedFor))
	}
	return out, nil
}

// importedOrgs caches the organizations without missing bills, so that reports need no round trip for them.
type importedOrgs struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// The limits of the cache importedOrgs. A first import waits for the first discovery of its account, so its first
// month is hardly imported within importedFor.
const (
	importedFor  = 10 * time.Second
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
