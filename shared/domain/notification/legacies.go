package notification

import (
	"context"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ListLegacy lists the configurations of an organization, oldest first, at most MaxLegacy. It takes one round trip.
func (s *Store) ListLegacy(ctx context.Context, org string) ([]Legacy, error) {
	out, err := listAll[Legacy](ctx, s.table, legacyKey(org, "").PK, "ntf_")
	return out, fault.Wrap("list legacy notifications of "+org, err)
}

// ReadLegacy reads a configuration. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store) ReadLegacy(ctx context.Context, org, id string) (Legacy, error) {
	l, err := table.Read[Legacy](ctx, s.table, legacyKey(org, id))
	if fault.Is(err, fault.NotFound) {
		return l, MissingLegacy(id)
	}
	return l, fault.Wrap("read legacy notification "+id, err)
}

// MissingLegacy returns the error for a configuration that does not exist.
func MissingLegacy(id string) error {
	return fault.New(fault.NotFound, "notification configuration %.64q does not exist", id)
}

// PointLegacy sets the address of a configuration: a chat or a mailbox, by its type. It checks and seals the address.
func (s *Store) PointLegacy(ctx context.Context, org string, l *Legacy, address string) error {
	at := Address{WebhookURL: address}
	if l.Channel == Email {
		at = Address{Email: address}
	}
	at, err := s.rules.Check(l.Channel, at)
	if err != nil {
		return fieldOfLegacy(err)
	}
	if l.Sealed, l.Masked, err = s.seal(ctx, org, l.ID, at.WebhookURL+at.Email); l.Channel == Email {
		l.Masked = at.Email
	}
	return err
}

// LegacyAddress returns the unsealed address of a configuration.
func (s *Store) LegacyAddress(ctx context.Context, org string, l *Legacy) (string, error) {
	return s.open(ctx, org, l.ID, l.Sealed)
}

// WriteLegacy replaces old, as it was read, by next. A zero old means that next is new. It returns fault.Conflict
// when the configuration has changed since, and fault.Invalid when there are MaxLegacy already.
func (s *Store) WriteLegacy(ctx context.Context, org string, old, next Legacy) (Legacy, error) {
	cond := table.Absent()
	if next.Generation = old.Generation + 1; old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	put, err := table.PutFields(legacyKey(org, next.ID), next, cond)
	if err != nil {
		return next, err
	}
	changed := fault.New(fault.Conflict,
		"notification configuration %s was changed by someone else meanwhile; read it and try again", next.ID)
	steps := append([]step{{put, changed}}, legacyLists(org, &old, &next)...)
	if old.ID == "" {
		steps = append(steps, counted(org, "configurations", 1, MaxLegacy))
	}
	return next, s.transact(ctx, "write legacy notification "+next.ID, steps...)
}

// DeleteLegacy deletes a configuration, as it was read. It returns fault.Conflict when it has changed since.
func (s *Store) DeleteLegacy(ctx context.Context, org string, l Legacy) error {
	changed := fault.New(fault.Conflict,
		"notification configuration %s was changed by someone else meanwhile; read it and try again", l.ID)
	steps := append([]step{
		{table.Delete(legacyKey(org, l.ID), table.Equal("generation", l.Generation)), changed},
		counted(org, "configurations", -1, MaxLegacy),
	}, legacyLists(org, &l, &Legacy{ID: l.ID})...)
	return s.transact(ctx, "delete legacy notification "+l.ID, steps...)
}

// legacyLists returns the steps that add a configuration to the organization-wide lists of receivers that its flags
// select, and remove it from the others.
func legacyLists(org string, before, after *Legacy) []step {
	var out []step
	for _, key := range slices.Sorted(maps.Keys(after.events())) {
		was, is := before.listed(key), after.listed(key)
		change := table.Remove(after.ID)
		if is != "" {
			change = table.Set(after.ID, is)
		}
		if was != is {
			out = append(out,
				step{
					table.Update(recipientsKey(org, key, event.Scope{Type: event.ScopeOrg}), []table.Change{change}),
					nil,
				})
		}
	}
	return out
}

// fieldOfLegacy renames the field in an error to its name in the deprecated operations.
func fieldOfLegacy(err error) error {
	return fault.NewWithCause(fault.Invalid, err, "webhookURL: %s",
		strings.TrimPrefix(strings.TrimPrefix(fault.Message(err), "config.webhookURL: "), "config.email: "))
}
