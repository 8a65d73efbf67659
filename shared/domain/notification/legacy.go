package notification

import (
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
)

// Legacy is a configuration from before channels existed: one address, with flags that select its events.
type Legacy struct {
	ID         string `json:"id"`
	Channel    Type   `json:"channel"`
	Sealed     []byte `json:"sealed,omitempty"` // its address, for type email the mailbox
	Masked     string `json:"masked"`
	OnStart    bool   `json:"notifyOnStart"`
	OnStop     bool   `json:"notifyOnStop"`
	OnFailure  bool   `json:"notifyOnFailure"`
	OnOverride bool   `json:"notifyOnOverride"`
	receiver.Made
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // incremented by each change; each change requires the old value
}

// events returns whether the flags select an event, by event key.
func (l *Legacy) events() map[string]bool {
	return map[string]bool{
		event.ResourceStarted: l.OnStart, event.ResourceStopped: l.OnStop, event.ResourceOverride: l.OnOverride,
		event.ResourceFailed: l.OnFailure, event.ResourceRetryExhausted: l.OnFailure,
	}
}

// listed returns the entry of the configuration in the list of receivers of an event, with its maker. It returns ""
// when the flags do not select the event.
func (l *Legacy) listed(key string) string {
	if !l.events()[key] {
		return ""
	}
	return listedAs(on, l.Maker)
}

// Keys returns the keys of the events that the flags select.
func (l *Legacy) Keys() []string {
	var out []string
	for key, wanted := range l.events() {
		if wanted {
			out = append(out, key)
		}
	}
	return out
}
