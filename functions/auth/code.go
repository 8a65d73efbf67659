package auth

import (
	"cmp"
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
	// tries by the standing of the client, so that strangers do not use up the owner's
	Left       int64 `json:"left"`
	LeftSource int64 `json:"leftSource"`
	LeftDevice int64 `json:"leftDevice"`
}

// triesField is the member of a code that counts the tries of clients by their standing.
var triesField = map[standing]string{stranger: "left", knownSource: "leftSource", knownDevice: "leftDevice"}

// errCode returns the same error for a code that is wrong, used, replaced, expired, or was never issued.
func errCode() error {
	return fault.New(fault.Unauthenticated,
		"otp: wrong or expired code: ask for a new one, or follow the link in the mail")
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
	ticket                 ticket // of the link in the mail
	asker                  client
	// the requests of the asker's source are counted elsewhere
	counted bool
}

// issueCode creates a code, which replaces the one before, and a link, which does not, and mails them, in one
// transaction with extra. Above a limit it does nothing. The caller's answer is the same in both cases, and an address
// without an account causes the same work as one with an account.
func (s *service) issueCode(ctx context.Context, o codeOrder, extra ...table.Write) error {
	put, digits, err := s.newCode(o)
	if err != nil {
		return err
	}
	link, address, err := s.newLink(o)
	if err != nil {
		return err
	}
	if !s.acceptsCodes(ctx, o.asker) && address != "" {
		digits = "" // the mail has the link alone
	}
	m := mail.Mail{Template: o.template, To: o.address, Data: map[string]string{"code": digits, "link": address}}
	post, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), m)
	if err != nil {
		return err
	}
	err = s.Table.Transact(ctx, slices.Concat(s.countIssued(o), []table.Write{put, link, post}, extra)...)
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		s.Log.InfoContext(ctx, "no code issued", "purpose", o.purpose, "why", failed.Error())
		return nil
	}
	return fault.Wrap("issue code for "+o.purpose, err)
}

// countIssued counts the code for the address, with or without an account: by the place that asks for it, and by the
// standing of those who ask.
func (s *service) countIssued(o codeOrder) []table.Write {
	now, who := s.Clock.Now(), s.codeKey(o.purpose, o.address).PK
	counts := []table.Write{
		ratelimit.CountWrite(now, codesPerMinute, who+" "+o.asker.place()),
		ratelimit.CountWrite(now, codesPerHour, who+" "+o.asker.place()),
		ratelimit.CountWrite(now, codesPerAddress[o.asker.standing], who),
	}
	if !o.counted {
		counts = append(counts, ratelimit.CountWrite(now, codesPerSource, cmp.Or(o.asker.device, o.asker.source)))
	}
	return counts
}

// possibleCodes is how many codes there are, all with the same probability.
const possibleCodes = 1_000_000

func (s *service) newCode(o codeOrder) (table.Write, string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(possibleCodes))
	if err != nil {
		return table.Write{}, "", fmt.Errorf("make a code: %w", err)
	}
	digits := fmt.Sprintf("%06d", n)
	c := code{User: o.user, Nonce: rand.Text(), Left: codeTries, LeftSource: codeTries, LeftDevice: codeTries}
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
	u, err := s.accounts.Find(ctx, address)
	if err != nil {
		return "", use, err
	}
	asker, err := s.identifyClient(ctx, address, u)
	if err != nil {
		return "", use, err
	}
	c, err := s.takeCodeTry(ctx, s.codeKey(purpose, address), asker)
	if err != nil {
		return "", use, err
	}
	guess, err := s.takeCodeGuess(ctx, asker)
	if err != nil {
		return "", use, err
	}
	want := s.codeHash(purpose, address, c.Nonce, digits)
	if subtle.ConstantTimeCompare([]byte(c.Hash), []byte(want)) != 1 || c.User == "" {
		return "", use, errCode()
	}
	s.returnGuess(ctx, guess)
	return c.User, table.Delete(s.codeKey(purpose, address), table.Equal("nonce", c.Nonce)), nil
}

// takeCodeTry uses one try of the code under k that clients of this standing have, and returns the code.
func (s *service) takeCodeTry(ctx context.Context, k table.Key, asker client) (code, error) {
	field := triesField[asker.standing]
	it, err := s.Table.Write(table.WithoutAttachment(ctx),
		table.Update(k, []table.Change{table.Add(field, -1)}, table.Exists(), table.Greater(field, 0)))
	if _, failed := errors.AsType[*table.ConditionError](err); failed {
		return code{}, errCode()
	}
	if err != nil {
		return code{}, fmt.Errorf("spend a try of a code: %w", err)
	}
	return table.Decode[code](it)
}
