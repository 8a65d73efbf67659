package auth

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/foundation/fault"
)

// These limits bound the guesses at the password and at the codes of one address, wherever they come from, by the
// standing of the client. docs/security.md computes the probability of a hit from them; TestOddsOfGuessing does too.
var (
	// Below a quarter of an hour: the owner gets in within that time after the last guess of somebody else.
	passwordDelays = []time.Duration{
		time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 14 * time.Minute,
	}
	passwordGuesses = map[standing]ratelimit.Backoff{
		stranger:    {Name: "password-stranger", Free: 10, Delays: passwordDelays, PerYear: 200},
		knownSource: {Name: "password-source", Free: 10, Delays: passwordDelays, PerYear: 100},
		knownDevice: {Name: "password-device", Free: 10, Delays: passwordDelays, PerYear: 500},
	}
	codeGuesses = map[standing]ratelimit.Backoff{
		stranger:    {Name: "code-stranger", PerDay: 15, PerYear: 30},
		knownSource: {Name: "code-source", PerDay: 15, PerYear: 20},
		knownDevice: {Name: "code-device", PerDay: 50, PerYear: 200},
	}
)

// logInByPassword returns the account of the address if the password is right, within the limits of guesses.
func (s *service) logInByPassword(ctx context.Context, address, password string) (identity.User, error) {
	u, err := s.accounts.Find(ctx, address)
	if err != nil {
		return u, err
	}
	c, err := s.identifyClient(ctx, address, u)
	if err != nil {
		return u, err
	}
	forgive, err := s.takePasswordGuess(ctx, c)
	if err != nil {
		return u, err
	}
	u, err = s.authenticate(ctx, u, password)
	if !fault.Is(err, fault.Unauthenticated) {
		forgive(ctx)
	}
	return u, err
}

// takePasswordGuess counts a log-in as a wrong guess before its password is checked. Call forgive if it was not wrong.
// It counts also for addresses without an account. A refused log-in writes nothing and hashes nothing.
func (s *service) takePasswordGuess(ctx context.Context, c client) (forgive func(context.Context), err error) {
	who := c.who()
	if c.standing == knownSource {
		who = fmt.Sprint(who, c.epoch) // a reset ends the wait of a program that used the old password
	}
	at := s.Clock.Now()
	guess, wait, err := passwordGuesses[c.standing].Take(ctx, s.Table, at, who)
	if err != nil {
		s.Log.ErrorContext(ctx, "a guess was not counted", "error", err.Error())
	}
	if wait > 0 {
		return nil, fault.New(fault.Denied, "too many attempts: wait %s and try again, or ask for a link that sets a "+
			"new password with POST /auth/password/forget", ratelimit.DescribeWait(wait))
	}
	if c.standing != knownDevice { // others at the same place must not keep a known device out
		err = s.takeRateLimit(ctx, loginFailuresPerSource, c.source)
	}
	if err != nil {
		s.returnGuess(ctx, guess)
		return nil, err
	}
	return func(ctx context.Context) {
		ctx = context.WithoutCancel(ctx) // a client that disconnects has not failed either
		s.returnGuess(ctx, guess)
		if c.standing != knownDevice {
			s.returnRateLimit(ctx, rateLimitUse{loginFailuresPerSource, c.source}, at)
		}
	}, nil
}

func (s *service) returnGuess(ctx context.Context, g ratelimit.Guess) {
	if err := g.Return(ctx, s.Table); err != nil {
		s.Log.ErrorContext(ctx, "a guess was not given back", "error", err.Error())
	}
}

// takeCodeGuess counts a guess at a code that has tries left.
func (s *service) takeCodeGuess(ctx context.Context, c client) (ratelimit.Guess, error) {
	guess, wait, err := codeGuesses[c.standing].Take(ctx, s.Table, s.Clock.Now(), c.who())
	if err != nil {
		s.Log.ErrorContext(ctx, "a guess was not counted", "error", err.Error())
	}
	if wait > 0 {
		return guess, errCode()
	}
	return guess, nil
}

// acceptsCodes reports whether a client could use a code now. If not, its mail has the link alone.
func (s *service) acceptsCodes(ctx context.Context, c client) bool {
	wait, err := codeGuesses[c.standing].Wait(ctx, s.Table, s.Clock.Now(), c.who())
	if err != nil {
		s.Log.ErrorContext(ctx, "guesses were not read", "error", err.Error())
	}
	return wait == 0
}
