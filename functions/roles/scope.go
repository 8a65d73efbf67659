package roles

import (
	"context"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// checkScope refuses an invalid scope, and a scope whose team or resource does not exist in the organization. The error
// names the wrong part. A scope of another organization is answered like one that does not exist.
func (s *service) checkScope(ctx context.Context, scope string) error {
	kind, ref, found := strings.Cut(scope, ":")
	switch {
	case scope == grant.OrgScope:
		return nil
	case kind == grant.OrgScope && found:
		return fault.New(fault.Invalid, "scope: %.128q: org takes no id; send org alone, for the whole organization",
			scope)
	case kind == "team":
		return s.checkTeamScope(ctx, ref)
	case kind == "resource":
		return s.checkResourceScope(ctx, ref)
	}
	return fault.New(fault.Invalid, "scope: %.64q is not a kind of scope; send org, team:<id> or resource:<id>", kind)
}

func (s *service) checkTeamScope(ctx context.Context, teamID string) error {
	if !id.IsValid("team", teamID) {
		return fault.New(fault.Invalid,
			"scope: %.128q is not the id of a team; send team:team_…, with an id of GET /teams",
			teamID)
	}
	_, err := s.teams.Get(ctx, identity.CallerOrg(ctx), teamID)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "scope: team %q does not exist; GET /teams lists the teams", teamID)
	}
	return err
}

func (s *service) checkResourceScope(ctx context.Context, resourceID string) error {
	if !id.IsValid("res", resourceID) {
		return fault.New(fault.Invalid,
			"scope: %.128q is not our id of a resource; send resource:res_…, with the field id "+
				"of GET /resources, not uid", resourceID)
	}
	unknown, err := s.inventory.FilterUnknown(ctx, identity.CallerOrg(ctx), []string{resourceID})
	if err == nil && len(unknown) > 0 {
		return fault.New(fault.Invalid, "scope: resource %q does not exist; GET /resources lists the resources",
			resourceID)
	}
	return err
}

// teamHoldWrites returns the writes that keep the team of a scope from being deleted while a role is given on it.
func teamHoldWrites(org, scope string) []table.Write {
	if kind, ref := grant.CutScope(scope); kind == "team" {
		return []table.Write{teams.Hold(org, ref)}
	}
	return nil
}
