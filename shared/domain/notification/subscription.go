package notification

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/fault"
)

// Subscription sends the events of a type and a scope to a channel. At most one exists for each combination of the
// three.
type Subscription struct {
	ID        string `json:"id"`
	ChannelID string `json:"channelID"`
	EventType string `json:"eventType"`
	ScopeType string `json:"scopeType"`
	ScopeID   string `json:"scopeID"` // empty for org; for a resource its native ID
	Enabled   bool   `json:"enabled"`
	receiver.Made
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // incremented by each change; each change requires the old value
}

// place is the unique key of a subscription.
type place struct {
	channel, eventType string
	scope              event.Scope
}

func (s *Subscription) place() place { return place{s.ChannelID, s.EventType, s.Scope()} }

// Scope returns the scope of the subscription.
func (s *Subscription) Scope() event.Scope { return event.Scope{Type: s.ScopeType, ID: s.ScopeID} }

// Check validates the fields of the subscription without the store. The error is fault.Invalid and names the field.
func (s *Subscription) Check() error {
	if _, known := event.TypeOf(s.EventType); !known {
		return fault.New(fault.Invalid, "eventType: %.64q is none; GET /notifications/event-types lists them",
			s.EventType)
	}
	scopes := []string{event.ScopeOrg, event.ScopeAccount, event.ScopeGroup, event.ScopeResource, event.ScopeTeam}
	switch {
	case !slices.Contains(scopes, s.ScopeType):
		return fault.New(fault.Invalid, "scopeType: %.64q is none of %s", s.ScopeType, strings.Join(scopes, ", "))
	case s.ScopeType == event.ScopeOrg && s.ScopeID != "":
		return fault.New(fault.Invalid, "scopeID: %.64q: the organization has none; leave it empty", s.ScopeID)
	case s.ScopeType != event.ScopeOrg && s.ScopeID == "":
		return fault.New(fault.Invalid, "scopeID: it is empty; send which %s the subscription is for", s.ScopeType)
	}
	return nil
}

// SeenIn reports whether a caller with scopes, which contain resources, may see the subscription. A caller with all
// scopes sees all subscriptions, other callers those of their own teams and resources.
func (s *Subscription) SeenIn(scopes grant.Scopes, resources inventory.ResourceSet) bool {
	return scopes.All || s.ScopeType == event.ScopeTeam && slices.Contains(scopes.Teams, s.ScopeID) ||
		s.ScopeType == event.ScopeResource && resources.HasUID(s.ScopeID)
}
