package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// LeftOut is a resource that a bulk action does not act on, and why.
type LeftOut struct {
	inventory.Member
	Reason string
	Detail string // completes a Reason of one word; empty if Reason is a sentence
}

// ExpandGroup expands a group for a bulk action. A dynamic group contains the selected resources that can be started
// and stopped: an instance of an Auto Scaling group that the selector also finds is not a failure. A resource of a
// static group is always a member, and fails with the reason if it cannot be acted on.
func ExpandGroup(ctx context.Context, s *inventory.Store, org, groupID string) (inventory.Group, []inventory.Member,
	[]LeftOut, error,
) {
	g, err := s.ReadGroup(ctx, org, groupID)
	if err != nil {
		return g, nil, nil, fmt.Errorf("read group %s: %w", groupID, err)
	}
	members, err := s.ExpandGroup(ctx, org, groupID)
	if err != nil {
		return g, nil, nil, fmt.Errorf("read members of group %s: %w", groupID, err)
	}
	if g.Selector == nil {
		return g, members, nil, nil
	}
	members, left := sift(members, unactionable)
	return g, members, left, nil
}

// sift splits members into kept and left out. The function why returns the reason to leave a member out, or "" to keep
// it.
func sift(members []inventory.Member, why func(inventory.Member) string) (kept []inventory.Member, left []LeftOut) {
	kept = members[:0:0]
	for _, m := range members {
		if reason := why(m); reason != "" {
			left = append(left, LeftOut{Member: m, Reason: reason})
		} else {
			kept = append(kept, m)
		}
	}
	return kept, left
}

// Resources returns found resources as members of a bulk action without a group: all at tier 1 and order 1, without
// terminated resources.
func Resources(found []inventory.Listed) ([]inventory.Member, []LeftOut) {
	members := make([]inventory.Member, len(found))
	for i, r := range found {
		members[i] = inventory.Member{
			ResourceID: r.ID, UID: r.UID, Type: r.Type, Provider: r.Provider, Region: r.Region,
			CloudAccountID: r.CloudAccountID,
			Name:           r.Name, Tier: 1, Order: 1, Status: r.Status, Unschedulable: r.Unschedulable,
		}
	}
	return sift(members, func(m inventory.Member) string {
		if m.Status == cloud.Terminated {
			return "the resource is terminated"
		}
		return ""
	})
}

// Selected returns the resources found by a filter as members. As in a dynamic group, only resources that can be
// started and stopped are members.
func Selected(found []inventory.Listed) ([]inventory.Member, []LeftOut) {
	members, left := Resources(found)
	members, unable := sift(members, unactionable)
	return members, append(left, unable...)
}

// unactionable returns why a resource can never be started and stopped, or "".
func unactionable(m inventory.Member) string {
	if k, known := cloud.KindOf(m.Type); m.Unschedulable == "" && known && !k.Actionable {
		return Unactionable(m.Provider, m.Type)
	}
	return m.Unschedulable
}

// Within splits members into those in may, and those that the caller may not act on.
func Within(members []inventory.Member, may inventory.ResourceSet) ([]inventory.Member, []LeftOut) {
	return sift(members, func(m inventory.Member) string {
		if !may.HasUID(m.UID) {
			return "permission denied: actions:execute is needed on it"
		}
		return ""
	})
}

// Asked is a start or stop of resources that is about to be planned.
type Asked struct {
	Org     string
	Verb    cloud.Verb
	Members []inventory.Member
	At      time.Time
	Force   bool // neither overrides nor event readiness plans are against it
	Ordered bool // a schedule or an override asks for it, and not a person: other overrides were looked at already
	// Accounts leaves out members of disconnected accounts. A plan that is carried out later does not need it: each
	// chunk checks its account.
	Accounts bool
}

