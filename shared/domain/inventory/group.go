package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// The limits of resource groups. They keep the group heads of an organization within one page of the index partition.
const (
	MaxGroups  = 500
	MaxMembers = 10_000
)

// The policies of a bulk action for a resource of a group that fails.
const (
	ContinueOnFailure = "continue"
	AbortOnFailure    = "abort"
)

// Group is a resource group: static, with members, or dynamic, when Selector is set. Generation counts its changes;
// Size is the number of static members.
type Group struct {
	ID               string    `json:"id"`
	Name             string    `json:"name"`
	Description      string    `json:"description,omitempty"`
	Selector         *Selector `json:"selector,omitempty"`
	StepDelaySeconds int       `json:"stepDelaySeconds"`
	FailurePolicy    string    `json:"failurePolicy"`
	Generation       int64     `json:"generation"`
	Size             int       `json:"size"`
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt"`
	// when its members or its selector were changed last; zero if an earlier version changed them
	MembersChangedAt time.Time `json:"membersChangedAt,omitzero"`
}

// DefinedAt returns when the members or the selector of the group were changed last, or a later change of the group.
func (g *Group) DefinedAt() time.Time {
	if g.MembersChangedAt.IsZero() {
		return g.UpdatedAt
	}
	return g.MembersChangedAt
}

// Selector selects the resources of a dynamic group: those that match all fields that are set.
type Selector struct {
	Provider string            `json:"provider,omitempty"`
	Type     string            `json:"type,omitempty"`
	Region   string            `json:"region,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
}

// Empty reports whether the selector has no conditions.
func (s Selector) Empty() bool {
	return s.Provider == "" && s.Type == "" && s.Region == "" && len(s.Tags) == 0
}

// GroupPlacement is the place of a resource in a static group. Tiers run one after another, and so do the orders
// within a tier.
type GroupPlacement struct {
	ResourceID string
	Tier       int
	Order      int
}

// Member is a resource of a group for a bulk action. All members of a dynamic group are at tier 1, order 1.
type Member struct {
	ResourceID     string
	UID            string
	Type           string
	Provider       string
	Region         string
	CloudAccountID string
	Name           string
	Tier           int
	Order          int
	Status         cloud.Status
	Unschedulable  string // why it cannot be started and stopped; empty when it can
}

// GroupKey returns where the head of a group is stored.
func GroupKey(org, groupID string) table.Key {
	return index.Key(org, setPrefix+groupID)
}
