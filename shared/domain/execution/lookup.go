package execution

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// lookUp finds the resource of the request, and compares the request with the inventory: acting on a resource that the
// caller did not mean is the worst possible failure here. It also returns the retention of the action. It takes one
// round trip if the account is named by our id.
func (s submission) lookUp(ctx context.Context) (inventory.Resource, Retention, error) {
	resKey, accKey, orgKey := inventory.ResourceKey(s.org, s.ResourceUID),
		inventory.AccountKey(s.org, s.CloudAccountID), identity.OrganisationKey(s.org)
	liveKey, eventKey := override.LiveKey(s.org), scheduling.EventHoldKey(s.org)
	got, err := s.p.Table.BatchGet(ctx, resKey, accKey, orgKey, liveKey, eventKey)
	if err != nil {
		return inventory.Resource{}, 0, fmt.Errorf("read resource %s: %w", s.ResourceUID, err)
	}
	item, ok := got[resKey]
	if !ok {
		return inventory.Resource{}, 0, ErrUnknownResource(s.ResourceUID)
	}
	res, err := table.Decode[inventory.Resource](item)
	if err != nil {
		return inventory.Resource{}, 0, err
	}
	acc, err := s.account(ctx, got[accKey], res)
	if err != nil {
		return inventory.Resource{}, 0, err
	}
	if err = agree(s.Request, res, acc); err != nil {
		return res, 0, err
	}
	if err = s.checkEvent(res, got[eventKey]); err != nil {
		return res, 0, err
	}
	if err = s.checkHeld(ctx, res, got[liveKey]); err != nil {
		return res, 0, err
	}
	keep, err := retentionOf(got[orgKey])
	return res, keep, err
}

// checkHeld refuses the action if a live override, in list as it was read, holds the resource in the other state.
func (s submission) checkHeld(ctx context.Context, res inventory.Resource, list table.Item) error {
	live, err := override.DecodeLive(list)
	if err != nil || s.Force {
		return err
	}
	holding, err := live.Holding(ctx, inventory.New(s.p), s.org, s.p.Clock.Now())
	if err != nil {
		return err
	}
	if why := holding.Against(s.Verb, res.ID); why != "" {
		return fault.New(fault.Conflict,
			"resource %s cannot be asked to %s: %s; end that first (DELETE /overrides/{overrideID})", res.UID, s.Verb,
			why)
	}
	return nil
}

// ErrUnknownResource returns the error for a resource that does not exist, or that the caller may not see.
func ErrUnknownResource(uid string) error {
	return fault.New(fault.NotFound, "resource %q is not in the inventory; discover its account first", uid)
}

// account decodes the account that was read by our id, or reads the resource's own if it was named by its native id.
// An account other than the resource's is treated as missing: a caller who may act on one resource learns nothing
// about other accounts.
func (s submission) account(ctx context.Context, item table.Item, res inventory.Resource) (inventory.Account, error) {
	unknown := fault.New(fault.NotFound, "cloud account %q is not connected, or resource %q is not in it",
		s.CloudAccountID, res.UID)
	if item.Data != nil && item.SK == res.CloudAccountID {
		return table.Decode[inventory.Account](item)
	}
	if id.IsValid("ca", s.CloudAccountID) {
		return inventory.Account{}, unknown
	}
	acc, err := table.Read[inventory.Account](ctx, s.p.Table, inventory.AccountKey(s.org, res.CloudAccountID))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return acc, fmt.Errorf("read account %s: %w", res.CloudAccountID, err)
	}
	if err != nil || acc.CloudAccountID != s.CloudAccountID {
		return acc, unknown
	}
	return acc, nil
}

// agree refuses a request that contradicts the inventory, naming the field.
func agree(r Request, res inventory.Resource, acc inventory.Account) error {
	mismatch := func(field, said, is string) error {
		return fault.New(fault.Invalid, "%s: %q is not that of resource %q, which is %q", field, said, res.UID, is)
	}
	switch {
	case r.Provider != res.Provider:
		return mismatch("provider", r.Provider, res.Provider)
	case r.ResourceType != res.Type:
		return mismatch("resourceType", r.ResourceType, res.Type)
	case r.Region != res.Region:
		return mismatch("region", r.Region, res.Region)
	case acc.ReadOnly():
		return fault.New(fault.Denied,
			"cloud account %s (%s) is read_only: its resources are never acted on; set permissionLevel to read_write "+
				"to allow it", acc.ID, acc.Name)
	case acc.Disconnection() != "":
		return errDisconnected(acc)
	}
	return nil
}

// errDisconnected returns the error for a resource of an account that is disconnected or excluded.
func errDisconnected(acc inventory.Account) error {
	return fault.New(fault.Conflict,
		"cloud account %s (%s) cannot be acted on: %s; connect it again, or discover it when its "+
			"credentials work again",
		acc.ID, acc.Name, acc.Disconnection())
}

// checkActionable refuses resources that can never be started or stopped.
func checkActionable(res inventory.Resource, verb cloud.Verb) error {
	if res.Unschedulable != "" {
		return fault.New(fault.Invalid, "resource %s cannot be asked to %s: %s", res.UID, verb, res.Unschedulable)
	}
	if k, known := cloud.KindOf(res.Type); known && !k.Actionable {
		return fault.New(fault.Invalid, "resource %s cannot be asked to %s: %s", res.UID, verb,
			Unactionable(res.Provider, res.Type))
	}
	if res.Status == cloud.Terminated {
		return fault.New(fault.Invalid, "resource %s is terminated: there is nothing to %s", res.UID, verb)
	}
	return nil
}
