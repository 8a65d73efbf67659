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
	Detail string // what a Reason of one word is about; empty where Reason is a sentence
}

// ExpandGroup expands a group for a bulk action. A dynamic group stands for what of its selection can be started and stopped:
// that an instance belongs to an Auto Scaling group is no failure of a selector that also finds it. What somebody put
// into a static group by hand is a member in any case, and fails with the reason when it cannot be acted on.
func ExpandGroup(ctx context.Context, s *inventory.Store, org, groupID string) (inventory.Group, []inventory.Member,
	[]LeftOut, error) {
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

// sift parts members from those that are left out, for the reason that why gives; "" keeps one.
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

// Resources are resources as a bulk action without a group acts on them: all at once, at tier 1 and order 1. What is
// terminated is left out.
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

// Selected are resources that a filter found. Like a dynamic group it stands for what of them can be started and stopped.
func Selected(found []inventory.Listed) ([]inventory.Member, []LeftOut) {
	members, left := Resources(found)
	members, unable := sift(members, unactionable)
	return members, append(left, unable...)
}

// unactionable is why a resource can never be started and stopped; "" when it can.
func unactionable(m inventory.Member) string {
	if k, known := cloud.KindOf(m.Type); m.Unschedulable == "" && known && !k.Actionable {
		return Unactionable(m.Provider, m.Type)
	}
	return m.Unschedulable
}

// Within parts members that lie in may from those that whoever asks may not act on.
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
	// Accounts has members of disconnected accounts be left out. A plan that is carried out later need not ask: each chunk looks at its account.
	Accounts bool
}

// Unheld parts members of which the verb can be asked from those that an active event readiness plan holds, that an override holds in the
// other state, or whose account is disconnected: one round trip, two or three where an override is on a group.
func Unheld(ctx context.Context, t table.Store, s *inventory.Store, a Asked) ([]inventory.Member, []LeftOut, error) { //nolint:revive // two stores
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

// BulkTargets returns the resources that a bulk action acts on when it begins now: the members of its group, or what it named,
// without those that whoever asked for it may not act on. They are none when the group is gone.
func BulkTargets(ctx context.Context, t table.Store, s *inventory.Store, org string, b Bulk) ([]inventory.Member, error) { //nolint:revive // two stores
	members, _, err := PartBulk(ctx, t, s, org, b)
	return members, err
}

// PartBulk returns what BulkTargets does, and the resources that are left out: those of its group that cannot be acted on, and those that are
// held against it.
func PartBulk(ctx context.Context, t table.Store, s *inventory.Store, org string, b Bulk) ([]inventory.Member, []LeftOut, error) { //nolint:revive // two stores
	members, left, err := members(ctx, t, s, org, b)
	if err != nil {
		return nil, nil, err
	}
	members, held, err := Unheld(ctx, t, s,
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

func members(ctx context.Context, t table.Store, s *inventory.Store, org string, b Bulk) ([]inventory.Member, []LeftOut, error) { //nolint:revive // see Targets
	if b.GroupID == "" {
		found, err := named(ctx, t, s, org, b)
		return found, nil, err
	}
	_, members, left, err := ExpandGroup(ctx, s, org, b.GroupID)
	if fault.Is(err, fault.NotFound) {
		return nil, nil, nil
	}
	return members, left, err
}

// named returns the resources that a bulk action without a group named, as far as they are still there.
func named(ctx context.Context, t table.Store, s *inventory.Store, org string, b Bulk) ([]inventory.Member, error) { //nolint:revive // see Targets
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

// placed returns the ids of what is named, and where those stand that do not all stand at one place.
func (n Named) placed() (ids []string, places map[string]inventory.GroupPlacement, err error) {
	all, err := inventory.DecodePlacements(n.Places)
	ids, places = slices.Clone(n.ResourceIDs), make(map[string]inventory.GroupPlacement, len(all))
	for _, p := range all {
		ids = append(ids, p.ResourceID)
		places[p.ResourceID] = p
	}
	return ids, places, err
}
