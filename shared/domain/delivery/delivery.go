// Package delivery brings events to whoever asked for them: it knows who is told of an event, tries each receiver by itself along a ladder
// of pauses, parks what cannot be delivered, and keeps a log of it all.
package delivery

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/domain/event"
)

// Kind is what sort of receiver a target is.
type Kind string

// The kinds of receivers.
const (
	Channel     Kind = "channel"     // a notification channel; ID chan_…
	Legacy      Kind = "legacy"      // a legacy notification configuration
	Email       Kind = "email"       // the built-in mail to a user; ID usr_…
	Webhook     Kind = "webhook"     // an outbound webhook; ID wh_…
	Integration Kind = "integration" // Jira or PagerDuty; ID intg_…
)

// Target is a receiver.
type Target struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
}

// Message is what a sender is given: one event, or a digest of several events of one key for the same receiver.
type Message struct {
	ID     string        // of the delivery, dlv_…: the same for each attempt, so receivers dedupe by it
	Org    string        // whose
	Target Target        // to whom
	Events []event.Event // at least one; more than one is a digest
	Total  int           // how many events the digest stands for; may be more than Events
	Text   string        // what a person wrote besides (a shared recommendation, a test); may be empty
	Data   json.RawMessage
}

// Answer is what the receiver said.
type Answer struct {
	Status     int           `json:"status,omitempty"`  // of HTTP
	Message    string        `json:"message,omitempty"` // at most 200 characters, without secrets
	RetryAfter time.Duration `json:"-"`                 // what it asked for; 0 is the ladder's
	// it will never take anything again (410, a deleted webhook of Slack)
	Gone bool `json:"-"`
}

// Matcher finds who is told of an event. One matcher a kind of receiver, or several kinds; at most three round trips to the store.
type Matcher interface {
	Match(ctx context.Context, org string, e event.Event) ([]Target, error)
}

// Sender hands a message to a receiver, within its deadline. An error of kind fault.Invalid will not pass by trying again; a target that is
// not there any more is fault.NotFound, and its delivery is forgotten.
type Sender interface {
	Send(ctx context.Context, m Message) (Answer, error)
}
