package identity

import (
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The second factors that a user can prove, in Session.Factors.
const (
	FactorTOTP     = "totp"
	FactorRecovery = "recovery" // a recovery code
	FactorPasskey  = "passkey"  // counts as both factors
)

// SecondFactor describes the second factor of a caller, as the authorizer found it.
type SecondFactor string

// The second factors of a caller.
const (
	NoFactor    SecondFactor = ""      // the user has none
	StaleFactor SecondFactor = "stale" // the session has not proved it within StepUpWindow
	FreshFactor SecondFactor = "fresh" // the session has
)

// StepUpWindow is how long a proof of the second factor is enough for sensitive operations.
const StepUpWindow = 10 * time.Minute

// SecondFactorAt returns the second factor of u as a caller at now, whose session proved it at proved, in Unix seconds;
// 0 for never.
func (u User) SecondFactorAt(now time.Time, proved int64) SecondFactor {
	switch {
	case !u.HasSecondFactor():
		return NoFactor
	case proved > 0 && now.Unix()-proved <= int64(StepUpWindow.Seconds()):
		return FreshFactor
	}
	return StaleFactor
}

// CheckStepUp returns nil if c may do something sensitive: the user has no second factor, or the session proved it
// within StepUpWindow. Otherwise it returns fault.Denied with the way out. Operations declare it (rest.Op.StepUp); what
// depends on the body calls it (membership.MayGrant).
func (c Caller) CheckStepUp() error {
	switch {
	case c.SecondFactor == NoFactor, c.SecondFactor == FreshFactor:
		return nil
	case c.Session == "":
		return ErrSecondFactor("a personal access token cannot prove one; log in with POST /auth/login")
	}
	return ErrSecondFactor("this wants one that was proved within the last 10 minutes; send refreshToken and " +
		"otp to POST " +
		"/auth/refresh, or log in again with a passkey, then repeat")
}

// SecondFactorPrefix is the prefix of the sort keys of a user's second factors: codes of an app, recovery codes and
// passkeys. They lie in the partition of the user and are erased with it.
const SecondFactorPrefix = "MFA#"

// SecondFactorKey returns the key of a record of a user's second factors.
func SecondFactorKey(user, name string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: SecondFactorPrefix + name}
}

// MeetsMFA reports whether an organization that demands a second factor admits the session of u: the session has proved
// one that u still has, or the organization's own identity provider vouched for u, which then is responsible for it.
func (s Session) MeetsMFA(u User) bool {
	return s.SSO != "" || s.Proved > 0 && u.HasSecondFactor()
}

// MeetsMFA is Session.MeetsMFA for a personal access token, by the session that made it.
func (t PAT) MeetsMFA(u User) bool {
	return t.SSO != "" || t.MFA && u.HasSecondFactor()
}

// AddProof records that the session's user has proved a second factor at now. It returns the changes that store it.
func (s *Session) AddProof(factor string, now time.Time) []table.Change {
	if !slices.Contains(s.Factors, factor) {
		s.Factors = append(slices.Clone(s.Factors), factor)
	}
	s.Proved, s.Pending = now.Unix(), false
	return []table.Change{
		table.Set("factors", s.Factors), table.Set("proved", s.Proved), table.Remove("pending"),
	}
}

// ErrSecondFactor returns the refusal of a log-in whose second factor is missing, with the way out.
func ErrSecondFactor(wayOut string) error {
	return fault.New(fault.Denied, "a second factor is needed: %s", wayOut)
}
