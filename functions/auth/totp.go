package auth

import (
	"context"

	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// TOTPSetup is a new secret for an authenticator app.
type TOTPSetup struct {
	Secret     string `json:"secret" doc:"The secret in base32, to type in" example:"JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"`
	OTPAuthURL string `json:"otpauthURL" doc:"The same as an address that authenticator apps open"`
	QRSVG      string `json:"qrSVG" doc:"The address as a QR code, an SVG document"`
}

// beginChange returns the change of a caller's second factors, with the account as it is stored. It refuses a session
// of single sign-on: the operator of an organization's provider could sign in as its members, and would set up a log-in
// to their other organizations.
func (s *service) beginChange(ctx context.Context) (secondfactor.Change, error) {
	c := identity.CallerFrom(ctx)
	if c.SSO {
		return secondfactor.Change{},
			fault.New(fault.Denied, "a session of single sign-on cannot change second factors: "+
				"log in with your own account")
	}
	u, err := s.factors.ReadUser(ctx, c.User)
	return secondfactor.Change{User: u, Session: c.Session}, err
}

// beginSetup is beginChange for a new second factor.
func (s *service) beginSetup(ctx context.Context) (secondfactor.Change, error) {
	c, err := s.beginChange(ctx)
	if err != nil {
		return c, err
	}
	return c, s.factors.CheckLogIn(ctx, c)
}

func (s *service) beginTOTP(ctx context.Context, _ *struct{}) (TOTPSetup, error) {
	c, err := s.beginSetup(ctx)
	if err != nil {
		return TOTPSetup{}, err
	}
	setup, err := s.factors.BeginTOTP(ctx, c.User)
	if err != nil {
		return TOTPSetup{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, After: factorEvent{"totp begun"}})
	return TOTPSetup{setup.Secret, setup.URL, setup.QR}, nil
}

// factorEvent is the audit row of a change of second factors.
type factorEvent struct {
	SecondFactor string `json:"secondFactor"`
}

// CodeOfApp is a body with a code of an authenticator app.
type CodeOfApp struct {
	OTP string `json:"otp" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code that the authenticator app shows now" example:"042137"`
}

type confirmTOTPInput struct{ Body CodeOfApp }

// RecoveryCodes is the answer that shows recovery codes.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recoveryCodes" doc:"Ten codes, each good for one log-in as otp; they are not shown again"`
}

func (s *service) confirmTOTP(ctx context.Context, in *confirmTOTPInput) (RecoveryCodes, error) {
	c, err := s.beginChange(ctx)
	if err != nil {
		return RecoveryCodes{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, After: factorEvent{"totp set up"}})
	codes, err := s.factors.ConfirmTOTP(ctx, c, in.Body.OTP)
	return RecoveryCodes{codes}, err
}

// SecondFactorCode is a body with a code of an authenticator app or a recovery code.
type SecondFactorCode struct {
	OTP string `json:"otp" minLength:"6" maxLength:"32" doc:"A code of the authenticator app, or a recovery code" example:"042137"`
}

type removeTOTPInput struct{ Body SecondFactorCode }

func (s *service) removeTOTP(ctx context.Context, in *removeTOTPInput) (rest.Deleted, error) {
	c, err := s.beginChange(ctx)
	if err != nil {
		return rest.Deleted{}, err
	}
	if !c.User.TOTP {
		return rest.Deleted{}, fault.New(fault.NotFound, "you have no authenticator app")
	}
	if _, err = s.proveFactor(ctx, c.User, factorProof{otp: in.Body.OTP}); err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, Before: factorEvent{"totp"}})
	return rest.Deleted{ID: c.User.ID}, s.factors.RemoveTOTP(ctx, c)
}
