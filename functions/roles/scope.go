package roles

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// checkScope refuses an invalid scope, and a scope whose team or resource does not exist in the organization. A scope
// of another organization is answered like one that does not exist.
func (s *service) checkScope(ctx context.Context, scope string) error {
	kind, ref := grant.CutScope(scope)
	switch {
	case scope == grant.OrgScope:
		return nil
	case kind == "team" && id.IsValid("team", ref):
		_, err := s.teams.Get(ctx, identity.CallerOrg(ctx), ref)
		if fault.Is(err, fault.NotFound) {
			return fault.New(fault.Invalid, "scope: team %q does not exist", ref)
		}
		return err
	case kind == "resource" && id.IsValid("res", ref):
		unknown, err := s.inventory.FilterUnknown(ctx, identity.CallerOrg(ctx), []string{ref})
		if err == nil && len(unknown) > 0 {
			return fault.New(fault.Invalid, "scope: resource %q does not exist", ref)
		}
		return err
	}
	return fault.New(fault.Invalid, "scope: %.128q is not org, team:<id> or resource:<id>", scope)
}

// teamHoldWrites returns the writes that keep the team of a scope from being deleted while a role is given on it.
func teamHoldWrites(org, scope string) []table.Write {
	if kind, ref := grant.CutScope(scope); kind == "team" {
		return []table.Write{teams.Hold(org, ref)}
	}
	return nil
}
