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

// WebhookPartition holds the webhooks of an organization and their names.
const WebhookPartition table.Partition = "ORG#*#WEBHOOK"

// WebhookSending is the access that NewMatcher and Sender need. A function that sends also opens WebhookSecret.
var WebhookSending = table.Access{Writes: []table.Partition{WebhookPartition}}

// WebhookSecret is the secret kind of a webhook's sealed data: its address and its signing keys.
const WebhookSecret = "webhook"

// WebhookPrefix is the prefix of webhook IDs.
const WebhookPrefix = "whk"

// KeyOverlap is how long the previous secret also signs after a rotation.
const KeyOverlap = 24 * time.Hour

var webhookKind = Kind{Target: delivery.Webhook, Noun: "webhook", Prefix: WebhookPrefix, Partition: WebhookPartition}

// Webhook is a stored webhook.
type Webhook struct {
	Row
	Address   string    `json:"address"` // masked
	Sealed    []byte    `json:"sealed"`
	GoneAt    time.Time `json:"goneAt,omitzero"`    // when the receiver answered 410
	RotatedAt time.Time `json:"rotatedAt,omitzero"` // when the secret was rotated
}

// The statuses of webhooks.
const (
	WebhookActive   = "active"
	WebhookDisabled = "disabled" // by a person
	WebhookFailing  = "failing"  // all tries of a delivery failed, and none has succeeded since
	WebhookGone     = "gone"     // by the receiver, with status 410
	WebhookPaused   = "paused"   // its maker may read none of its events
)

// Status returns the status of the webhook.
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

// WebhookSecrets are the sealed data of a webhook.
type WebhookSecrets struct {
	URL    string    `json:"url"`
	Key    string    `json:"key"`              // whsec_…
	Before string    `json:"before,omitempty"` // the previous key, which also signs until Until
	Until  time.Time `json:"until,omitzero"`
}

const (
	keyPrefix = "whsec_"
	keyBytes  = 32
)

// NewWebhookKey returns a new signing key.
func NewWebhookKey() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // it never fails: it ends the process instead
	return keyPrefix + base64.StdEncoding.EncodeToString(b)
}

// Rotate makes a new key. The previous key also signs for KeyOverlap; an older one does not sign any more.
func (s *WebhookSecrets) Rotate(now time.Time) {
	s.Before, s.Until, s.Key = s.Key, now.Add(KeyOverlap), NewWebhookKey()
}

// keys returns the keys that sign at the time now, the newest first.
func (s *WebhookSecrets) keys(now time.Time) []string {
	if s.Before != "" && now.Before(s.Until) {
		return []string{s.Key, s.Before}
	}
	return []string{s.Key}
}

// WebhookStore stores the webhooks of organizations.
type WebhookStore struct {
	*Store[Webhook, *Webhook]
	sealer seal.Sealer
}

// NewWebhookStore returns a store on t that seals with s.
func NewWebhookStore(t table.Store, s seal.Sealer) *WebhookStore {
	return &WebhookStore{NewStore[Webhook, *Webhook](t, webhookKind), s}
}

// Seal seals secrets into w, whose ID is set, and sets its masked address.
func (s *WebhookStore) Seal(ctx context.Context, org string, w *Webhook, secrets *WebhookSecrets) error {
	plain, err := json.Marshal(secrets) //nolint:gosec // sealed in the next line
	if err != nil {
		return fmt.Errorf("encode secrets of %s: %w", w.ID, err)
	}
	w.Address = Mask(secrets.URL)
	w.Sealed, err = s.sealer.Seal(ctx, seal.Place{Org: org, Kind: WebhookSecret, ID: w.ID}, plain)
	return fault.Wrap("seal webhook "+w.ID, err)
}

// Open returns the unsealed secrets of w.
func (s *WebhookStore) Open(ctx context.Context, org string, w *Webhook) (WebhookSecrets, error) {
	var out WebhookSecrets
	plain, err := s.sealer.Open(ctx, seal.Place{Org: org, Kind: WebhookSecret, ID: w.ID}, w.Sealed)
	if err != nil {
		return out, fault.Wrap("open webhook "+w.ID, err)
	}
	return out, fault.Wrap("decode secrets of "+w.ID, json.Unmarshal(plain, &out))
}

// NewWebhookMatcher returns the matcher for webhooks.
func NewWebhookMatcher(s *WebhookStore, a *Audience) delivery.Matcher {
	return NewMatcher(s.Store, a, func(*Webhook) bool { return true })
}

var _ delivery.HealthRecorder = (*WebhookStore)(nil)
