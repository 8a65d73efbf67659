// Package mailer takes mails out of the outbox and hands them to a sender. It is driven by the table's stream in AWS and
// by the change feed on a laptop; either may deliver a mail more than once, and it is sent once, but for a crash between
// sending and noting it.
package mailer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/mail"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
)

// Function sends the mails among items of the change feed, and leaves the others alone. On an error, deliver the same
// items again.
type Function func(ctx context.Context, items []table.Item) error

type mailer struct {
	*platform.Platform
	sender mail.Sender
}

// Handler makes the function that hands mails to sender.
func Handler(p *platform.Platform, sender mail.Sender) Function {
	return mailer{p, sender}.deliver
}

const (
	sendTimeout = 20 * time.Second
	sentPrefix  = "MAIL#SENT#"
	keepSent    = 48 * time.Hour // longer than the change feed is kept
)

// deliver goes on after a mail that could not be sent: one bad address does not hold up the others.
func (m mailer) deliver(ctx context.Context, items []table.Item) error {
	var failures []error
	for _, it := range items {
		if it.PK != mail.Partition {
			continue
		}
		if err := m.one(ctx, it); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func (m mailer) one(ctx context.Context, it table.Item) error {
	if !it.Expires.IsZero() && !it.Expires.After(m.Clock.Now()) {
		m.Log.WarnContext(ctx, "mail expired before it was sent", "mail", it.SK)
		return nil
	}
	ctx = table.Within(ctx, sentPrefix)
	sent, err := m.sent(ctx, it.SK)
	if err != nil || sent {
		return err
	}
	letter, event, err := mail.Take(ctx, m.Sealer, it)
	if err != nil {
		return err
	}
	if letter.Template == mail.Nothing {
		return nil
	}
	if err = m.send(ctx, letter, event); err != nil {
		return err
	}
	return m.note(ctx, event)
}

func (m mailer) send(ctx context.Context, letter mail.Mail, event string) error {
	message, err := mail.Render(letter, event, m.Clock.Now())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return fault.Wrap("send mail "+event, m.sender.Send(ctx, message))
}

func sentKey(event string) table.Key { return table.Key{PK: sentPrefix + event, SK: "S"} }

func (m mailer) sent(ctx context.Context, event string) (bool, error) {
	_, err := m.Table.Get(ctx, sentKey(event))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, fault.Wrap("look whether mail "+event+" was sent", err)
}

func (m mailer) note(ctx context.Context, event string) error {
	now := m.Clock.Now()
	it, err := table.Row(sentKey(event), struct {
		At time.Time `json:"at"`
	}{now})
	if err != nil {
		return err
	}
	it.Expires = now.Add(keepSent)
	if _, err = m.Table.Write(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("note that mail %s was sent: %w", event, err)
	}
	return nil
}
