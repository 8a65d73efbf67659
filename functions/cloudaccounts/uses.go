package cloudaccounts

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/reference"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// accountUses are the uses of an account.
type accountUses struct {
	// binding are the uses that keep the account even with detach=true: their ends act on its cloud and need its
	// credentials.
	binding []fault.Use
	// loose are the uses that detach=true deletes, or removes the account from.
	loose    []fault.Use
	links    []override.NamedTarget
	policies []unappliedPolicy
}

// unappliedPolicy is an autoscaler policy that has not set its target, and the write that completes its deletion.
type unappliedPolicy struct {
	readiness.Policy
	unheld table.Write
}

func (u *accountUses) allUses() []fault.Use {
	return append(append([]fault.Use{}, u.binding...), u.loose...)
}

// refusal returns the error that lists the uses that keep an account, or nil.
func (u *accountUses) refusal(ctx context.Context, a inventory.Account, detach bool) error {
	named := fmt.Sprintf("cloud account %s (%s)", a.ID, a.Name)
	const first = "end these overrides, and delete these autoscaler policies and plans, while the account is " +
		"connected: their ends act on its cloud"
	switch {
	case len(u.binding) == 0 && !detach:
		return identity.InUse(ctx, named, u.loose, "take it out of them, or send detach=true, which does it")
	case !detach && len(u.loose) > 0:
		return identity.InUse(ctx, named, u.allUses(),
			"take it out of them; detach=true does it for all but overrides and applied autoscaler policies")
	}
	return identity.InUse(ctx, named, u.binding, first)
}

