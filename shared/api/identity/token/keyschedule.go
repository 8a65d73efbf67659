package token

import (
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// how long clients may keep the published set (Cache-Control of /.well-known/jwks.json)
	keyCache  = 5 * time.Minute
	keyReread = 30 * time.Second // how long a process goes by a set that it has read
)

// KeyLead is how long a key is published before it signs, so that whoever keeps the set knows it by then.
const KeyLead = time.Hour

// KeyGrace is how long a key is accepted after another one has begun to sign: until its last token has ended for
// everybody.
const KeyGrace = TTL + keyCache + leeway + keyReread

// timedKey is a key and when it is used. It signs from a time on (zero: always) until a later one does, and is accepted
// until another time (zero: for good).
type timedKey struct {
	public      jose.JSONWebKey
	from, until time.Time
}

func (k *timedKey) ended(now time.Time) bool { return !k.until.IsZero() && !k.until.After(now) }

// keySchedule says which of some keys signs, and which are accepted. A key is published from the day that it is known.
type keySchedule struct {
	keys     []timedKey
	accepted jose.JSONWebKeySet
	until    time.Time // accepted is right before then; zero: for good
}

// signing returns the place of the key that began last; of several, the first.
func (t *keySchedule) signing(now time.Time) (int, error) {
	best := -1
	for i := range t.keys {
		k := &t.keys[i]
		if !k.from.After(now) && !k.ended(now) && (best < 0 || k.from.After(t.keys[best].from)) {
			best = i
		}
	}
	if best < 0 {
		return 0, errors.New("no signing key is in force")
	}
	return best, nil
}

// acceptedKeys returns what is accepted now. It is made anew only when a key has ended.
func (t *keySchedule) acceptedKeys(now time.Time) jose.JSONWebKeySet {
	if t.accepted.Keys != nil && (t.until.IsZero() || now.Before(t.until)) {
		return t.accepted
	}
	accepted, until := make([]jose.JSONWebKey, 0, len(t.keys)), time.Time{}
	for i := range t.keys {
		k := &t.keys[i]
		if k.ended(now) {
			continue
		}
		accepted = append(accepted, k.public)
		if !k.until.IsZero() && (until.IsZero() || k.until.Before(until)) {
			until = k.until
		}
	}
	t.accepted, t.until = jose.JSONWebKeySet{Keys: accepted}, until
	return t.accepted
}

// KeyState is a key as an operator sees it.
type KeyState struct {
	ID    string
	State string    // next, current or previous
	From  time.Time // zero: always
	Until time.Time // zero: for good
}

// states returns how each key stands.
func (t *keySchedule) states(now time.Time) []KeyState {
	current, err := t.signing(now)
	if err != nil {
		current = -1
	}
	out := make([]KeyState, len(t.keys))
	for i, k := range t.keys {
		out[i] = KeyState{k.public.KeyID, "previous", k.from, k.until}
		switch {
		case i == current:
			out[i].State = "current"
		case k.from.After(now):
			out[i].State = "next"
		}
	}
	return out
}
