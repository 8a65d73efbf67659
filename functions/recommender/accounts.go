package recommender

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// accountTypes are the types of accounts as subjects of rules, by provider. No listing returns them.
var accountTypes = map[string]string{"aws": "aws-account", "azure": "azure-subscription", "gcp": "gcp-project"}

// isAccountType reports whether a type is that of accounts. Rules for every type of a provider are not about them.
func isAccountType(kind string) bool { return kind != "" && accountTypes[vendorOf(kind)] == kind }

// accountDerivations are the facts of accounts, from their bills.
var accountDerivations = []derivation{
	{"export_ok", []string{"aws-account", "azure-subscription"}, (*subject).exportState},
	{"billing_export", []string{"gcp-project"}, (*subject).exportState},
	{"total_cost_30d", []string{"aws-account", "gcp-project"}, accountFigure(func(b *accountBill) float64 {
		return b.total.Float64()
	})},
	{"cost_30d_total", []string{"azure-subscription"}, accountFigure(func(b *accountBill) float64 {
		return b.total.Float64()
	})},
	{"support_cost_30d", []string{"aws-account"}, accountFigure(func(b *accountBill) float64 {
		return b.support.Float64()
	})},
	{"cloudfront_cost_30d", []string{"aws-account"}, accountFigure(func(b *accountBill) float64 {
		return b.cloudFront.Float64()
	})},
	onDemandCost("aws-account", "cache_od_cost_30d", "caches"),
	onDemandCost("aws-account", "search_od_cost_30d", "search"),
	onDemandCost("aws-account", "redshift_od_cost_30d", "warehouses"),
	coverageOf("aws-account", "sp_coverage_pct", "compute"),
	coverageOf("aws-account", "rds_coverage_pct", "databases"),
	coverageOf("aws-account", "cache_coverage_pct", "caches"),
	coverageOf("aws-account", "search_coverage_pct", "search"),
	coverageOf("aws-account", "redshift_coverage_pct", "warehouses"),
	coverageOf("gcp-project", "cud_coverage_pct", "compute"),
	coverageOf("gcp-project", "sql_coverage_pct", "databases"),
	stableUse("aws-account", "compute_od_p10_hourly", "compute"),
	stableUse("aws-account", "sagemaker_od_p10_hourly", "machine learning"),
	stableUse("azure-subscription", "compute_od_p10_hourly", "compute"),
	stableUse("gcp-project", "compute_od_p10_hourly", "compute"),
	stableUse("gcp-project", "sql_od_p10_hourly", "databases"),
	stableUse("gcp-project", "cache_od_p10_hourly", "caches"),
	stableUse("gcp-project", "run_od_p10_hourly", "serverless"),
	stableUse("gcp-project", "spanner_od_p10_hourly", "spanner"),
	reservedGain("azure-subscription", "vm_reserved_gain_30d", "machines"),
	reservedGain("azure-subscription", "sql_reserved_gain_30d", "databases"),
	reservedGain("azure-subscription", "cosmos_reserved_gain_30d", "documents"),
}

// accountFigure returns the derivation of a figure of the account's bill of the last 30 settled days, 0 if no charge
// counts for it.
func accountFigure(of func(*accountBill) float64) func(*subject) (any, condition.Reason) {
	return func(s *subject) (any, condition.Reason) {
		if s.bills.from[s.CloudAccountID].IsZero() {
			return nil, unbilled
		}
		b := s.bills.accounts[s.CloudAccountID]
		if b == nil {
			b = &accountBill{}
		}
		return of(b), ""
	}
}

// onDemandCost returns the derivation of the cost of a product on demand on the last 30 settled days.
func onDemandCost(subject, fact, name string) derivation {
	p := productNamed(subject, name)
	return derivation{fact, []string{subject}, accountFigure(func(b *accountBill) float64 {
		return b.useOf(p).onDemand.Float64()
	})}
}

// coverageOf returns the derivation of the share of the use of a product that commitments cover.
func coverageOf(kind, fact, name string) derivation {
	p := productNamed(kind, name)
	return derivation{fact, []string{kind}, func(s *subject) (any, condition.Reason) {
		if s.bills.from[s.CloudAccountID].IsZero() {
			return nil, unbilled
		}
		return s.bills.accounts[s.CloudAccountID].useOf(p).coverage()
	}}
}

