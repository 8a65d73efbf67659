package delivery

import (
	"encoding/json"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/event"
)

// Status is the state of a delivery.
type Status string

// The statuses. A delivery is pending until its first try has ended. Delivered and parked are final.
const (
	Pending   Status = "pending"
	Delivered Status = "delivered"
	Retrying  Status = "retrying" // a try failed, and another one follows
	Parked    Status = "parked"   // all tries failed, or another one cannot help
)

// Statuses are all statuses, in the order of a delivery's life.
var Statuses = []Status{Pending, Retrying, Delivered, Parked}

// IsFinal reports whether a delivery has ended. Only Redeliver restarts it.
func (s Status) IsFinal() bool { return s == Delivered || s == Parked }

const (
	// Keep is how long a delivery is kept after its end.
	Keep = 14 * 24 * time.Hour
	// MaxEvents is the maximum number of a digest's events that a delivery stores. Record.Total counts all of them.
	MaxEvents = 10
	// maxAttempts is the maximum number of attempts that a delivery stores: the last ones, of two ladders.
	maxAttempts = 12
)

// Attempt is one try and the receiver's response.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status,omitempty"`  // HTTP status; 0 without an answer
	Message string    `json:"message,omitempty"` // why it failed; at most 200 characters, without secrets
}

// Record is a delivery in the log: one message for one receiver. Its ID is derived from the event and the receiver.
type Record struct {
	ID            string          `json:"id"` // dlv_…
	Target        Target          `json:"target"`
	EventID       string          `json:"eventID"` // of the first event; empty for a test or a share by a person
	EventKey      string          `json:"eventKey"`
	Events        []event.Event   `json:"events"` // the first MaxEvents
	Total         int             `json:"total"`  // the number of events, including those not stored
	Text          string          `json:"text,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	Status        Status          `json:"status"`
	Attempts      []Attempt       `json:"attempts"`               // the last ones, oldest first
	Tries         int             `json:"tries"`                  // failed tries since BegunAt
	NextAttemptAt time.Time       `json:"nextAttemptAt,omitzero"` // zero when it has ended
	CreatedAt     time.Time       `json:"createdAt"`
	BegunAt       time.Time       `json:"begunAt"`     // when it was created or redelivered
	DeliveredAt   time.Time       `json:"deliveredAt"` // zero when it is not delivered
	// the name of its due row; empty when it has ended
	Due    string  `json:"due,omitempty"`
	Window *window `json:"window,omitempty"` // of the first and the last delivery of a minute, see window.go
	// incremented by each write of Window, which does not change Change
	WindowSeq int `json:"windowSeq,omitempty"`
	// incremented by each write; each write requires the old value
	Change int `json:"change"`
}

// Message returns the message for the sender.
func (r *Record) Message(org string) Message {
	return Message{ID: r.ID, Org: org, Target: r.Target, Events: r.Events, Total: r.Total, Text: r.Text, Data: r.Data}
}

// attempted returns r with one more attempt.
func (r Record) attempted(a Attempt) Record {
	r.Attempts = append(slices.Clone(r.Attempts), a)
	r.Attempts = r.Attempts[max(0, len(r.Attempts)-maxAttempts):]
	return r
}

// expires returns the expiry of a record that is written now. A record that has not ended is written again before it
// expires, because its ladder is shorter.
func (r *Record) expires(now time.Time) time.Time { return now.Add(Keep) }
