package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	ticketTTL    = 10 * time.Minute
	ticketPrefix = "RESET#"
	ticketMark   = "lampt_"
)

// ticket lets the user replace the password, once.
type ticket struct {
	// the account; empty for the link of a mail that was never sent
	User  string `json:"user"`
	Epoch int64  `json:"epoch"` // User.CredentialEpoch: a ticket ends with the sessions of its time
}

// ticketFor returns a ticket for the account of u as it is now.
func ticketFor(u identity.User) ticket { return ticket{u.ID, u.CredentialEpoch()} }

func (s *service) ticketKey(token string) table.Key {
	return table.Key{PK: ticketPrefix + identity.Digest(s.Settings.CodeKey(), "ticket", token), SK: "T"}
}

// exchangeCodeForTicket exchanges a code for a ticket.
func (s *service) exchangeCodeForTicket(ctx context.Context, user string, use table.Write) (Validated, error) {
	u, err := s.findResetUser(ctx, user)
	if err != nil {
		return Validated{}, err
	}
	token := ticketMark + rand.Text() + rand.Text()
	it, err := table.NewItem(s.ticketKey(token), ticketFor(u))
	if err != nil {
		return Validated{}, err
	}
	it.Expires = s.Clock.Now().Add(ticketTTL)
	if err = s.commitOnce(ctx, use, table.Put(it)); err != nil {
		return Validated{}, err
	}
	return Validated{Verified: true, ResetToken: &token}, nil
}

// commitOnce commits the write that uses up a code or ticket together with the permitted change. Only one of two
// concurrent calls succeeds.
func (s *service) commitOnce(ctx context.Context, use table.Write, ws ...table.Write) error {
	err := s.Table.Transact(ctx, append([]table.Write{use}, ws...)...)
	if _, late := errors.AsType[*table.ConditionError](err); late {
		return errCode()
	}
	return fault.Wrap("use up "+use.Item.PK, err)
}

// PasswordReset is the body of PATCH /auth/password/reset.
type PasswordReset struct {
	ResetToken string `json:"resetToken,omitempty" maxLength:"128" doc:"From PATCH /auth/otp/validate; or else email and otp"`
	Email      string `json:"email,omitempty" maxLength:"254" doc:"The address that the code was mailed to"`
	OTP        string `json:"otp,omitempty" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code of POST /auth/password/forget"`
	Password   string `json:"password" minLength:"12" maxLength:"128" doc:"The new password, 12 to 128 characters"`
}

type resetInput struct{ Body PasswordReset }

func (s *service) resetPassword(ctx context.Context, in *resetInput) (Message, error) {
	if err := checkPassword(in.Body.Password, ""); err != nil {
		return Message{}, err
	}
	if err := s.takeRateLimit(ctx, codeTriesPerSource, requestSource(ctx)); err != nil {
		return Message{}, err
	}
	ctx = withAuthPartitions(ctx)
	u, use, err := s.authorizeReset(ctx, in)
	if err != nil {
		return Message{}, err
	}
	if err = checkTicketAddress(in.Body.Email, u); err != nil {
		return Message{}, err
	}
	if err = checkPassword(in.Body.Password, u.Email); err != nil { // once more: now the address is known
		return Message{}, err
	}
	if err = s.completeReset(ctx, u, in.Body.Password, use); err != nil {
		return Message{}, err
	}
	return Message{"the password is changed and every session has ended: log in with it"}, nil
}

// checkTicketAddress refuses a ticket that is sent with another person's address.
func checkTicketAddress(email string, u identity.User) error {
	if email == "" {
		return nil
	}
	if address, err := identity.NormalizeAddress(email); err != nil || address != u.Email {
		return errCode()
	}
	return nil
}

// findResetUser reads the account whose password is to be reset. For a deleted account it returns errCode.
func (s *service) findResetUser(ctx context.Context, user string) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(user))
	if fault.Is(err, fault.NotFound) {
		return u, errCode()
	}
	return u, fault.Wrap("read user "+user+" who resets the password", err)
}

// authorizeReset returns the user whose password the request may set, and the write that uses up the code or ticket.
func (s *service) authorizeReset(ctx context.Context, in *resetInput) (u identity.User, use table.Write, err error) {
	if in.Body.ResetToken != "" {
		return s.authorizeByTicket(ctx, in.Body.ResetToken)
	}
	if in.Body.Email == "" || in.Body.OTP == "" {
		return u, use, fault.New(fault.Invalid, "resetToken: send it, or email and otp")
	}
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return u, use, err
	}
	user, use, err := s.spendCodeTry(ctx, passwordReset, address, in.Body.OTP)
	if err != nil {
		return u, use, err
	}
	u, err = s.findResetUser(ctx, user)
	return u, use, err
}

// authorizeByTicket returns the user of a ticket. A second ticket is invalid once the first was used: an attacker
// could have it, and the new password must lock the attacker out.
func (s *service) authorizeByTicket(ctx context.Context, token string) (u identity.User, use table.Write, err error) {
	k := s.ticketKey(token)
	over := fault.New(fault.Unauthenticated, "resetToken: used, expired or unknown; ask for a new code")
	t, err := table.Read[ticket](ctx, s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return u, use, over
	}
	if err != nil {
		return u, use, fmt.Errorf("read reset ticket: %w", err)
	}
	if t.User == "" {
		return u, use, over
	}
	u, err = s.findResetUser(ctx, t.User)
	if fault.Is(err, fault.Unauthenticated) || err == nil && (u.CredentialEpoch() != t.Epoch || u.Disabled) {
		err = over
	}
	return u, table.Delete(k, table.Exists()), err
}

// completeReset sets a new password. The known devices and sources of the account are forgotten, apart from the client
// of this request.
func (s *service) completeReset(ctx context.Context, u identity.User, password string, use table.Write) error {
	if err := s.setPassword(ctx, u, password, use); err != nil {
		return err
	}
	s.rememberClient(ctx, u.ID)
	s.countReset(ctx, u)
	return nil
}

// setPassword ends every session by incrementing the user's epoch, and mails the user. A person who read the code
// owns the mailbox, so the address becomes verified.
func (s *service) setPassword(ctx context.Context, u identity.User, password string, use table.Write) error {
	hash, err := s.passwords.hashPassword(ctx, password)
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	post, err := mail.QueueMail(ctx, s.Sealer, now, mail.Mail{Template: mail.PasswordChanged, To: u.Email})
	if err != nil {
		return err
	}
	change := table.Update(identity.UserKey(u.ID), []table.Change{
		table.Set("password", hash), table.Set("verified", true), table.Set("updated", now), table.Add("epoch", 1),
	}, table.Equal("epoch", u.Epoch))
	return s.commitOnce(ctx, use, change, post)
}
