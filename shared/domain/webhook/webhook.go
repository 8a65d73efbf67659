// Package webhook is the outbound webhooks of an organization: requests to addresses of its own, signed as Standard Webhooks has it
// (https://www.standardwebhooks.com), by which its programs learn of events.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// Partition is of the webhooks of an organization, and of their names.
const Partition table.Partition = "ORG#*#WEBHOOK"

// Sending is what NewMatcher and Sender touch; who sends opens Secret as well.
var Sending = table.Access{Writes: []table.Partition{Partition}}

// Secret is the kind of what is sealed of a webhook: its address and what signs.
const Secret = "webhook"

// Prefix begins the ids.
const Prefix = "whk"

// Overlap is for how long the secret before signs too after a rotation.
const Overlap = 24 * time.Hour

var kind = receiver.Kind{Target: delivery.Webhook, Noun: "webhook", Prefix: Prefix, Partition: Partition}

// Webhook is a webhook as it is stored.
type Webhook struct {
	receiver.Row
	Address   string    `json:"address"` // masked
	Sealed    []byte    `json:"sealed"`
	GoneAt    time.Time `json:"goneAt,omitzero"`    // when the receiver said that it is gone for ever
	RotatedAt time.Time `json:"rotatedAt,omitzero"` // when the secret was made anew
}

// The statuses of webhooks.
const (
	Active   = "active"
	Disabled = "disabled" // by a person
	Failing  = "failing"  // all tries of a delivery have failed, and nothing has reached it since
	Gone     = "gone"     // by the receiver, with status 410
	Paused   = "paused"   // its maker may read no event that it asks for
)

// Status tells how the webhook is.
func (w *Webhook) Status() string {
	switch {
	case !w.GoneAt.IsZero():
		return Gone
	case !w.Enabled:
		return Disabled
	case !w.PausedAt.IsZero():
		return Paused
	case !w.FailingAt.IsZero():
		return Failing
	}
	return Active
}

// Secrets are what nobody may read in the store.
type Secrets struct {
	URL    string    `json:"url"`
	Key    string    `json:"key"`              // whsec_…
	Before string    `json:"before,omitempty"` // the one before, which signs as well until Until
	Until  time.Time `json:"until,omitzero"`
}

const (
	keyPrefix = "whsec_"
	keyBytes  = 32
)

// NewKey makes a secret that signs.
func NewKey() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // it ends the process rather than to fail
	return keyPrefix + base64.StdEncoding.EncodeToString(b)
}

// Rotate makes the secret anew at the time now; the one before signs as well for Overlap, and one before that no more.
func (s *Secrets) Rotate(now time.Time) {
	s.Before, s.Until, s.Key = s.Key, now.Add(Overlap), NewKey()
}

// keys returns what signs at the time now, the newest first.
func (s *Secrets) keys(now time.Time) []string {
	if s.Before != "" && now.Before(s.Until) {
		return []string{s.Key, s.Before}
	}
	return []string{s.Key}
}

// Store keeps the webhooks of organizations.
type Store struct {
	*receiver.Store[Webhook, *Webhook]
	sealer seal.Sealer
}

// NewStore returns the store on t, which seals by s.
func NewStore(t table.Store, s seal.Sealer) *Store {
	return &Store{receiver.NewStore[Webhook, *Webhook](t, kind), s}
}

// Seal seals what is secret of w, which has its id.
func (s *Store) Seal(ctx context.Context, org string, w *Webhook, secrets *Secrets) error {
	plain, err := json.Marshal(secrets) //nolint:gosec // sealed in the next line
	if err != nil {
		return fmt.Errorf("encode secrets of %s: %w", w.ID, err)
	}
	w.Address = receiver.Mask(secrets.URL)
	w.Sealed, err = s.sealer.Seal(ctx, seal.Place{Org: org, Kind: Secret, ID: w.ID}, plain)
	return fault.Wrap("seal webhook "+w.ID, err)
}

// Open opens what is secret of w.
func (s *Store) Open(ctx context.Context, org string, w *Webhook) (Secrets, error) {
	var out Secrets
	plain, err := s.sealer.Open(ctx, seal.Place{Org: org, Kind: Secret, ID: w.ID}, w.Sealed)
	if err != nil {
		return out, fault.Wrap("open webhook "+w.ID, err)
	}
	return out, fault.Wrap("decode secrets of "+w.ID, json.Unmarshal(plain, &out))
}

// NewMatcher returns what finds the webhooks that are told of an event.
func NewMatcher(s *Store, a *receiver.Audience) delivery.Matcher {
	return receiver.NewMatcher(s.Store, a, func(*Webhook) bool { return true })
}

var _ delivery.HealthRecorder = (*Store)(nil)
