package token

import (
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keyCache is how long clients may cache the published set (Cache-Control of /.well-known/jwks.json).
	keyCache  = 5 * time.Minute
	keyReread = 30 * time.Second // how long a process uses a set without reading it again
)

// KeyLead is how long a key is published before it signs, so that all caches contain it by then.
const KeyLead = time.Hour

// KeyGrace is how long a key is accepted after the next one has started to sign: until its last token has expired in
// all caches.
const KeyGrace = TTL + keyCache + leeway + keyReread

// timedKey is a key with its times. It signs from the time `from` (zero means always) until a later key does, and is
// accepted until the time `until` (zero means always).
type timedKey struct {
	public      jose.JSONWebKey
	from, until time.Time
}

func (k *timedKey) ended(now time.Time) bool { return !k.until.IsZero() && !k.until.After(now) }

// keySchedule decides which key signs, and which are accepted. All known keys are published.
type keySchedule struct {
	keys     []timedKey
	accepted jose.JSONWebKeySet
	until    time.Time // end of the validity of accepted; zero means never
}

// signing returns the index of the key that started last; if there are several, the first.
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

// acceptedKeys returns the keys accepted now. It computes them again only if a key has ended.
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

// KeyState is the state of a key for operators.
type KeyState struct {
	ID    string
	State string    // next, current or previous
	From  time.Time // zero: always
	Until time.Time // zero: for good
}

// states returns the states of all keys.
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
