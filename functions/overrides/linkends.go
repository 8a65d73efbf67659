package overrides

import (
	"context"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// endsOf returns why links start nothing any more, by their IDs; links that work are missing. Their pages are 404 for
// the same reasons. One round trip for a hundred makers, those of override.Reach for the links of makers with narrow
// grants, and two for each maker that links name by an address alone.
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

// narrowLinks are links of an organization whose makers hold narrow grants, with the makers by the IDs of the links.
type narrowLinks struct {
	org    string
	links  []link
	makers map[string]string
}

// addOutOfReach adds to ends the links of which every resource lies outside the grants of its maker.
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

// makersOf returns the users who made links, by the IDs of the links; membership.Nobody of a link whose maker has left
// and is named by an address alone.
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
				found = membership.Nobody
			case err != nil:
				return nil, err
			}
			user, byAddress[l.CreatedBy] = found, found
		}
		out[l.ID] = user
	}
	return out, nil
}
