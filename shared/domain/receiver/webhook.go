// Package webhook is the outbound webhooks of an organization: requests to addresses of its own, signed as Standard Webhooks has it
// (https://www.standardwebhooks.com), by which its programs learn of events.
package receiver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// WebhookPartition is of the webhooks of an organization, and of their names.
const WebhookPartition table.Partition = "ORG#*#WEBHOOK"

// WebhookSending is what NewMatcher and Sender touch; who sends opens Secret as well.
var WebhookSending = table.Access{Writes: []table.Partition{WebhookPartition}}

// WebhookSecret is the kind of what is sealed of a webhook: its address and what signs.
const WebhookSecret = "webhook"

// WebhookPrefix begins the ids.
const WebhookPrefix = "whk"

// KeyOverlap is for how long the secret before signs too after a rotation.
const KeyOverlap = 24 * time.Hour

var webhookKind = Kind{Target: delivery.Webhook, Noun: "webhook", Prefix: WebhookPrefix, Partition: WebhookPartition}

// Webhook is a webhook as it is stored.
type Webhook struct {
	Row
	Address   string    `json:"address"` // masked
	Sealed    []byte    `json:"sealed"`
	GoneAt    time.Time `json:"goneAt,omitzero"`    // when the receiver said that it is gone for ever
	RotatedAt time.Time `json:"rotatedAt,omitzero"` // when the secret was made anew
}

// The statuses of webhooks.
const (
	WebhookActive   = "active"
	WebhookDisabled = "disabled" // by a person
	WebhookFailing  = "failing"  // all tries of a delivery have failed, and nothing has reached it since
	WebhookGone     = "gone"     // by the receiver, with status 410
	WebhookPaused   = "paused"   // its maker may read no event that it asks for
)

// Status tells how the webhook is.
func (w *Webhook) Status() string {
	switch {
	case !w.GoneAt.IsZero():
		return WebhookGone
	case !w.Enabled:
		return WebhookDisabled
	case !w.PausedAt.IsZero():
		return WebhookPaused
	case !w.FailingAt.IsZero():
		return WebhookFailing
	}
	return WebhookActive
}

// WebhookSecrets are what nobody may read in the store.
type WebhookSecrets struct {
	URL    string    `json:"url"`
	Key    string    `json:"key"`              // whsec_…
	Before string    `json:"before,omitempty"` // the one before, which signs as well until Until
	Until  time.Time `json:"until,omitzero"`
}

const (
	keyPrefix = "whsec_"
	keyBytes  = 32
)

// NewWebhookKey makes a secret that signs.
func NewWebhookKey() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // it ends the process rather than to fail
	return keyPrefix + base64.StdEncoding.EncodeToString(b)
}

// Rotate makes the secret anew at the time now; the one before signs as well for Overlap, and one before that no more.
func (s *WebhookSecrets) Rotate(now time.Time) {
	s.Before, s.Until, s.Key = s.Key, now.Add(KeyOverlap), NewWebhookKey()
}

// keys returns what signs at the time now, the newest first.
func (s *WebhookSecrets) keys(now time.Time) []string {
	if s.Before != "" && now.Before(s.Until) {
		return []string{s.Key, s.Before}
	}
	return []string{s.Key}
}

// WebhookStore keeps the webhooks of organizations.
type WebhookStore struct {
	*Store[Webhook, *Webhook]
	sealer seal.Sealer
}

// NewWebhookStore returns the store on t, which seals by s.
func NewWebhookStore(t table.Store, s seal.Sealer) *WebhookStore {
	return &WebhookStore{NewStore[Webhook, *Webhook](t, webhookKind), s}
}

// Seal seals what is secret of w, which has its id.
func (s *WebhookStore) Seal(ctx context.Context, org string, w *Webhook, secrets *WebhookSecrets) error {
	plain, err := json.Marshal(secrets) //nolint:gosec // sealed in the next line
	if err != nil {
		return fmt.Errorf("encode secrets of %s: %w", w.ID, err)
	}
	w.Address = Mask(secrets.URL)
	w.Sealed, err = s.sealer.Seal(ctx, seal.Place{Org: org, Kind: WebhookSecret, ID: w.ID}, plain)
	return fault.Wrap("seal webhook "+w.ID, err)
}

// Open opens what is secret of w.
func (s *WebhookStore) Open(ctx context.Context, org string, w *Webhook) (WebhookSecrets, error) {
	var out WebhookSecrets
	plain, err := s.sealer.Open(ctx, seal.Place{Org: org, Kind: WebhookSecret, ID: w.ID}, w.Sealed)
	if err != nil {
		return out, fault.Wrap("open webhook "+w.ID, err)
	}
	return out, fault.Wrap("decode secrets of "+w.ID, json.Unmarshal(plain, &out))
}

// NewWebhookMatcher returns what finds the webhooks that are told of an event.
func NewWebhookMatcher(s *WebhookStore, a *Audience) delivery.Matcher {
	return NewMatcher(s.Store, a, func(*Webhook) bool { return true })
}

var _ delivery.HealthRecorder = (*WebhookStore)(nil)
