// Package mail queues and sends mails. A mail is an item in an outbox partition, written in the same transaction as what
// it tells about; functions/mailer takes it from there to a Sender. What is in it is sealed, for it carries codes.
package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
)

// Partition is the outbox partition of mails.
const Partition = "MAIL" + table.OutboxSuffix

// Secret is the kind of secret that a waiting mail is sealed as.
const Secret = "mail"

// TTL is how long a mail waits to be sent; its code is of no use after that.
const TTL = time.Hour

// Template names the text of a mail.
type Template string

// The templates, with the keys that they want in Mail.Data. Whoever gives a name to something, or signs up with somebody
// else's address, could write that person a message through it: so subjects take none, and texts repeat one only without
// what makes it an address to click on.
const (
	VerifyAddress   Template = "verify_address"   // code
	VerifyContested Template = "verify_contested" // code
	AccountExists   Template = "account_exists"
	ResetPassword   Template = "reset_password" // code
	PasswordChanged Template = "password_changed"
	SessionReused   Template = "session_reused"
	Invitation      Template = "invitation"     // organisation: its name; inviter: an e-mail address
	TokenExpiring   Template = "token_expiring" // #nosec G101 -- name: of a personal access token; expires: a date
	ProviderAdded   Template = "provider_added"
	Nothing         Template = "nothing" // is not sent: it lets a request for an unknown address cost what one for a known address costs
)

// Mail is one mail to be sent.
type Mail struct {
	Template Template          `json:"template"`
	To       string            `json:"to"` // in the form of identity.NormalizeAddress
	Data     map[string]string `json:"data"`
}

// row is a mail in the outbox.
type row struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
}

// QueueMail makes the write that queues m; put it into the transaction of what causes the mail, whose ctx must be allowed
// the Partition.
func QueueMail(ctx context.Context, s seal.Sealer, at time.Time, m Mail) (table.Write, error) {
	plain, err := json.Marshal(m)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode mail %s: %w", m.Template, err)
	}
	event := id.New("mail", at)
	sealed, err := s.Seal(ctx, place(event), plain)
	if err != nil {
		return table.Write{}, fmt.Errorf("queue mail %s: %w", m.Template, err)
	}
	it, err := table.NewItem(table.Key{PK: Partition, SK: event}, row{event, sealed})
	it.Expires = at.Add(TTL)
	return table.Put(it), err
}

// OpenQueued opens a queued mail, and tells the id of its event.
func OpenQueued(ctx context.Context, s seal.Sealer, it table.Item) (Mail, string, error) {
	r, err := table.Decode[row](it)
	if err != nil {
		return Mail{}, "", err
	}
	plain, err := s.Open(ctx, place(r.ID), r.Sealed)
	if err != nil {
		return Mail{}, "", fmt.Errorf("take mail %s: %w", r.ID, err)
	}
	var m Mail
	if err = json.Unmarshal(plain, &m); err != nil {
		return Mail{}, "", fmt.Errorf("decode mail %s: %w", r.ID, err)
	}
	return m, r.ID, nil
}

func place(event string) seal.Place { return seal.Place{Kind: Secret, ID: event} }
