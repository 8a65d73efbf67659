package execution

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// LeftOutEvent is the reason of a resource that is left out because an active event readiness plan holds it.
const LeftOutEvent = "event"

// Standing is the state beside the resources that decides whether they may be acted on now.
type Standing struct {
	Accounts  map[string]inventory.Account // by our ids; accounts that are gone are missing
	Overrides override.Live
	Events    scheduling.EventHolds
}

// ReadStanding reads the overrides and event holds of an organisation and the accounts of members: one round trip for
// every hundred accounts.
func ReadStanding(ctx context.Context, s table.Store, org string, members []inventory.Member) (Standing, error) {
	keys := []table.Key{override.LiveKey(org), scheduling.EventHoldKey(org)}
	items, err := s.BatchGet(ctx, append(keys, accountKeys(org, members)...)...)
	if err != nil {
		return Standing{}, fmt.Errorf("read overrides, event holds and accounts of %s: %w", org, err)
	}
	out := Standing{}
	if out.Overrides, err = override.DecodeLive(items[keys[0]]); err != nil {
		return out, err
	}
	if out.Events, err = scheduling.DecodeEventHolds(items[keys[1]]); err != nil {
		return out, err
	}
	delete(items, keys[0])
	delete(items, keys[1])
	out.Accounts, err = decodeAccounts(items)
	return out, err
}

// disconnection returns why the resources of an account cannot be acted on because it is disconnected or excluded; ""
// when it is connected.
func disconnection(accountID string, accounts map[string]inventory.Account) string {
	a, there := accounts[accountID]
	if !there {
		return ""
	}
	return a.Disconnection()
}

// ErrHeldByEvent returns the error for a request that an event readiness plan prevents. It names the plan.
func ErrHeldByEvent(verb cloud.Verb, uid string, h scheduling.EventHold) error {
	return fault.New(fault.Conflict,
		"resource %s cannot be asked to %s: %s holds it; wait for its end, cancel the plan, or send force", uid, verb,
		h)
}

// checkEvent refuses a stop of a target of an active event readiness plan, according to the list of holds as it was
// read.
func (s submission) checkEvent(res inventory.Resource, list table.Item) error {
	held, err := scheduling.DecodeEventHolds(list)
	if err != nil || s.Force || s.Verb != cloud.Stop {
		return err
	}
	if h, there := held.Of(res.UID); there {
		return ErrHeldByEvent(s.Verb, res.UID, h)
	}
	return nil
}

// LeaveOutEvents splits members into those that verb may act on, and those that an active event readiness plan holds.
func LeaveOutEvents(
	verb cloud.Verb, members []inventory.Member, held scheduling.EventHolds,
) ([]inventory.Member, []LeftOut) {
	kept, left := sift(members, func(m inventory.Member) string { return held.Against(verb, m.UID) })
	for i := range left {
		left[i].Reason, left[i].Detail = LeftOutEvent, left[i].Reason
	}
	return kept, left
}