// stableUse returns the derivation of the 10th percentile of the hourly cost of a product on demand over the last 30
// settled days. Bills have days, so an hour is a 24th of its day.
func stableUse(kind, fact, name string) derivation {
	p := productNamed(kind, name)
	return derivation{fact, []string{kind}, func(s *subject) (any, condition.Reason) {
		if s.bills.from[s.CloudAccountID].IsZero() {
			return nil, unbilled
		}
		days := s.eligibleDays(p, scope{})
		slices.SortFunc(days, money.Amount.Cmp)
		return commitment.Quantile(days, money.FromScaled(1, 1)).DivInt(24).Float64(), ""
	}}
}

// reservedGain returns the derivation of what reservations of a product would save in a month.
func reservedGain(kind, fact, name string) derivation {
	p := productNamed(kind, name)
	return derivation{fact, []string{kind}, func(s *subject) (any, condition.Reason) {
		a := s.adviceOn(p)
		if a.why != "" {
			return nil, a.why
		}
		gain := a.gain()
		return gain.Float64(), ""
	}}
}

// freshExport is how old the last delivery of a healthy export may be. Providers deliver at least daily.
const freshExport = 3 * day

// exports are the sources that are exports of bills.
var exports = map[string]bool{
	string(cloud.DataExport): true, string(cloud.CostReport): true, string(cloud.BigQueryExport): true,
	string(cloud.StorageExport): true,
}

// exportState reports whether an export delivers the bills of the account. It is false if the deliveries have ended, or
// if bills come from Cost Explorer because no export was found. It is unknown while bills are not read.
func (s *subject) exportState() (any, condition.Reason) {
	d, billed := s.bills.deliveries[s.CloudAccountID]
	a := s.accounts[s.CloudAccountID]
	switch {
	case !billed || s.now.Sub(a.LastSyncedAt) > 2*day:
		return nil, unbilled
	case exports[d.source]:
		return s.now.Sub(d.at) <= freshExport, ""
	case d.source == string(cloud.CostExplorer) && a.Billing.Source == "":
		return false, ""
	}
	return nil, unknownValue
}

// evaluateAccounts evaluates the rules about accounts.
func (e *evaluation) evaluateAccounts(ctx context.Context) error {
	e.usage = func(string) measurement.Use { return measurement.Use{} }
	for _, id := range slices.Sorted(maps.Keys(e.in.accounts)) {
		a := e.in.accounts[id]
		kind := accountTypes[a.Provider]
		if kind == "" || a.Status == inventory.AccountDisconnected {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.evaluateAccount(accountRecord(&a, kind)); err != nil {
			return fmt.Errorf("evaluate the account %s: %w", id, err)
		}
	}
	return nil
}

func (e *evaluation) evaluateAccount(r *record) error {
	of, err := e.evaluatorOf(r.Type)
	if err != nil || of == nil {
		return err
	}
	stored, err := json.Marshal(r.Resource)
	if err != nil {
		return err
	}
	s, err := of.begin(r, stored, e.usage)
	if err != nil {
		return err
	}
	if err = e.evaluateRules(of, s, r.Content); err != nil {
		return err
	}
	return errors.Join(e.in.commitments.err, e.in.tables.err)
}

// accountRecord returns an account as a subject.
func accountRecord(a *inventory.Account, kind string) *record {
	return &record{Resource: inventory.Resource{
		ID: a.ID, UID: a.CloudAccountID, Name: a.Name, Type: kind, Provider: a.Provider, CloudAccountID: a.ID,
		Region: cloud.Global, Status: cloud.Running, StatusAt: a.CreatedAt.UnixMicro(), DiscoveredAt: a.CreatedAt,
	}}
}

// readAccounts reads the accounts of an organization by id.
func readAccounts(ctx context.Context, s *inventory.Store, org string) (map[string]inventory.Account, error) {
	all, err := s.ListAccounts(ctx, org)
	if err != nil {
		return nil, err
	}
	out := make(map[string]inventory.Account, len(all))
	for i := range all {
		out[all[i].ID] = all[i]
	}
	return out, nil
}

// delivery is the last delivery of bills of an account.
type delivery struct {
	source string
	at     time.Time
}
