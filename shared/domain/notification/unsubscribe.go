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

// UnsubscribePath is where a mail is ended by one request, without a log-in (RFC 8058); a token follows.
const UnsubscribePath = "/unsubscribe/"

// unsubscribeAddress returns where a user ends the mails of events of a key; none where the API's address is not
// known, or has no TLS.
func (s *Store) unsubscribeAddress(base, org, user, eventKey string) string {
	if !strings.HasPrefix(base, "https://") {
		return ""
	}
	return base + UnsubscribePath + s.unsubscribeToken(org, user, eventKey)
}

// unsubscribeToken names an organization, a user and a key, and is signed: who has it can do no more than end these
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

// ReadUnsubscribeToken tells whose mails of what a token ends; fault.NotFound of one that is none of ours.
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

// Unsubscribe ends the mails that a token names. What it ends stays ended when it is asked again.
func (s *Store) Unsubscribe(ctx context.Context, org, user, eventKey string) error {
	now := s.clock.Now()
	return s.SetPreference(ctx, org, user, Preference{EventKey: eventKey, UpdatedAt: &now})
}
