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

// Subscription has events of a type, of a scope, sent to a channel. There is one for each combination of the three.
type Subscription struct {
	ID        string `json:"id"`
	ChannelID string `json:"channelID"`
	EventType string `json:"eventType"`
	ScopeType string `json:"scopeType"`
	ScopeID   string `json:"scopeID"` // empty for org, the native id of a resource
	Enabled   bool   `json:"enabled"`
	receiver.Made
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // counts the changes, which each is conditioned on
}

// place is what there is one subscription of.
type place struct {
	channel, eventType string
	scope              event.Scope
}

func (s *Subscription) place() place { return place{s.ChannelID, s.EventType, s.Scope()} }

// Scope returns what the subscription is for.
func (s *Subscription) Scope() event.Scope { return event.Scope{Type: s.ScopeType, ID: s.ScopeID} }

// Check refuses (fault.Invalid, naming the field) what cannot be subscribed to, whatever exists.
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

// SeenIn reports whether who may see scopes, in which these resources lie, may see the subscription: with everything
// all, else those of the own teams and resources.
func (s *Subscription) SeenIn(scopes grant.Scopes, resources inventory.ResourceSet) bool {
	return scopes.All || s.ScopeType == event.ScopeTeam && slices.Contains(scopes.Teams, s.ScopeID) ||
		s.ScopeType == event.ScopeResource && resources.HasUID(s.ScopeID)
}
