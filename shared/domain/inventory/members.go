package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ReadAccount reads a connected account; fault.NotFound if there is none. An organization that has ended has no
// accounts, even if not all records are erased yet: the service does not act in its clouds any more.
func (s *Store) ReadAccount(ctx context.Context, org, accountID string) (Account, error) {
	key, access := AccountKey(org, accountID), identity.AccessKey(org)
	items, err := s.table.BatchGet(ctx, key, access)
	if err != nil {
		return Account{}, fmt.Errorf("read account %s: %w", accountID, err)
	}
	over, err := ended(items[access])
	if err != nil {
		return Account{}, err
	}
	if it, there := items[key]; there && !over {
		return table.Decode[Account](it)
	}
	return Account{}, fault.New(fault.NotFound, "cloud account %.64q does not exist", accountID)
}

// ended reports whether the organization of the Access item has ended.
func ended(it table.Item) (bool, error) {
	if it.Data == nil {
		return false, nil
	}
	a, err := table.Decode[identity.Access](it)
	return a.Ended, err
}

// ReadGroup reads the head of a group; fault.NotFound when there is none.
func (s *Store) ReadGroup(ctx context.Context, org, groupID string) (Group, error) {
	g, err := table.Read[Group](ctx, s.table, GroupKey(org, groupID))
	if fault.Is(err, fault.NotFound) {
		return g, fault.NewWithCause(fault.NotFound, err, "resource group %.64q does not exist", groupID)
	}
	if err != nil {
		return g, fmt.Errorf("read group %s: %w", groupID, err)
	}
	return g, nil
}

// ListGroups lists the groups of an organization, oldest first: one round trip.
func (s *Store) ListGroups(ctx context.Context, org string) ([]Group, error) {
	var items []table.Item
	q := table.Query{PK: index.PK(org), Prefix: groupPrefix, Limit: MaxGroups}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list groups of %s: %w", org, err)
		}
		items = append(items, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return table.DecodeAll[Group](items)
		}
	}
}

// ListPlacements lists the places of a static group's members, by tier, order and id. They include resources that were
// dropped from the inventory.
func (s *Store) ListPlacements(ctx context.Context, org, groupID string) ([]GroupPlacement, error) {
	places, _, err := s.places(ctx, org, groupID)
	if err != nil {
		return nil, err
	}
	out := make([]GroupPlacement, len(places))
	for i, p := range places {
		out[i] = GroupPlacement{formatID(p.id), p.tier, p.order}
	}
	slices.SortFunc(out, inSequence)
	return out, nil
}

func (s *Store) places(ctx context.Context, org, groupID string) ([]place, int64, error) {
	m, err := table.Read[memberItem](ctx, s.table, memberKey(org, groupID))
	if fault.Is(err, fault.NotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read members of %s: %w", groupID, err)
	}
	places, err := decodePlaces(m.Z)
	return places, m.Generation, err
}

// ExpandGroup expands a group: its resources in the order of their tiers, orders and ids, without terminated ones.
func (s *Store) ExpandGroup(ctx context.Context, org, groupID string) ([]Member, error) {
	v, err := s.openIndexWith(ctx, org, func(id string) bool { return id == groupID })
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v.groups, func(g Group) bool { return g.ID == groupID })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	}
	out := v.expand(&v.groups[i])
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Order, b.Order),
			cmp.Compare(a.ResourceID, b.ResourceID))
	})
	return out, nil
}

func (v *view) expand(g *Group) []Member {
	unlock := v.st.RLockByID()
	defer unlock()
	var out []Member
	add := func(r index.Row, tier, order int) {
		if m := member(r, tier, order); m.Status != cloud.Terminated {
			out = append(out, m)
		}
	}
	if g.Selector != nil {
		for r := range v.st.Rows() {
			if selects(v.st, g.Selector, r) {
				add(r, 1, 1)
			}
		}
		return out
	}
	if set := v.sets.members[g.ID]; set != nil && g.Size > 0 {
		for _, p := range set.places {
			if r, ok := v.st.RowByID(p.id); ok {
				add(r, p.tier, p.order)
			}
		}
	}
	return out
}

func member(r index.Row, tier, order int) Member {
	return Member{
		ResourceID: formatID(r.ID()), UID: r.UID(), Name: r.Name(), Type: r.Word(index.KindRef),
		Provider: r.Word(index.ProviderRef), Region: r.Word(index.RegionRef), CloudAccountID: r.Word(index.AccountRef),
		Tier: tier, Order: order, Status: cloud.Status(r.Word(index.StatusRef)), Unschedulable: r.Word(index.WhyRef),
	}
}

// groupNames returns the names of an organization's resource groups.
func groupNames(org string) table.UniqueNames {
	return table.UniqueNames{PK: index.PK(org), Prefix: namePrefix, Noun: "resource group", IDAttr: "groupID"}
}

