package platform

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
)

// CodeKey keys the hashes of one-time codes, tickets, sign-ins under way and refresh tokens: another one after each restore, so
// that those of before are found by nobody.
func (s Settings) CodeKey() []byte {
	if s.Epoch.IsZero() {
		return s.Pepper
	}
	return []byte(identity.Digest(s.Pepper, "epoch", s.Epoch.UTC().Format(time.RFC3339Nano)))
}

// epochLead is how far the clock of whoever names an epoch may be ahead.
const epochLead = 5 * time.Minute

// ParseEpoch reads the time of a restore, which "" is not. One to come is refused: nobody could log in before it.
func ParseEpoch(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{},
			fmt.Errorf("%q is no time: write when the store was restored like 2026-03-10T09:30:00Z, or leave it empty",
				text)
	case at.After(now.Add(epochLead)):
		return time.Time{},
			fmt.Errorf("%s is still to come, and nobody could log in before it: name when the store was restored", text)
	}
	return at.UTC(), nil
}
