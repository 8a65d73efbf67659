package notification

import (
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
)

// Legacy is a configuration of before there were channels: one address, told of what flags say.
type Legacy struct {
	ID         string `json:"id"`
	Channel    Type   `json:"channel"`
	Sealed     []byte `json:"sealed,omitempty"` // its address; of type email the mailbox
	Masked     string `json:"masked"`
	OnStart    bool   `json:"notifyOnStart"`
	OnStop     bool   `json:"notifyOnStop"`
	OnFailure  bool   `json:"notifyOnFailure"`
	OnOverride bool   `json:"notifyOnOverride"`
	receiver.Made
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

// listed returns how the configuration stands in the list of receivers of an event: with its maker, or "" where its
// flags do not ask for it.
func (l *Legacy) listed(key string) string {
	if !l.events()[key] {
		return ""
	}
	return listedAs(on, l.Maker)
}

// Keys returns the keys of the events that the flags ask for.
func (l *Legacy) Keys() []string {
	var out []string
	for key, wanted := range l.events() {
		if wanted {
			out = append(out, key)
		}
	}
	return out
}
