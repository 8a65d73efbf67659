package override

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// WakeLinkPartition holds the wake links of an organization, by id.
const WakeLinkPartition table.Partition = "ORG#*#WAKELINK"

// WakeTokenPrefix begins the partitions of the tokens of wake links, WakeTokenPartition is all of them.
const (
	WakeTokenPrefix                    = "WAKE#"
	WakeTokenPartition table.Partition = WakeTokenPrefix + "*"
)

// reading is the policy for reading overrides and wake links.
const reading = "overrides:read"

// maxWakeLinks limits the read of an organization's wake links. An organization has at most 100.
const maxWakeLinks = 200

// WakeLinkPK returns the partition of the wake links of an organization.
func WakeLinkPK(org string) string { return table.OrgPK(org) + WakeLinkPartition.Name() }

// WakeLinkKey returns where a wake link is stored.
func WakeLinkKey(org, linkID string) table.Key { return table.Key{PK: WakeLinkPK(org), SK: linkID} }

// WakeTokenKey returns the key of the item that maps a token to its wake link, by the hash of the token.
func WakeTokenKey(hash string) table.Key { return table.Key{PK: WakeTokenPrefix + hash, SK: "L"} }

// NamedTarget is the part of a wake link that names its target.
type NamedTarget struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	GroupID    string    `json:"groupID"`
	ResourceID string    `json:"resourceID"`
	Hash       string    `json:"hash"`
	ExpiresAt  time.Time `json:"expiresAt"`
}

// Use returns the wake link as an entry of the error that refuses to delete its target.
func (t NamedTarget) Use() fault.Use {
	return fault.Use{Kind: "wake link", ID: t.ID, Name: t.Name, Policy: reading}
}

// ListWakeLinks lists the wake links of an organization that are valid at a time, oldest first. It takes one round
// trip.
func ListWakeLinks(ctx context.Context, s table.Store, org string, at time.Time) ([]NamedTarget, error) {
	all, _, err := table.ReadPage[NamedTarget](ctx, s,
		table.Query{PK: WakeLinkPK(org), From: "wake_", To: "wake_~", Limit: maxWakeLinks})
	if err != nil {
		return nil, fmt.Errorf("list wake links of %s: %w", org, err)
	}
	var out []NamedTarget
	for _, t := range all {
		if t.ExpiresAt.After(at) {
			out = append(out, t)
		}
	}
	return out, nil
}

// RemoveWakeLink returns the writes that revoke a wake link, for a transaction within WakeTokenPrefix.
func RemoveWakeLink(org string, t NamedTarget) []table.Write {
	return []table.Write{table.Delete(WakeLinkKey(org, t.ID)), table.Delete(WakeTokenKey(t.Hash))}
}

// Use returns the override as an entry of the error that refuses to delete its target.
func (h Held) Use() fault.Use {
	until := h.ExpiresAt.UTC().Format(time.RFC3339)
	return fault.Use{Kind: "override", ID: h.ID, Name: fmt.Sprintf("%s until %s", h.Action, until), Policy: reading}
}

// UsesOfGroup lists the overrides and the wake links on a group. Two round trips.
func UsesOfGroup(ctx context.Context, s table.Store, org, groupID string, at time.Time) ([]fault.Use, error) {
	live, err := ReadLive(ctx, s, org)
	if err != nil {
		return nil, err
	}
	var out []fault.Use
	for _, h := range live.Overrides {
		if h.GroupID == groupID {
			out = append(out, h.Use())
		}
	}
	links, err := ListWakeLinks(ctx, s, org, at)
	for _, l := range links {
		if l.GroupID == groupID {
			out = append(out, l.Use())
		}
	}
	return out, err
}

// InAccount returns the overrides of the list that hold resources of an account, directly or by a group. It takes no
// round trip without overrides, and two otherwise.
func (l Live) InAccount(ctx context.Context, s *inventory.Store, org, accountID string) ([]Held, error) {
	var groups, resources []string
	for _, h := range l.Overrides {
		if h.GroupID != "" {
			groups = append(groups, h.GroupID)
		} else {
			resources = append(resources, h.ResourceID)
		}
	}
	inside, err := resourcesIn(ctx, s, org, accountID, resources)
	if err != nil || len(l.Overrides) == 0 {
		return nil, err
	}
	members, err := s.ExpandGroups(ctx, org, groups...)
	if err != nil {
		return nil, err
	}
	inTheAccount := func(m inventory.Member) bool { return m.CloudAccountID == accountID }
	var out []Held
	for _, h := range l.Overrides {
		if inside[h.ResourceID] || slices.ContainsFunc(members[h.GroupID], inTheAccount) {
			out = append(out, h)
		}
	}
	return out, nil
}

// WakeLinksInAccount returns the wake links to resources of an account. Two round trips.
func WakeLinksInAccount(ctx context.Context, s *inventory.Store, org, accountID string,
	links []NamedTarget,
) ([]NamedTarget, error) {
	var ids []string
	for _, l := range links {
		if l.ResourceID != "" {
			ids = append(ids, l.ResourceID)
		}
	}
	inside, err := resourcesIn(ctx, s, org, accountID, ids)
	var out []NamedTarget
	for _, l := range links {
		if inside[l.ResourceID] {
			out = append(out, l)
		}
	}
	return out, err
}

// resourcesIn maps the ID of each resource found to whether the resource is in an account.
func resourcesIn(ctx context.Context, s *inventory.Store, org, accountID string,
	ids []string,
) (map[string]bool, error) {
	out := map[string]bool{}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := s.ByIDs(ctx, org, ids, inventory.SeeEverything())
	for i := range found {
		out[found[i].ID] = found[i].CloudAccountID == accountID
	}
	return out, err
}
