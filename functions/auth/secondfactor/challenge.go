package secondfactor

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ChallengePrefix is the prefix of the partition keys of challenges of passkeys.
const ChallengePrefix = "PASSKEY#"

// ChallengePartition holds the challenges of passkeys.
const ChallengePartition table.Partition = ChallengePrefix + "*"

// ChallengeTTL is how long a challenge is good.
const ChallengeTTL = 5 * time.Minute

const challengeSize = 32 // bytes; WebAuthn wants 16 at least

// The purposes of a challenge.
const (
	toRegister = "register"
	toLogIn    = "login"
)

// challenge is an issued challenge. The challenge itself is not in its key.
type challenge struct {
	Purpose string `json:"purpose"`
	User    string `json:"user,omitempty"`    // who registers a passkey
	Address string `json:"address,omitempty"` // digest of the address that a log-in was begun for
}

func (f Factors) challengeKey(text string) table.Key {
	return table.Key{PK: ChallengePrefix + identity.Digest(f.Settings.CodeKey(), "passkey", text), SK: "C"}
}

// issueChallenge stores a new challenge, and returns its text in base64url.
func (f Factors) issueChallenge(ctx context.Context, c challenge) (string, error) {
	raw := make([]byte, challengeSize)
	_, _ = rand.Read(raw) // crypto/rand never fails
	text := base64.RawURLEncoding.EncodeToString(raw)
	it, err := table.NewItem(f.challengeKey(text), c)
	if err != nil {
		return "", err
	}
	it.Expires = f.Clock.Now().Add(ChallengeTTL)
	_, err = f.Table.Write(table.Within(ctx, ChallengePrefix), table.Put(it, table.Absent()))
	return text, fault.Wrap("store a challenge", err)
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
	return fault.New(fault.Invalid, "the challenge is unknown, used or older than 5 minutes: begin again")
}
