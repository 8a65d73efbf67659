package notification

import (
	"time"

	"lamplighter.dev/shared/domain/event"
)

// Legacy is a configuration of before there were channels: one address, told of what flags say.
type Legacy struct {
	ID         string    `json:"id"`
	Channel    Type      `json:"channel"`
	Sealed     []byte    `json:"sealed,omitempty"` // its address; of type email the mailbox
	Masked     string    `json:"masked"`
	OnStart    bool      `json:"notifyOnStart"`
	OnStop     bool      `json:"notifyOnStop"`
	OnFailure  bool      `json:"notifyOnFailure"`
	OnOverride bool      `json:"notifyOnOverride"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // counts the changes, which each is conditioned on
}

// events returns what the flags ask for, by the keys of events.
func (l *Legacy) events() map[string]bool {
	return map[string]bool{
		event.ResourceStarted: l.OnStart, event.ResourceStopped: l.OnStop, event.ResourceOverride: l.OnOverride,
		event.ResourceFailed: l.OnFailure, event.ResourceRetryExhausted: l.OnFailure,
	}
}
