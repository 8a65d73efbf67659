package resourcegroups

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// maxNamed is how many unknown members an error names.
const maxNamed = 10

// placementsOf returns the inventory's view of members, and the writes that hold their accounts. The error names
// unknown and repeated members. The result is never nil.
func (s *service) placementsOf(ctx context.Context, members []Member) ([]inventory.GroupPlacement, []table.Write,
	error,
) {
	out, ids := make([]inventory.GroupPlacement, len(members)), make([]string, len(members))
	seen := make(map[string]bool, len(members))
	for i, m := range members {
		if seen[m.ResourceID] {
			return nil, nil,
				fault.New(fault.Invalid, "members: resource %.64q is named twice; name each once", m.ResourceID)
		}
		seen[m.ResourceID] = true
		ids[i] = m.ResourceID
		out[i] = inventory.GroupPlacement{ResourceID: m.ResourceID, Tier: max(m.Tier, 1), Order: max(m.Order, 1)}
	}
	if len(ids) == 0 {
		return out, nil, nil
	}
	unknown, accounts, err := s.inventory.Locate(ctx, identity.CallerOrg(ctx), ids)
	if err != nil {
		return nil, nil, err
	}
	if len(unknown) > 0 {
		more := ""
		if len(unknown) > maxNamed {
			more = " and others"
		}
		return nil, nil, fault.New(fault.Invalid, "members: no resource has the id %s%s", quoteIDs(unknown), more)
	}
	held, err := inventory.HoldAccounts(identity.CallerOrg(ctx), accounts)
	return out, held, err
}

func quoteIDs(ids []string) string {
	out := make([]string, min(len(ids), maxNamed))
	for i := range out {
		out[i] = `"` + ids[i] + `"`
	}
	return strings.Join(out, ", ")
}

// MemberInput names a group and a resource.
type MemberInput struct {
	GroupInput
	ResourceID string `path:"resourceID" maxLength:"64"`
}

// Position is the position of a resource in a group.
type Position struct {
	Tier  int `json:"tier,omitempty" minimum:"1" maximum:"10000" doc:"1 when absent"`
	Order int `json:"order,omitempty" minimum:"1" maximum:"10000" doc:"The last of its tier when absent"`
}

type addInput struct {
	MemberInput
	Body *Position
}

func (s *service) addMember(ctx context.Context, in *addInput) (Group, error) {
	unknown, accounts, err := s.inventory.Locate(ctx, identity.CallerOrg(ctx), []string{in.ResourceID})
	if err != nil {
		return Group{}, err
	}
	held, err := inventory.HoldAccounts(identity.CallerOrg(ctx), accounts)
	if err != nil {
		return Group{}, err
	}
	if len(unknown) > 0 {
		return Group{}, fault.New(fault.NotFound, "resource %.64q does not exist", in.ResourceID)
	}
	at := inventory.GroupPlacement{ResourceID: in.ResourceID, Tier: 1}
	if in.Body != nil {
		at.Tier, at.Order = max(in.Body.Tier, 1), in.Body.Order
	}
	return s.changeMembers(ctx, in.GroupID,
		func(places []inventory.GroupPlacement) ([]inventory.GroupPlacement, error) {
			places = slices.DeleteFunc(places, func(p inventory.GroupPlacement) bool {
				return p.ResourceID == at.ResourceID
			})
			if len(places) == inventory.MaxMembers {
				return nil, fault.New(fault.Invalid, "the group has %d members, which is the most", len(places))
			}
			put := at
			if put.Order == 0 {
				put.Order = lastOrder(places, put.Tier) + 1
			}
			return append(places, put), nil
		}, held...)
}

// lastOrder returns the highest order of a tier.
func lastOrder(places []inventory.GroupPlacement, tier int) int {
	n := 0
	for _, p := range places {
		if p.Tier == tier {
			n = max(n, p.Order)
		}
	}
	return n
}

