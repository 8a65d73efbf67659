package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// These are the purposes of a one-time code.
const (
	verification  = "email_verification"
	passwordReset = "password_reset"
)

const (
	codeTTL    = 10 * time.Minute
	codeTries  = 5
	codePrefix = "OTP#"
)

// code is the only valid code of a purpose and an address. It reveals neither the address nor the digits.
type code struct {
	User  string `json:"user"` // the account that it was made for; empty when the address has none
	Nonce string `json:"nonce"`
	Hash  string `json:"hash"`
	Left  int64  `json:"left"` // tries
}

// errCode returns the same error for a code that is wrong, used, replaced, expired, or was never issued.
func errCode() error {
	return fault.New(fault.Unauthenticated, "otp: wrong or expired code; ask for a new one if it does not work")
}

func (s *service) codeKey(purpose, address string) table.Key {
	return table.Key{PK: codePrefix + purpose + "#" + identity.Digest(s.Settings.Pepper, "email", address), SK: "O"}
}

func (s *service) codeHash(purpose, address, nonce, digits string) string {
	return identity.Digest(s.Settings.CodeKey(), "otp", purpose, address, nonce, digits)
}

// codeOrder is a code to be issued, with the template of its mail.
type codeOrder struct {
	purpose, address, user string // without a user the code is not stored
	template               mail.Template
	source                 string // who asks for it; empty: is counted elsewhere
}

// issueCode creates a code, which replaces the one before, and mails it, in one transaction with extra. Above a limit
// it does nothing. The caller's answer is the same in both cases, and an address without an account causes the same
// work as one with an account.
func (s *service) issueCode(ctx context.Context, o codeOrder, extra ...table.Write) error {
	put, digits, err := s.newCode(o)
	if err != nil {
		return err
	}
	m := mail.Mail{Template: o.template, To: o.address, Data: map[string]string{"code": digits}}
	post, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), m)
	if err != nil {
		return err
	}
	err = s.Table.Transact(ctx, slices.Concat(s.countIssued(o), []table.Write{put, post}, extra)...)
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		s.Log.InfoContext(ctx, "no code issued", "purpose", o.purpose, "why", failed.Error())
		return nil
	}
	return fault.Wrap("issue code for "+o.purpose, err)
}

// countIssued counts the code for the address, with or without an account.
func (s *service) countIssued(o codeOrder) []table.Write {
	now, who := s.Clock.Now(), s.codeKey(o.purpose, o.address).PK
	counts := []table.Write{
		ratelimit.CountWrite(now, codesPerMinute, who),
		ratelimit.CountWrite(now, codesPerHour, who),
	}
	if o.source != "" {
		counts = append(counts, ratelimit.CountWrite(now, codesPerSource, o.source))
	}
	return counts
}

func (s *service) newCode(o codeOrder) (table.Write, string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return table.Write{}, "", fmt.Errorf("make a code: %w", err)
	}
	digits := fmt.Sprintf("%06d", n)
	c := code{User: o.user, Nonce: rand.Text(), Left: codeTries}
	c.Hash = s.codeHash(o.purpose, o.address, c.Nonce, digits)
	if o.user == "" {
		c.Hash = rand.Text() // no digits give this
	}
	it, err := table.NewItem(s.codeKey(o.purpose, o.address), c)
	it.Expires = s.Clock.Now().Add(codeTTL)
	return table.Put(it), digits, err
}

// spendCodeTry uses one try of the current code before it compares, so that concurrent guesses get no more tries than
// sequential ones. It returns the code's user and the write that uses the code up, which belongs in the transaction
// of the permitted change.
func (s *service) spendCodeTry(ctx context.Context, purpose, address, digits string) (user string, use table.Write,
	err error,
) {
	k := s.codeKey(purpose, address)
	it, err := s.Table.Write(table.WithoutAttachment(ctx),
		table.Update(k, []table.Change{table.Add("left", -1)}, table.Exists(), table.Greater("left", 0)))
	if _, failed := errors.AsType[*table.ConditionError](err); failed {
		return "", use, errCode()
	}
	if err != nil {
		return "", use, fmt.Errorf("spend code for %s: %w", purpose, err)
	}
	c, err := table.Decode[code](it)
	if err != nil {
		return "", use, err
	}
	want := s.codeHash(purpose, address, c.Nonce, digits)
	if subtle.ConstantTimeCompare([]byte(c.Hash), []byte(want)) != 1 || c.User == "" {
		return "", use, errCode()
	}
	return c.User, table.Delete(k, table.Equal("nonce", c.Nonce)), nil
}
