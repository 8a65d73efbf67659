package token

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"time"

	"lamplighter.dev/shared/foundation/seal"
)

// Rotation holds the times of a key rotation.
type Rotation struct {
	Now  time.Time
	From time.Time // the new key signs from then on
	End  time.Time // older keys are accepted until then, or until their own end
}

// PlanRotation plans a rotation. The new key is published for KeyLead before it signs; if urgent, it signs at once. The
// old keys are accepted for KeyGrace longer.
func PlanRotation(now time.Time, urgent bool) Rotation {
	from := now
	if !urgent {
		from = now.Add(KeyLead)
	}
	return Rotation{Now: now, From: from, End: from.Add(KeyGrace)}
}

// RotateKeyFile adds a new key to the file at path, sets the end of the others, and removes those that have ended. It
// returns the new states of the keys.
func RotateKeyFile(path string, r Rotation) ([]KeyState, error) {
	old, err := seal.ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	fresh, err := newKey(map[string]string{fromHeader: r.From.UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, err
	}
	out := pem.EncodeToMemory(fresh)
	for block, rest := pem.Decode(old); block != nil; block, rest = pem.Decode(rest) {
		kept, err := r.retireKey(block)
		if err != nil {
			return nil, fmt.Errorf("read signing keys %s: %w", path, err)
		}
		out = append(out, kept...)
	}
	if err = seal.ReplacePrivate(path, out); err != nil {
		return nil, err
	}
	return KeyStates(path, r.Now)
}

// retireKey returns the block of an old key with its end, or nothing if it has ended.
func (r Rotation) retireKey(block *pem.Block) ([]byte, error) {
	_, when, err := parseKey(block)
	if err != nil || when.ended(r.Now) {
		return nil, err
	}
	if when.until.IsZero() || when.until.After(r.End) {
		block.Headers[untilHeader] = r.End.UTC().Format(time.RFC3339)
	}
	var b bytes.Buffer
	if err = pem.Encode(&b, block); err != nil {
		return nil, fmt.Errorf("encode a signing key: %w", err)
	}
	return b.Bytes(), nil
}

// KeyStates returns the states of the keys in the file at path.
func KeyStates(path string, now time.Time) ([]KeyState, error) {
	b, err := seal.ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	_, keys, err := parseKeys(b)
	if err != nil {
		return nil, fmt.Errorf("read signing keys %s: %w", path, err)
	}
	t := keySchedule{keys: keys}
	return t.states(now), nil
}
