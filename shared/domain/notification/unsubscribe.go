package notification

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/fault"
)

// UnsubscribePath ends mails with one request, without a log-in (RFC 8058). A token follows the path.
const UnsubscribePath = "/unsubscribe/"

// unsubscribeAddress returns the address that ends a user's mails of events with a key. It returns "" when the API's
// address is unknown or has no TLS.
func (s *Store) unsubscribeAddress(base, org, user, eventKey string) string {
	if !strings.HasPrefix(base, "https://") {
		return ""
	}
	return base + UnsubscribePath + s.unsubscribeToken(org, user, eventKey)
}

// unsubscribeToken returns a signed token for an organization, a user and an event key. Its holder can only end these
// mails.
func (s *Store) unsubscribeToken(org, user, eventKey string) string {
	what := strings.Join([]string{org, user, eventKey}, "/")
	return base64.RawURLEncoding.EncodeToString(append(s.sign(what), what...))
}

func (s *Store) sign(what string) []byte {
	h := hmac.New(sha256.New, s.pepper)
	h.Write([]byte("unsubscribe/" + what))
	return h.Sum(nil)
}

// ReadUnsubscribeToken returns the organization, the user and the event key of a token. It returns fault.NotFound for
// an invalid token.
func (s *Store) ReadUnsubscribeToken(token string) (org, user, eventKey string, err error) {
	missing := fault.New(fault.NotFound, "the link is not one of ours, or has been cut: open it from the mail again")
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) <= sha256.Size || !hmac.Equal(b[:sha256.Size], s.sign(string(b[sha256.Size:]))) {
		return "", "", "", missing
	}
	parts := strings.Split(string(b[sha256.Size:]), "/")
	if _, known := event.TypeOf(parts[len(parts)-1]); len(parts) != 3 || !known {
		return "", "", "", missing
	}
	return parts[0], parts[1], parts[2], nil
}

// Unsubscribe ends a user's mails of events with a key. It is idempotent.
func (s *Store) Unsubscribe(ctx context.Context, org, user, eventKey string) error {
	now := s.clock.Now()
	return s.SetPreference(ctx, org, user, Preference{EventKey: eventKey, UpdatedAt: &now})
}
