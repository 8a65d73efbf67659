// Package delivery sends events to their receivers. It finds the receivers of an event, tries each one independently
// with increasing pauses (the ladder), parks failed deliveries, and keeps a log of all deliveries.
package delivery

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/domain/event"
)

// Kind is the kind of a receiver.
type Kind string

// The kinds of receivers.
const (
	Channel     Kind = "channel"     // a notification channel; ID chan_…
	Legacy      Kind = "legacy"      // a legacy notification configuration
	Email       Kind = "email"       // the built-in mail to a user; ID usr_…
	Webhook     Kind = "webhook"     // an outbound webhook; ID wh_…
	Integration Kind = "integration" // Jira or PagerDuty; ID intg_…
)

// Target identifies a receiver.
type Target struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
}

// Message is the input of a Sender: one event, or a digest of several events of one key for the same receiver.
type Message struct {
	ID     string        // of the delivery, dlv_…: the same for each attempt, so that receivers can deduplicate
	Org    string        // the organization
	Target Target        // the receiver
	Events []event.Event // at least one; more than one is a digest
	Total  int           // the number of events the digest stands for; may be more than len(Events)
	Text   string        // written by a person (a shared recommendation, a test); may be empty
	Data   json.RawMessage
}

// Answer is the response of a receiver.
type Answer struct {
	Status     int           `json:"status,omitempty"`  // HTTP status
	Message    string        `json:"message,omitempty"` // at most 200 characters, without secrets
	RetryAfter time.Duration `json:"-"`                 // requested by the receiver; 0 means the pause of the ladder
	// it refuses all further messages for good (410, a deleted webhook of Slack)
	Gone bool `json:"-"`
}

// Matcher finds the receivers of events, of one kind or of several kinds.
type Matcher interface {
	// Match returns the receivers of each event of an organization. It reads once what the events have in common.
	Match(ctx context.Context, org string, events []event.Event) ([][]Target, error)
}

// Sender sends a message to a receiver before the deadline of ctx. An error of kind fault.Invalid is permanent: a
// retry does not help. fault.NotFound means that the target does not exist any more; its delivery is removed.
type Sender interface {
	Send(ctx context.Context, m Message) (Answer, error)
}
