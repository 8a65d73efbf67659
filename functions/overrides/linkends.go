package overrides

import (
	"context"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// endsOf returns why links no longer start anything, by link ID. Working links have no entry. The pages of ended
// links are 404 for the same reasons. It takes one round trip for a hundred creators, those of override.Reach for the
// links of creators with narrow grants, and two for each creator known only by mail address.
func (s *service) endsOf(ctx context.Context, org string, links []link) (map[string]string, error) {
	makers, err := s.makersOf(ctx, org, links)
	if err != nil {
		return nil, err
	}
	users := make([]string, 0, len(makers))
	for _, user := range makers {
		users = append(users, user)
	}
	callers, err := membership.ReadCallers(ctx, s.p.Table, org, users...)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	var narrow []link
	for _, l := range links {
		_, member := callers[makers[l.ID]]
		switch scopes := callers.Scopes(makers[l.ID], writing); {
		case !member:
			out[l.ID] = "its maker, " + l.CreatedBy + ", is no active member of the organization any more"
		case scopes.None():
			out[l.ID] = "its maker, " + l.CreatedBy + ", does not hold " + writing + " any more"
		case !scopes.All:
			narrow = append(narrow, l)
		}
	}
	return out, s.addOutOfReach(ctx, narrowLinks{org, narrow, makers}, out)
}

// narrowLinks are links whose creators hold narrow grants. makers maps link IDs to creators.
type narrowLinks struct {
	org    string
	links  []link
	makers map[string]string
}

// addOutOfReach adds the links whose resources all lie outside the grants of their creators to ends.
func (s *service) addOutOfReach(ctx context.Context, n narrowLinks, ends map[string]string) error {
	const whole = "/all"
	var held []override.Held
	for _, l := range n.links {
		h := override.Held{ID: l.ID, ResourceID: l.ResourceID, GroupID: l.GroupID, Maker: n.makers[l.ID]}
		all := h
		all.ID, all.Maker = l.ID+whole, ""
		held = append(held, h, all)
	}
	if len(held) == 0 {
		return nil
	}
	reach, err := override.Reach(ctx, s.inventory, n.org, held)
	if err != nil {
		return err
	}
	for _, l := range n.links {
		if len(reach[l.ID]) == 0 && len(reach[l.ID+whole]) > 0 {
			ends[l.ID] = "its maker, " + l.CreatedBy + ", does not hold " + writing +
				" on any of its resources any more"
		}
	}
	return nil
}

// makersOf returns the creators of links, by link ID. The entry is membership.NoMember for a link whose creator has
// left and is known only by mail address.
func (s *service) makersOf(ctx context.Context, org string, links []link) (map[string]string, error) {
	out, byAddress := map[string]string{}, map[string]string{}
	for _, l := range links {
		user, known := byAddress[l.CreatedBy]
		if l.Maker != "" {
			user, known = l.Maker, true
		}
		if !known {
			found, err := s.makerOf(ctx, org, l)
			switch {
			case fault.Is(err, fault.NotFound):
				found = membership.NoMember
			case err != nil:
				return nil, err
			}
			user, byAddress[l.CreatedBy] = found, found
		}
		out[l.ID] = user
	}
	return out, nil
}
