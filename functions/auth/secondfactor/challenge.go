package secondfactor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ChallengePrefix is the prefix of the partition keys of challenges of passkeys.
const ChallengePrefix = "PASSKEY#"

// ChallengePartition holds the challenges of passkeys.
const ChallengePartition table.Partition = ChallengePrefix + "*"

const challengeTTL = 5 * time.Minute

// The purposes of a challenge.
const (
	toRegister = "register"
	toLogIn    = "login"
)

// challenge is an issued challenge. The challenge itself is not in its key.
type challenge struct {
	Purpose string               `json:"purpose"`
	User    string               `json:"user,omitempty"`    // who registers a passkey
	Address string               `json:"address,omitempty"` // digest of the address that a log-in was begun for
	Session webauthn.SessionData `json:"session"`
}

func (f Factors) challengeKey(text string) table.Key {
	return table.Key{PK: ChallengePrefix + identity.Digest(f.Settings.CodeKey(), "passkey", text), SK: "C"}
}

func (f Factors) storeChallenge(ctx context.Context, c challenge) error {
	it, err := table.NewItem(f.challengeKey(c.Session.Challenge), c)
	if err != nil {
		return err
	}
	it.Expires = f.Clock.Now().Add(challengeTTL)
	_, err = f.Table.Write(table.Within(ctx, ChallengePrefix), table.Put(it, table.Absent()))
	return fault.Wrap("store a challenge", err)
}

// useChallenge returns an issued challenge and ends it: of several requests with one challenge, one succeeds.
func (f Factors) useChallenge(ctx context.Context, text, purpose string) (challenge, error) {
	ctx, k := table.WithoutAttachment(table.Within(ctx, ChallengePrefix)), f.challengeKey(text)
	c, err := table.Read[challenge](ctx, f.Table, k)
	if fault.Is(err, fault.NotFound) {
		return c, errChallenge()
	}
	if err != nil {
		return c, fmt.Errorf("read a challenge: %w", err)
	}
	_, err = f.Table.Write(ctx, table.Delete(k, table.Exists()))
	if _, used := errors.AsType[*table.ConditionError](err); used || err == nil && c.Purpose != purpose {
		return c, errChallenge()
	}
	return c, fault.Wrap("end a challenge", err)
}

// errChallenge returns the same error for a challenge that is unknown, used, too old, or for something else.
func errChallenge() error {
	return fault.New(fault.Unauthenticated, "the challenge is unknown, used or older than 5 minutes: begin again")
}