func (s *service) removeMember(ctx context.Context, in *MemberInput) (rest.Deleted, error) {
	_, err := s.changeMembers(ctx, in.GroupID,
		func(places []inventory.GroupPlacement) ([]inventory.GroupPlacement, error) {
			n := len(places)
			places = slices.DeleteFunc(places, func(p inventory.GroupPlacement) bool {
				return p.ResourceID == in.ResourceID
			})
			if len(places) == n {
				return nil, fault.New(fault.NotFound, "resource %.64q is not a member of the group", in.ResourceID)
			}
			return places, nil
		})
	return rest.Deleted{ID: in.ResourceID}, err
}

// Sequence is the body of PATCH /resource-groups/{groupID}/sequence.
type Sequence struct {
	Members []Member `json:"members" minItems:"1" maxItems:"10000"`
}

type sequenceInput struct {
	GroupInput
	Body Sequence
}

func (s *service) sequenceMembers(ctx context.Context, in *sequenceInput) (Group, error) {
	return s.changeMembers(ctx, in.GroupID,
		func(places []inventory.GroupPlacement) ([]inventory.GroupPlacement, error) {
			where := make(map[string]int, len(places))
			for i, p := range places {
				where[p.ResourceID] = i
			}
			for _, m := range in.Body.Members {
				i, ok := where[m.ResourceID]
				if !ok {
					return nil,
						fault.New(fault.Invalid, "members: resource %.64q is not a member of the group; add it first",
							m.ResourceID)
				}
				places[i].Tier, places[i].Order = max(m.Tier, 1), max(m.Order, 1)
			}
			return places, nil
		})
}

// maxChangeTries is how often a change of the members is retried because another request changed the group.
const maxChangeTries = 8

// changeMembers changes the members of a static group, and holds the accounts of new members.
func (s *service) changeMembers(ctx context.Context, groupID string, how changing, held ...table.Write) (Group, error) {
	for try := 1; ; try++ {
		g, err := s.changeOnce(ctx, groupID, how, held)
		if !fault.Is(err, fault.Conflict) || try == maxChangeTries {
			return g, err
		}
	}
}

// changing returns the new places of a group for its present ones.
type changing func([]inventory.GroupPlacement) ([]inventory.GroupPlacement, error)

func (s *service) changeOnce(ctx context.Context, groupID string, how changing, held []table.Write) (Group, error) {
	old, err := s.readGroup(ctx, groupID)
	if err != nil {
		return Group{}, err
	}
	if old.Selector != nil {
		return Group{}, fault.New(fault.Invalid, "resource group %s is dynamic: its selector decides which resources "+
			"belong to "+
			"it; change that", old.ID)
	}
	places, err := s.inventory.ListPlacements(ctx, identity.CallerOrg(ctx), old.ID)
	if err != nil {
		return Group{}, err
	}
	was, before := newBriefGroup(old), slices.Clone(places)
	was.Members = newMembers(places)
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: was})
	if places, err = how(places); err != nil {
		return Group{}, err
	}
	err = s.checkJoining(ctx, old, func() ([]inventory.Member, error) { return s.newcomers(ctx, before, places) })
	if err != nil {
		return Group{}, err
	}
	g := old
	g.UpdatedAt = s.p.Clock.Now()
	g.MembersChangedAt = g.UpdatedAt
	if places == nil {
		places = []inventory.GroupPlacement{}
	}
	if held, err = s.andRebuild(ctx, slices.Clip(held), true); err != nil {
		return Group{}, err
	}
	if g, err = s.inventory.UpdateGroup(table.Within(ctx, workqueue.Prefix), identity.CallerOrg(ctx), old,
		inventory.Grouping{Group: g, Places: places}, held...); err != nil {
		return Group{}, err
	}
	out, err := s.groupWithMembers(ctx, g)
	audit.NoteChange(ctx, audit.Change{After: out})
	return out, err
}
