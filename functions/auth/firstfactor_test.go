package auth

import (
	"testing"
	"time"

	"lamplighter.dev/functions/auth/secondfactor"
)

// The thief of a session could otherwise set up a second factor of their own, after which the owner's password opens
// nothing any more. With a second factor, the step-up protects the account.
func TestFirstSecondFactor_NeedsALogInOfTheLastHour(t *testing.T) {
	for _, request := range []string{"POST /auth/mfa/totp", "POST /auth/mfa/passkeys"} {
		h := newFixture(t).quickly()
		h.register()
		caller := h.callerOf(h.logIn())
		h.Clock.Advance(secondfactor.FirstFactorWindow)
		h.Call(caller, request).Want(200)
		h.Clock.Advance(time.Second)
		h.Call(caller, request).Want(403, "log in again", "POST /auth/login")
		h.Call(h.callerOf(h.logIn()), request).Want(200)
	}
}

func TestFurtherSecondFactor_NeedsNoNewLogIn(t *testing.T) {
	e := newEnrolled(t)
	e.Clock.Advance(2 * time.Hour)
	e.Call(e.caller, "POST /auth/mfa/totp").Want(200)
	e.Call(e.caller, "POST /auth/mfa/passkeys").Want(200)
}
