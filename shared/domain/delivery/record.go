package delivery

import (
	"encoding/json"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/event"
)

// Status is how a delivery stands.
type Status string

// The statuses. A delivery is pending until its first try has ended, and delivered or parked at its end.
const (
	Pending   Status = "pending"
	Delivered Status = "delivered"
	Retrying  Status = "retrying" // a try has failed, and another follows
	Parked    Status = "parked"   // all tries have failed, or no other can help
)

// Statuses are all statuses, in the order in which a delivery may take them.
var Statuses = []Status{Pending, Retrying, Delivered, Parked}

// IsFinal reports whether a delivery has ended, and only Redeliver begins it again.
func (s Status) IsFinal() bool { return s == Delivered || s == Parked }

const (
	// Keep is how long a delivery is kept after its end.
	Keep = 14 * 24 * time.Hour
	// MaxEvents is how many of the events of a digest a delivery holds; its Total counts the others.
	MaxEvents = 10
	// maxAttempts is how many attempts a delivery tells of: those of two ladders, the last ones.
	maxAttempts = 12
)

// Attempt is one try, and what the receiver said.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status,omitempty"`  // of HTTP; 0 when there was no answer
	Message string    `json:"message,omitempty"` // why it failed; at most 200 characters, without secrets
}

// Record is a delivery, as the log keeps it: one message for one receiver. Its id follows from what it tells of and to whom.
type Record struct {
	ID            string          `json:"id"` // dlv_…
	Target        Target          `json:"target"`
	EventID       string          `json:"eventID"` // of the first event; empty of what a person sent (a test, a share)
	EventKey      string          `json:"eventKey"`
	Events        []event.Event   `json:"events"` // the first MaxEvents
	Total         int             `json:"total"`  // of how many events it tells
	Text          string          `json:"text,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	Status        Status          `json:"status"`
	Attempts      []Attempt       `json:"attempts"`               // the last ones, oldest first
	Tries         int             `json:"tries"`                  // that have failed since it began, or was begun again
	NextAttemptAt time.Time       `json:"nextAttemptAt,omitzero"` // zero when it has ended
	CreatedAt     time.Time       `json:"createdAt"`
	BegunAt       time.Time       `json:"begunAt"`     // when it was made, or begun again
	DeliveredAt   time.Time       `json:"deliveredAt"` // zero when it was not
	// the name of the row of what is due that sees to it; none when it has ended
	Due    string  `json:"due,omitempty"`
	Window *window `json:"window,omitempty"` // of the first and the last of a minute, see window.go
	// how often Window was written since: it changes beside the delivery
	WindowSeq int `json:"windowSeq,omitempty"`
	// how often it was written, which each write is conditioned on
	Change int `json:"change"`
}

// Message returns what a sender is given of it.
func (r *Record) Message(org string) Message {
	return Message{ID: r.ID, Org: org, Target: r.Target, Events: r.Events, Total: r.Total, Text: r.Text, Data: r.Data}
}

// attempted returns r with one more attempt on record.
func (r Record) attempted(a Attempt) Record {
	r.Attempts = append(slices.Clone(r.Attempts), a)
	r.Attempts = r.Attempts[max(0, len(r.Attempts)-maxAttempts):]
	return r
}

// expires returns when it goes, as it is written now. One that has not ended is written again before that: its ladder is shorter.
func (r *Record) expires(now time.Time) time.Time { return now.Add(Keep) }
