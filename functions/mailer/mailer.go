// Package mailer takes mails out of the outbox and hands them to a sender. It is driven by the table's stream in AWS and
// by the change feed on a laptop; either may deliver a mail more than once, and it is sent once, but for a crash between
// sending and noting it. A mail that cannot be sent holds up no other: it is tried again later, and given up in the end.
package mailer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Function takes the mails among items of the change feed, and leaves the others alone. On an error, which is one of the
// store, deliver the same items again.
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
	sendTimeout = 10 * time.Second
	takenPrefix = "MAIL#SENT#"
	keepTaken   = 48 * time.Hour // longer than the change feed is kept
)

// withMailerPartitions lets ctx touch what the mailer writes.
func withMailerPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, takenPrefix, retryPartition, deadPartition)
}

// deliver goes on after a mail that could not be taken: one does not hold up the others.
func (m mailer) deliver(ctx context.Context, items []table.Item) error {
	var failures []error
	for _, it := range items {
		if it.PK != mail.Partition {
			continue
		}
		if err := m.take(withMailerPartitions(ctx), it); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// take sends a mail that the feed brings, or puts it aside for later or for good. In each case it is noted as taken.
func (m mailer) take(ctx context.Context, it table.Item) error {
	if !it.Expires.IsZero() && !it.Expires.After(m.Clock.Now()) {
		m.Log.WarnContext(ctx, "mail expired before it was sent", "mail", it.SK)
		return nil
	}
	taken, err := m.taken(ctx, it.SK)
	if err != nil || taken {
		return err
	}
	letter, err := m.sendQueued(ctx, it)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("send mail %s: %w", it.SK, ctx.Err())
	case err == nil && letter.Template == mail.Nothing:
		return nil
	case err == nil:
		return m.noteDelivered(ctx, it.SK)
	case isFinal(err):
		return m.giveUpMail(ctx, it, failure{1, redactAddress(err, letter.To), letter.Template})
	default:
		return m.postponeMail(ctx, it, redactAddress(err, letter.To))
	}
}

// sendQueued opens, writes and sends a mail. It gives the mail also when it fails, as far as it could be opened.
func (m mailer) sendQueued(ctx context.Context, it table.Item) (mail.Mail, error) {
	letter, event, err := mail.OpenQueued(ctx, m.Sealer, it)
	if err != nil || letter.Template == mail.Nothing {
		return letter, err
	}
	message, err := mail.RenderMessage(letter, event, m.Clock.Now())
	if err != nil {
		return letter, err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return letter, fault.Wrap("send mail "+event, m.sender.Send(ctx, message))
}

func takenKey(event string) table.Key { return table.Key{PK: takenPrefix + event, SK: "S"} }

func (m mailer) taken(ctx context.Context, event string) (bool, error) {
	_, err := m.Table.Get(ctx, takenKey(event))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, fault.Wrap("look whether mail "+event+" was taken", err)
}

// taking returns the write that notes a mail as taken, with those that say what became of it.
func (m mailer) taking(event string) (table.Write, error) {
	now := m.Clock.Now()
	it, err := table.NewItem(takenKey(event), struct {
		At time.Time `json:"at"`
	}{now})
	it.Expires = now.Add(keepTaken)
	return table.Put(it), err
}

func (m mailer) noteDelivered(ctx context.Context, event string, more ...table.Write) error {
	w, err := m.taking(event)
	if err != nil {
		return err
	}
	return fault.Wrap("note that mail "+event+" was taken", m.Table.Transact(ctx, append(more, w)...))
}
