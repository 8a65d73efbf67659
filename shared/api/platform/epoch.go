package platform

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
)

// CodeKey returns the key of the hashes of one-time codes, tickets, pending sign-ins and refresh tokens. It changes
// with each restore, so that older ones are not found.
func (s Settings) CodeKey() []byte {
	if s.Epoch.IsZero() {
		return s.Pepper
	}
	return []byte(identity.Digest(s.Pepper, "epoch", s.Epoch.UTC().Format(time.RFC3339Nano)))
}

// epochLead is how far the clock of the machine that sets an epoch may be ahead.
const epochLead = 5 * time.Minute

// ParseEpoch parses the time of a restore; "" means never. It refuses a future time, because log-ins would fail until
// then.
func ParseEpoch(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{},
			fmt.Errorf("%q is not a time: write the time of the restore like 2026-03-10T09:30:00Z, or leave it empty",
				text)
	case at.After(now.Add(epochLead)):
		return time.Time{},
			fmt.Errorf("%s is in the future, and all log-ins would fail until then: write the time of the restore",
				text)
	}
	return at.UTC(), nil
}
