package local

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
)

// The demo's change of the past: a recommendation that was found, and applied by a person, before the demo began. The
// bills of its resource fall on that day (shared/cloud/simulated/plantedpast.go). The saving is not written here: the
// evaluation of rules measures it on the bills, as that of any other applied recommendation.
const (
	changedAgo   = 16             // days before the accounts are connected: both compared weeks are settled
	changedAfter = 9 * time.Hour  // of that day
	foundBefore  = 14 * recentDay // the change
	recentDay    = 24 * time.Hour
	changedWhy   = "The tests do not need a standby."
)

// changedOn returns the day of the change of the past for accounts that are connected at a time.
func changedOn(connected time.Time) time.Time {
	return connected.UTC().Truncate(recentDay).AddDate(0, 0, -changedAgo)
}

// withPast returns an account whose planted resources were changed on the day, or the account if it has none.
func withPast(a cloud.Account, on time.Time) cloud.Account {
	if a.Credentials["facts"] != "planted" {
		return a
	}
	a.Credentials = maps.Clone(a.Credentials)
	a.Credentials["changedOn"] = on.Format(time.DateOnly)
	return a
}

// seedPast makes the recommendations of the past of the last account, and applies them.
func (s *Service) seedPast(ctx context.Context, c *Client, org string, found []resource) error {
	connected, err := c.lastDemoAccount(ctx)
	if err != nil || connected.ID == "" {
		return err
	}
	changes, err := simulated.PastChanges(DemoAccounts(connected.CreatedAt)[len(demoAccounts)-1])
	if err != nil {
		return err
	}
	for i := range changes {
		at := slices.IndexFunc(found, func(r resource) bool { return r.UID == changes[i].UID })
		if at < 0 {
			continue // of a discovery that is slow
		}
		if err = s.applyInThePast(table.WithOrg(ctx, org), org, &changes[i], &found[at]); err != nil {
			return fmt.Errorf("apply %s to %s in the past: %w", changes[i].Rule, changes[i].UID, err)
		}
	}
	return nil
}

// applyInThePast opens the recommendation of a change before its day, and applies it on the day.
func (s *Service) applyInThePast(ctx context.Context, org string, p *simulated.PastChange, of *resource) error {
	store, shard := recommendation.New(s.Platform), recommendation.ShardOf(p.UID)
	pass := recommendation.Pass{ID: "demo", At: p.Day.Add(-foundBefore)}
	f := pastFinding(p, of, pass.At)
	if _, err := store.Settle(ctx, org, shard, pass, []recommendation.Finding{f}); err != nil {
		return err
	}
	_, _, err := store.Decide(ctx, org, recommendation.IDOf(of.ID, p.UID, p.Rule), recommendation.Decision{
		Status: recommendation.Applied, By: DemoEmail, Why: changedWhy, At: p.Day.Add(changedAfter),
	})
	return err
}

// pastFinding returns the finding of a rule before a change of the past.
func pastFinding(p *simulated.PastChange, of *resource, at time.Time) recommendation.Finding {
	r := rule.ByID(p.Rule)
	return recommendation.Finding{
		RuleID: r.ID, RuleVersion: r.Version, Outcome: recommendation.True, Resource: recommendation.Resource{
			ResourceID: of.ID, ResourceUID: of.UID, ResourceName: of.Name, ResourceType: of.Type, Provider: of.Provider,
			CloudAccountID: of.CloudAccountID, Region: of.Region,
		},
		Category: string(r.Category), Effort: string(r.Effort), Risk: string(r.Risk), Title: r.Title,
		Severity: recommendation.Severity(r.SeverityAt(r.Severity, p.Saving).String()),
		Savings: recommendation.Savings{
			Gross: p.Saving, Net: p.Saving, Basis: recommendation.Billed, Form: r.Savings.String(),
			Strength: recommendation.BySize, Cost: p.Cost,
		},
		Evidence: recommendation.Evidence{Values: p.Facts, Rule: r.ID, RuleVersion: r.Version, At: at},
	}
}