// LimitedGroups returns the groups of an organization as a list of MaxGroups at most.
func LimitedGroups(org string) table.LimitedList {
	return table.LimitedList{PK: index.PK(org), Noun: "resource groups"}
}

// CreateGroup stores a new group, with the writes held that hold the accounts of its members. It returns
// fault.Conflict if another group has its name.
func (s *Store) CreateGroup(ctx context.Context, org string, g Group, places []GroupPlacement,
	held ...table.Write,
) (Group, error) {
	g.Generation = 1
	return s.writeGroup(ctx, org, Group{}, Grouping{g, places}, held)
}

// Grouping is a group with its static members. Nil Places leave the members unchanged.
type Grouping struct {
	Group
	Places []GroupPlacement
}

// UpdateGroup replaces old, as it was read, by next, with the writes held that hold the accounts of its new members.
// It returns fault.Conflict if the group has changed since it was read, or if another group has its new name.
func (s *Store) UpdateGroup(ctx context.Context, org string, old Group, next Grouping,
	held ...table.Write,
) (Group, error) {
	next.Generation = old.Generation + 1
	if next.Places == nil && next.Selector == nil && old.Size > 0 {
		kept, generation, err := s.places(ctx, org, old.ID)
		if err != nil {
			return next.Group, err
		}
		if generation > old.Generation {
			return next.Group, changed(old)
		}
		for _, p := range kept {
			next.Places = append(next.Places, GroupPlacement{formatID(p.id), p.tier, p.order})
		}
	}
	return s.writeGroup(ctx, org, old, next, held)
}

func changed(g Group) error {
	return fault.New(fault.Conflict, "resource group %s was changed by someone else meanwhile; read it and try again",
		g.ID)
}

// writeGroup writes head, members and name in one transaction, with the writes held (see HoldAccounts). For a new
// group, old is the zero Group.
func (s *Store) writeGroup(ctx context.Context, org string, old Group, next Grouping,
	held []table.Write,
) (Group, error) {
	g, cond := next.Group, table.Absent()
	if old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	g.Size = len(next.Places)
	head, err := table.PutFields(GroupKey(org, g.ID), g, cond)
	if err != nil {
		return g, err
	}
	members, err := memberWrite(org, g, next.Places)
	if err != nil {
		return g, err
	}
	names, err := groupNames(org).Rename(strings.TrimSpace(old.Name), strings.TrimSpace(g.Name), g.ID)
	if err != nil {
		return g, err
	}
	ws := append([]table.Write{head, members}, names...)
	err = s.table.Transact(ctx, append(ws, held...)...)
	return g, table.ExplainLost(err, "write group "+g.ID, func(lost *table.ConditionError) error {
		if gone := accountGone(lost, len(ws)); gone != nil {
			return gone
		}
		if taken := groupNames(org).Refusal(lost, strings.TrimSpace(g.Name)); taken != nil {
			return taken
		}
		return changed(g)
	})
}

func memberWrite(org string, g Group, places []GroupPlacement) (table.Write, error) {
	if len(places) == 0 {
		return table.Delete(memberKey(org, g.ID)), nil
	}
	set := make([]place, len(places))
	for i, p := range places {
		u, ok := parseID(p.ResourceID)
		if !ok {
			return table.Write{}, fault.New(fault.Invalid, "members: %.64q is not the id of a resource", p.ResourceID)
		}
		set[i] = place{u, p.Tier, p.Order}
	}
	it, err := table.NewItem(memberKey(org, g.ID), memberItem{g.Generation, encodePlaces(set)})
	return table.Put(it), err
}

// DeleteGroup removes a group as it was read, its members and its name, together with the extra writes. It returns
// fault.Conflict if the group has changed since.
func (s *Store) DeleteGroup(ctx context.Context, org string, g Group, extra ...table.Write) error {
	err := s.table.Transact(ctx, append([]table.Write{
		table.Delete(GroupKey(org, g.ID), table.Equal("generation", g.Generation)),
		table.Delete(memberKey(org, g.ID)), groupNames(org).Release(strings.TrimSpace(g.Name)),
	}, extra...)...)
	if fault.Is(err, fault.Conflict) {
		return changed(g)
	}
	if err != nil {
		return fmt.Errorf("delete group %s: %w", g.ID, err)
	}
	return nil
}

// ListAccounts lists the connected accounts of an organization, oldest first.
func (s *Store) ListAccounts(ctx context.Context, org string) ([]Account, error) {
	var items []table.Item
	q := table.Query{PK: AccountKey(org, "").PK, Limit: 1000}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list accounts of %s: %w", org, err)
		}
		items = append(items, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return table.DecodeAll[Account](items)
		}
	}
}