// usesOf lists the uses of an account: the records that name it or resources of it. It takes fifteen round trips,
// twelve of them at the same time, plus those of override.Live.InAccount and readiness.Store.HoldersOf if there are
// overrides or policies.
func (s *service) usesOf(ctx context.Context, org, accountID string) (accountUses, error) {
	var out accountUses
	for _, list := range []func(context.Context, string, string, *accountUses) error{
		s.listResourceUses, s.listOverrides, s.listPolicies, s.listScoped,
	} {
		if err := list(ctx, org, accountID, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// listResourceUses adds the groups, teams and schedules that name resources of an account.
func (s *service) listResourceUses(ctx context.Context, org, accountID string, to *accountUses) error {
	uses, err := inventory.New(s.p).UsesOf(ctx, org, accountID)
	if err != nil {
		return err
	}
	for _, u := range uses {
		to.loose = append(to.loose, useOf(u.Kind, u.ID, u.Name, u.Resources))
	}
	scheduled, err := scheduling.New(s.p).UsesOfAccount(ctx, org, accountID)
	for _, u := range scheduled {
		to.loose = append(to.loose, useOf("schedule", u.ID, u.Name, u.Resources))
	}
	return err
}

// readPolicies are the permissions to see the names of groups, teams and schedules.
var readPolicies = map[string]string{
	"resource group": "resource-groups:read", "team": "teams:read",
	"schedule": "schedules:read",
}

// useOf returns a use by a record that names resources of the account.
func useOf(kind, id, name string, resources int) fault.Use {
	return fault.Use{
		Kind: kind, ID: id, Name: fmt.Sprintf("%s, %d of its resources", name, resources),
		Policy: readPolicies[kind],
	}
}

// listOverrides adds the overrides on resources of an account, and the wake links to them.
func (s *service) listOverrides(ctx context.Context, org, accountID string, to *accountUses) error {
	live, err := override.ReadLive(ctx, s.p.Table, org)
	if err != nil {
		return err
	}
	known := inventory.New(s.p)
	held, err := live.InAccount(ctx, known, org, accountID)
	if err != nil {
		return err
	}
	for _, h := range held {
		to.binding = append(to.binding, h.Use())
	}
	links, err := override.ListWakeLinks(ctx, s.p.Table, org, s.p.Clock.Now())
	if err != nil {
		return err
	}
	to.links, err = override.WakeLinksInAccount(ctx, known, org, accountID, links)
	for _, l := range to.links {
		to.loose = append(to.loose, l.Use())
	}
	return err
}

// listPolicies adds the autoscaler policies of an account. A policy that may have set its target is
// binding, because its deletion restores the target; so are the plans that name a policy.
func (s *service) listPolicies(ctx context.Context, org, accountID string, to *accountUses) error {
	all, err := readiness.NewPolicyStore(s.p.Table, s.p.Clock).List(ctx, org)
	if err != nil {
		return err
	}
	var own []readiness.Policy
	var ids []string
	for i := range all {
		if all[i].CloudAccountID == accountID {
			own, ids = append(own, all[i]), append(ids, all[i].ID)
		}
	}
	holders, err := readiness.New(s.p.Table, s.p.Clock).HoldersOf(ctx, org, ids...)
	if err != nil {
		return err
	}
	for i := range own {
		to.addPolicy(own[i], holders[own[i].ID])
	}
	return nil
}

func (u *accountUses) addPolicy(p readiness.Policy, by readiness.Holders) {
	use := fault.Use{Kind: "autoscaler policy", ID: p.ID, Name: p.Name, Policy: "autoscaler-policies:read"}
	if p.MayHaveSet() || p.PlanID != "" || len(by.Plans) > 0 {
		u.binding = append(append(u.binding, use), by.Plans...)
		return
	}
	u.loose = append(u.loose, use)
	u.policies = append(u.policies, unappliedPolicy{p, by.Unheld})
}

// listScoped adds the budgets, subscriptions, webhooks and integrations for an account.
func (s *service) listScoped(ctx context.Context, org, accountID string, to *accountUses) error {
	uses, err := reference.ListUses(ctx, s.p.Table, org, event.Scope{Type: event.ScopeAccount, ID: accountID})
	to.loose = append(to.loose, uses...)
	return err
}

// endUses deletes the loose uses that are only for an account. It may be repeated: deleted uses are not listed again.
func (s *service) endUses(ctx context.Context, org, accountID string, uses accountUses) error {
	for _, p := range uses.policies {
		if err := readiness.NewPolicyStore(s.p.Table, s.p.Clock).Delete(ctx, org, p.Policy, nil, p.unheld); err != nil {
			return err
		}
	}
	for _, l := range uses.links {
		revoked := override.RemoveWakeLink(org, l)
		if err := s.p.Table.Transact(table.Within(ctx, override.WakeTokenPrefix), revoked...); err != nil {
			return fmt.Errorf("revoke wake link %s: %w", l.ID, err)
		}
	}
	if len(uses.loose) == 0 {
		return nil
	}
	return s.endScoped(ctx, org, event.Scope{Type: event.ScopeAccount, ID: accountID})
}

// endScoped deletes the budgets, subscriptions, webhooks and integrations for a scope.
func (s *service) endScoped(ctx context.Context, org string, of event.Scope) error {
	budgets := budgeting.NewStore(s.p.Table)
	all, err := budgets.UsesOf(ctx, org, budgeting.ScopeType(of.Type), of.ID)
	if err != nil {
		return err
	}
	for _, b := range all {
		if err = budgets.Delete(ctx, org, b); err != nil {
			return err
		}
	}
	if err = notification.NewStore(s.p).DeleteSubscriptionsFor(ctx, org, of); err != nil {
		return err
	}
	return s.endReceivers(ctx, org, of)
}

// endReceivers deletes the webhooks and integrations for a scope.
func (s *service) endReceivers(ctx context.Context, org string, of event.Scope) error {
	hooks := receiver.NewWebhookStore(s.p.Table, s.p.Sealer)
	services := receiver.NewIntegrationStore(s.p.Table, s.p.Sealer)
	called, err := hooks.ReceiversFor(ctx, org, of)
	if err != nil {
		return err
	}
	for i := range called {
		if err = hooks.Delete(ctx, org, &called[i]); err != nil {
			return err
		}
	}
	connected, err := services.IntegrationsFor(ctx, org, of)
	if err != nil {
		return err
	}
	for i := range connected {
		if err = services.Delete(ctx, org, &connected[i]); err != nil {
			return err
		}
	}
	return nil
}
