// Package reference lists the records of an organization that name one of its cloud accounts, resource groups or teams
// as their scope: budgets, subscriptions, webhooks and integrations. The deletion of a scope is refused while there
// are any, or ends them first.
package reference

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Access is the table access of ListUses.
var Access = table.Access{Reads: []table.Partition{
	budgeting.Partition, notification.RecipientPartition, receiver.WebhookPartition, receiver.IntegrationPartition,
}}

// The nouns of the records that ListUses lists.
const (
	Budget       = "budget"
	Subscription = "subscription"
	Webhook      = "webhook"
	Integration  = "integration"
)

// lister lists the uses of one kind.
type lister func(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error)

// ListUses lists the budgets, subscriptions, webhooks and integrations for a scope, in this order and each by age. It
// takes four round trips side by side.
func ListUses(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error) {
	listers := []lister{listBudgets, listSubscriptions, listWebhooks, listIntegrations}
	found := make([][]fault.Use, len(listers))
	g, ctx := errgroup.WithContext(ctx)
	for i, list := range listers {
		g.Go(func() (err error) {
			found[i], err = list(ctx, s, org, of)
			return err
		})
	}
	err := g.Wait()
	return slices.Concat(found...), err
}

func listBudgets(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error) {
	all, err := budgeting.NewStore(s).UsesOf(ctx, org, budgeting.ScopeType(of.Type), of.ID)
	return asUses(fault.Use{Kind: Budget, Policy: "budgets:read"}, all, func(b budgeting.Budget) (string, string) {
		return b.ID, b.Name
	}), err
}

func listSubscriptions(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error) {
	ids, eventTypes, err := notification.ListSubscriptionIDs(ctx, s, org, of)
	return asUses(fault.Use{Kind: Subscription, Policy: "notifications:read"}, ids,
		func(subID string) (string, string) {
			return subID, eventTypes[subID]
		}), err
}

func listWebhooks(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error) {
	all, err := receiver.NewWebhookStore(s, nil).ReceiversFor(ctx, org, of)
	return asUses(fault.Use{Kind: Webhook, Policy: "webhooks:read"}, all, func(w receiver.Webhook) (string, string) {
		return w.ID, w.Name
	}), err
}

func listIntegrations(ctx context.Context, s table.Store, org string, of event.Scope) ([]fault.Use, error) {
	all, err := receiver.NewIntegrationStore(s, nil).IntegrationsFor(ctx, org, of)
	return asUses(fault.Use{Kind: Integration, Policy: "integrations:read"}, all,
		func(i receiver.Integration) (string, string) {
			return i.ID, i.Name
		}), err
}

// asUses returns the uses of records. Each is a copy of like, with the id and the name of its record.
func asUses[T any](like fault.Use, all []T, naming func(T) (id, name string)) []fault.Use {
	out := make([]fault.Use, len(all))
	for i := range all {
		out[i] = like
		out[i].ID, out[i].Name = naming(all[i])
	}
	return out
}
