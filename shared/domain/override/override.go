// Package override keeps overrides, which hold resources on or off against their schedules until a time: the record,
// and the list of live overrides, which is read before every action on a resource.
package override

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Partition holds the overrides of an organization, by their ids, and the list of those that are live.
const Partition table.Partition = "ORG#*#OVERRIDE"

// The limits of overrides.
const (
	MaxLive    = 500                 // per organization
	Longest    = 90 * 24 * time.Hour // maximum duration
	keptBeyond = 90 * 24 * time.Hour // how long one is kept that has ended
)

// Action is the effect of an override on its resources.
type Action string

// The actions.
const (
	ForceOn  Action = "force_on"
	ForceOff Action = "force_off"
)

// Verb returns the verb that puts a resource into the state of the override.
func (a Action) Verb() cloud.Verb {
	if a == ForceOn {
		return cloud.Start
	}
	return cloud.Stop
}

// Override holds one resource, or the current resources of a group, on or off until ExpiresAt.
type Override struct {
	ID          string    `json:"id"`
	ResourceID  string    `json:"resourceID,omitempty"`
	ResourceUID string    `json:"resourceUID,omitempty"`
	GroupID     string    `json:"groupID,omitempty"`
	Action      Action    `json:"action"`
	Reason      string    `json:"reason"`
	CreatedBy   string    `json:"createdBy"` // an address, or the id of a wake link
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	// the first that applied it; empty if there was nothing to do
	BulkActionID string `json:"bulkActionID,omitempty"`
	Force        bool   `json:"force,omitempty"` // active event readiness plans are not against it
	// the wake link that made it; then it ends in a stop unless another state is wanted
	WakeLinkID string    `json:"wakeLinkID,omitempty"`
	EndedAt    time.Time `json:"endedAt,omitzero"`
	EndedBy    string    `json:"endedBy,omitempty"` // an address; "" when its time was over
	RestoredBy []string  `json:"restoredBy,omitempty"`

	// Maker is the user who made the override, or made its wake link. The held resources are checked against the
	// maker's current rights (Reach). It is empty in rows written before there was a Maker: these hold their targets
	// until they end.
	Maker string `json:"maker,omitempty"`
	// Scopes are where the maker could act when the override began; nil is everywhere. Its end restores these
	// resources (Restorable).
	Scopes        *grant.Scopes `json:"scopes,omitempty"`
	BulkActionIDs []string      `json:"bulkActionIDs,omitempty"` // all that applied it, of a group too large for one
}

// Active reports whether the override holds its resources at the time at.
func (o Override) Active(at time.Time) bool { return o.EndedAt.IsZero() && at.Before(o.ExpiresAt) }

// PK returns the partition of an organization's overrides.
func PK(org string) string { return table.OrgPK(org) + "OVERRIDE" }

// Key returns where an override is stored.
func Key(org, overrideID string) table.Key { return table.Key{PK: PK(org), SK: overrideID} }

// First and Last enclose the sort keys of overrides, oldest first.
const (
	First = "ovr_"
	Last  = "ovr_~"
)

// NewItem returns the item of an override. It expires some time after its end.
func NewItem(org string, o Override) (table.Item, error) {
	it, err := table.NewItem(Key(org, o.ID), o)
	it.Expires = o.ExpiresAt.Add(keptBeyond)
	return it, err
}

// EndWrite returns the write that ends o, as it was read, at a time. It fails if o has ended.
func EndWrite(org string, o Override, at time.Time, by string) table.Write {
	return table.Update(Key(org, o.ID), []table.Change{
		table.Set("endedAt", at), table.Set("endedBy", by), table.Set("restoredBy", o.RestoredBy),
		table.Expire(at.Add(keptBeyond)),
	}, table.Exists(), table.Lacks("endedAt"))
}

// NewID returns the id of an override that begins at a time. A later override has a greater id.
func NewID(at time.Time) string { return id.New("ovr", at) }

// String describes an override for an error.
func (h Held) String() string {
	return fmt.Sprintf("override %s (%s until %s)", h.ID, h.Action, h.ExpiresAt.UTC().Format(time.RFC3339))
}
