package auth

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/accounts"
)

// SignUpRequest is the body of POST /auth/signup.
type SignUpRequest struct {
	Email    string `json:"email" maxLength:"254" doc:"The address, ignoring case" example:"ada@example.com"`
	Password string `json:"password" minLength:"12" maxLength:"128" doc:"12 to 128 characters, not easy to guess"`
	Name     string `json:"name,omitempty" maxLength:"100" doc:"The person's name; default: the part of the address before the @" example:"Ada"`
}

type signUpInput struct{ Body SignUpRequest }

// SignedUp is the answer to POST /auth/signup.
type SignedUp struct {
	User SignedUpUser `json:"user"`
}

// SignedUpUser is an account that was created.
type SignedUpUser struct {
	ID       string `json:"id" doc:"The user" example:"usr_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Email    string `json:"email" doc:"The address, in the spelling that is kept"`
	Name     string `json:"name" doc:"The name"`
	Verified bool   `json:"emailVerified" doc:"False until the mailed code was used"`
}

func (s *service) signUp(ctx context.Context, in *signUpInput) (SignedUp, error) {
	var out SignedUp
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return out, err
	}
	if err = checkPassword(in.Body.Password, address); err != nil {
		return out, err
	}
	name, err := accounts.PersonName(in.Body.Name, address)
	if err != nil {
		return out, err
	}
	if err = s.takeRateLimit(ctx, signUpsPerSource, requestSource(ctx)); err != nil {
		return out, err
	}
	ctx = withAuthPartitions(ctx)
	old, err := s.accounts.Find(ctx, address)
	if err != nil {
		return out, err
	}
	u, err := s.newUser(ctx, address, in.Body.Password, name) // also when it is of no use: hashing takes time
	if err != nil {
		return out, err
	}
	contested, err := s.isContested(ctx, in.Body.Password, old)
	if err != nil {
		return out, err
	}
	if err = s.storeSignUp(ctx, u, old, contested); err != nil {
		return out, fmt.Errorf("sign up %s: %w", u.ID, err)
	}
	out.User.ID, out.User.Email, out.User.Name = u.ID, u.Email, u.Name
	return out, nil
}

// contestWindow is how long an unverified sign-up makes another one for the same address contested.
const contestWindow = 24 * time.Hour

// isContested reports whether another person may have signed up with the address recently: there is an unverified
// account with another password. It always computes a hash, so that its duration reveals nothing.
func (s *service) isContested(ctx context.Context, password string, old identity.User) (bool, error) {
	same, _, err := s.passwords.verifyPassword(ctx, password, old.Password)
	if err != nil {
		return false, fmt.Errorf("compare with the password of %s: %w", old.ID, err)
	}
	waits := old.ID != "" && !old.Verified && s.Clock.Now().Sub(old.Created) < contestWindow
	return waits && !same, nil
}

// storeSignUp stores the account u and mails its code. If the address is taken, it sends another mail and stores
// nothing. If two people have signed up with an address, only one reads its mails, and the code does not say whose
// password it confirms. The account then begins without a password, and the person who confirms the address sets one
// by a reset.
func (s *service) storeSignUp(ctx context.Context, u, old identity.User, contested bool) error {
	o := codeOrder{
		purpose: verification, address: u.Email, user: u.ID, template: mail.VerifyAddress, ticket: ticketFor(u),
		counted: true,
		asker:   client{address: identity.Digest(s.Settings.Pepper, "email", u.Email), source: requestSource(ctx)},
	}
	if contested {
		u.Password, o.template = "", mail.VerifyContested
	}
	if old.Verified {
		o.user, o.ticket, o.template = "", ticket{}, mail.AccountExists
		return s.issueCode(ctx, o)
	}
	writes, err := s.accounts.RegisterWrites(u, old)
	if err != nil {
		return err
	}
	return s.issueCode(ctx, o, writes...)
}

// CodeRequest is the body of the operations that mail a code.
type CodeRequest struct {
	Email string `json:"email" maxLength:"254" doc:"The address" example:"ada@example.com"`
}

type addressInput struct{ Body CodeRequest }

func (s *service) requestVerification(ctx context.Context, in *addressInput) (Message, error) {
	err := s.mailCode(ctx, verification, in.Body.Email, mail.VerifyAddress)
	return Message{"if an account with this address waits for verification, a code is on its way"}, err
}

func (s *service) requestPasswordReset(ctx context.Context, in *addressInput) (Message, error) {
	err := s.mailCode(ctx, passwordReset, in.Body.Email, mail.ResetPassword)
	return Message{"if there is an account with this address, a code is on its way"}, err
}

// mailCode issues a code to the account of an address, or does the same amount of work without an account.
func (s *service) mailCode(ctx context.Context, purpose, email string, t mail.Template) error {
	address, err := identity.NormalizeAddress(email)
	if err != nil {
		return err
	}
	ctx = withAuthPartitions(ctx)
	u, err := s.accounts.Find(ctx, address)
	if err != nil {
		return err
	}
	asker, err := s.identifyClient(ctx, address, u)
	if err != nil {
		return err
	}
	o := codeOrder{purpose: purpose, address: address, user: u.ID, template: t, ticket: ticketFor(u), asker: asker}
	if u.ID == "" || u.Disabled || (purpose == verification && u.Verified) {
		o.user, o.ticket, o.template = "", ticket{}, mail.Nothing
	}
	return s.issueCode(ctx, o)
}

// CodeValidation is the body of PATCH /auth/otp/validate.
type CodeValidation struct {
	Email   string `json:"email" maxLength:"254" doc:"The address that the code was mailed to"`
	OTP     string `json:"otp" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code" example:"042137"`
	Purpose string `json:"purpose,omitempty" enum:"email_verification,password_reset" default:"email_verification" doc:"The purpose of the code"`
}

type validateInput struct{ Body CodeValidation }

// Validated is the answer to a correct code.
type Validated struct {
	Verified   bool    `json:"verified" doc:"The code was right"`
	ResetToken *string `json:"resetToken" doc:"For password_reset, else null: lets PATCH /auth/password/reset set a password once, within 10 minutes"`
}

func (s *service) validateCode(ctx context.Context, in *validateInput) (Validated, error) {
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return Validated{}, err
	}
	if err = s.takeRateLimit(ctx, codeTriesPerSource, requestSource(ctx)); err != nil {
		return Validated{}, err
	}
	ctx = withAuthPartitions(ctx)
	user, use, err := s.spendCodeTry(ctx, in.Body.Purpose, address, in.Body.OTP)
	if err != nil {
		return Validated{}, err
	}
	if in.Body.Purpose == passwordReset {
		return s.exchangeCodeForTicket(ctx, user, use)
	}
	verify := table.Update(identity.UserKey(user),
		[]table.Change{table.Set("verified", true), table.Set("updated", s.Clock.Now())}, table.Exists())
	if err = s.commitOnce(ctx, use, verify); err != nil {
		return Validated{}, err
	}
	s.rememberClient(ctx, user)
	return Validated{Verified: true}, nil
}
