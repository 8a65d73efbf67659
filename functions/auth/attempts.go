package auth

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/people/sessions"
)

// The handlers below count the uses of passwords and codes for the audit logs of the organizations of the address, if
// it has any. They do the same for an address without an account. They count only credentials that were looked at: an
// attempt above the limits of guesses is refused before (403), and counts nothing.

func (s *service) logInCounted(ctx context.Context, in *logInInput) (sessions.LoggedIn, error) {
	out, err := s.logIn(ctx, in)
	s.countRefused(ctx, attempts.LogIn, in.Body.Email, err)
	return out, err
}

func (s *service) validateCodeCounted(ctx context.Context, in *validateInput) (Validated, error) {
	out, err := s.validateCode(ctx, in)
	s.countRefused(ctx, attempts.ValidateCode, in.Body.Email, err)
	if err == nil {
		s.countAttempt(ctx, attempts.ValidateCode, in.Body.Email, http.StatusOK)
	}
	return out, err
}

func (s *service) resetPasswordCounted(ctx context.Context, in *resetInput) (Message, error) {
	out, err := s.resetPassword(ctx, in)
	s.countRefused(ctx, attempts.ResetPassword, in.Body.Email, err)
	return out, err
}

// countRefused counts a refused credential of an address. Without an address it is only measured.
func (s *service) countRefused(ctx context.Context, action, email string, err error) {
	if fault.Is(err, fault.Unauthenticated) {
		s.countAttempt(ctx, action, email, http.StatusUnauthorized)
	}
}

func (s *service) countAttempt(ctx context.Context, action, email string, status int) {
	who := ""
	if address, err := identity.NormalizeAddress(email); err == nil {
		who = attempts.ByAddress(s.Settings.Pepper, address)
	}
	attempts.New(s.Platform).Note(ctx, attempts.Attempt{
		Action: action, Status: status, Who: who, IP: rest.SourceIP(ctx), RequestID: rest.RequestID(ctx),
	})
}

// proveCodeCounted verifies a code of the second factor of u, who has proved the first one. A wrong one is counted
// besides the refused log-in, because it tells that the password was right.
func (s *service) proveCodeCounted(ctx context.Context, u identity.User, otp string) (string, error) {
	factor, err := s.factors.ProveCode(ctx, u, requestSource(ctx), otp)
	if fault.Is(err, fault.Unauthenticated) {
		s.countUser(ctx, attempts.ProveFactor, u, http.StatusUnauthorized)
	}
	return factor, err
}

// confirmPasskeyCounted only measures a refused passkey: it proves no account.
func (s *service) confirmPasskeyCounted(ctx context.Context, in *confirmPasskeyLogInInput) (sessions.LoggedIn, error) {
	out, err := s.confirmPasskeyLogIn(ctx, in)
	s.countRefused(ctx, attempts.LogIn, "", err)
	return out, err
}

// countReset counts a password that u has set by a code, a ticket or a link.
func (s *service) countReset(ctx context.Context, u identity.User) {
	s.countUser(ctx, attempts.ResetPassword, u, http.StatusOK)
}

func (s *service) countUser(ctx context.Context, action string, u identity.User, status int) {
	attempts.New(s.Platform).Note(ctx, attempts.Attempt{
		Action: action, Status: status, Who: u.ID, IP: rest.SourceIP(ctx), RequestID: rest.RequestID(ctx),
	})
}