// FilterUnheld splits members into those that the verb can act on, and those that are held: by an active event
// readiness plan, by an override in the other state, or by an account that is disconnected. It takes one round trip,
// or two to three if there is an override on a group.
func FilterUnheld(ctx context.Context, t table.Store, s *inventory.Store, a Asked) ([]inventory.Member, []LeftOut,
	error,
) {
	var of []inventory.Member
	if a.Accounts {
		of = a.Members
	}
	now, err := ReadStanding(ctx, t, a.Org, of)
	if err != nil {
		return nil, nil, err
	}
	kept, left := sift(a.Members, func(m inventory.Member) string {
		return disconnection(m.CloudAccountID, now.Accounts)
	})
	if a.Force {
		return kept, left, nil
	}
	kept, events := LeaveOutEvents(a.Verb, kept, now.Events)
	left = append(left, events...)
	if a.Ordered || len(now.Overrides.Overrides) == 0 {
		return kept, left, nil
	}
	holding, err := now.Overrides.Holding(ctx, s, a.Org, a.At)
	if err != nil {
		return nil, nil, err
	}
	kept, held := sift(kept, func(m inventory.Member) string { return holding.Against(a.Verb, m.ResourceID) })
	return kept, append(left, held...), nil
}

// BulkTargets returns the resources that a bulk action acts on if it begins now: the members of its group, or its
// named resources, without those that the requester may not act on. It returns none if the group is gone.
func BulkTargets(ctx context.Context, t table.Store, s *inventory.Store, org string,
	b Bulk,
) ([]inventory.Member, error) {
	members, _, err := PartBulk(ctx, t, s, org, b)
	return members, err
}

// PartBulk returns the members of BulkTargets, and the resources that are left out: members of the group that cannot
// be acted on, and members that are held.
func PartBulk(ctx context.Context, t table.Store, s *inventory.Store, org string,
	b Bulk,
) ([]inventory.Member, []LeftOut, error) {
	members, left, err := members(ctx, t, s, org, b)
	if err != nil {
		return nil, nil, err
	}
	members, held, err := FilterUnheld(ctx, t, s,
		Asked{Org: org, Verb: b.Type, Members: members, At: b.CreatedAt, Force: b.Force, Ordered: b.Ordered()})
	left = append(left, held...)
	if err != nil || b.Plan == nil || b.Plan.Scopes == nil {
		return members, left, err
	}
	may, err := s.ResourceSets(ctx, org, *b.Plan.Scopes)
	if err != nil {
		return nil, nil, fmt.Errorf("read what %s may act on: %w", b.ID, err)
	}
	members, _ = Within(members, may[0])
	return members, left, nil
}

// members returns the resources of a bulk action, and the members of its group that cannot be acted on.
func members(ctx context.Context, t table.Store, s *inventory.Store, org string,
	b Bulk,
) ([]inventory.Member, []LeftOut, error) {
	if b.GroupID == "" {
		found, err := findNamed(ctx, t, s, org, b)
		return found, nil, err
	}
	_, members, left, err := ExpandGroup(ctx, s, org, b.GroupID)
	if fault.Is(err, fault.NotFound) {
		return nil, nil, nil
	}
	return members, left, err
}

// findNamed returns the resources that a bulk action without a group named, without those that are gone.
func findNamed(ctx context.Context, t table.Store, s *inventory.Store, org string, b Bulk) ([]inventory.Member, error) {
	n, err := table.Read[Named](ctx, t, NamedKey(org, b.ID))
	if err != nil {
		return nil, fmt.Errorf("read what %s acts on: %w", b.ID, err)
	}
	ids, places, err := n.placed()
	if err != nil {
		return nil, fmt.Errorf("read what %s acts on: %w", b.ID, err)
	}
	found, err := s.ByIDs(ctx, org, ids, inventory.SeeEverything())
	if err != nil {
		return nil, fmt.Errorf("read the %d resources of %s: %w", len(ids), b.ID, err)
	}
	members, _ := Resources(found)
	for i := range members {
		if p, ok := places[members[i].ResourceID]; ok {
			members[i].Tier, members[i].Order = p.Tier, p.Order
		}
	}
	return members, nil
}

// placed returns the ids of the named resources, and the places of those that have places of their own.
func (n Named) placed() (ids []string, places map[string]inventory.GroupPlacement, err error) {
	all, err := inventory.DecodePlacements(n.Places)
	ids, places = slices.Clone(n.ResourceIDs), make(map[string]inventory.GroupPlacement, len(all))
	for _, p := range all {
		ids = append(ids, p.ResourceID)
		places[p.ResourceID] = p
	}
	return ids, places, err
}
