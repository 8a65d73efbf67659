// Package mailer takes mails from the outbox and hands them to a sender. The table's stream in AWS, or the change feed
// on a laptop, delivers each mail when it is queued. A round each minute takes the mails that the feed did not deliver
// or that could not be sent. A mail stays in its outbox partition until it is sent or given up. Only one process tries
// it at a time, so it is sent once, except after a crash between sending and deleting it. A mail that cannot be sent
// delays no other mail, and codes are sent before all other mails.
package mailer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	sendTimeout = 10 * time.Second
	sideBySide  = 10 // mails sent at once
	codesShare  = 4  // the part of the rate that is reserved for codes
)

// Mailer sends queued mails with a sender.
type Mailer struct {
	*platform.Platform
	sender    mail.Sender
	perSecond int
}

// New returns a mailer that sends at most perSecond mails a second, counted over all processes; 0 means no limit.
func New(p *platform.Platform, sender mail.Sender, perSecond int) *Mailer {
	return &Mailer{p, sender, perSecond}
}

// DefaultRate is the number of mails a second that SES accepts from an account that has just left its sandbox (SES
// Developer Guide, "Service quotas"). The account's own rate grows with use; GetAccount returns it.
const DefaultRate = 14

// withMailerPartitions permits ctx to access the partitions that the mailer writes.
func withMailerPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, mail.Prefix, deadPartition)
}

// Deliver sends the mails among the items of the change feed, codes first, and ignores other items. It returns the
// items that must be delivered again; if they are not, a round finds them. A note that exceeds the rate of this second
// is left to a round, so that no mail waits behind it.
func (m *Mailer) Deliver(ctx context.Context, items []table.Item) []table.FeedFailure {
	var mails []table.Item
	for _, kind := range []mail.Kind{mail.Code, mail.Note} {
		for _, it := range items {
			if mail.KindOf(it.PK) == kind && isNew(it) {
				mails = append(mails, it)
			}
		}
	}
	return m.sendAll(withMailerPartitions(ctx), mails, m.hasRoom)
}

// isNew reports whether a mail is untried. The feed also delivers the rows that an attempt has changed. An unreadable
// mail counts as new; its attempt reports the error.
func isNew(it table.Item) bool {
	q, err := table.Decode[mail.Queued](it)
	return err != nil || q.Tries == 0
}

// room reports whether a mail of a kind may be sent now. It may wait until the mail may be sent.
type room func(context.Context, mail.Kind) (bool, error)

// sendAll sends the mails concurrently.
func (m *Mailer) sendAll(ctx context.Context, items []table.Item, r room) []table.FeedFailure {
	var g errgroup.Group
	var mu sync.Mutex
	var failed []table.FeedFailure
	g.SetLimit(sideBySide)
	for _, it := range items {
		g.Go(func() error {
			if err := m.try(ctx, it, r); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, table.FeedFailure{Key: it.Key, Err: err})
			}
			return nil
		})
	}
	_ = g.Wait() // each item carries its own failure
	slices.SortFunc(failed, func(a, b table.FeedFailure) int {
		return slices.Compare([]string{a.PK, a.SK}, []string{b.PK, b.SK})
	})
	return failed
}

// hasRoom is the room of mails from the change feed: a code waits for it, a note does not.
func (m *Mailer) hasRoom(ctx context.Context, kind mail.Kind) (bool, error) {
	if kind == mail.Code {
		return m.awaitRoom(ctx, kind)
	}
	return m.takeRoom(ctx, kind), nil
}

// awaitRoom waits until the rate permits the mail.
func (m *Mailer) awaitRoom(ctx context.Context, kind mail.Kind) (bool, error) {
	for !m.takeRoom(ctx, kind) {
		now := m.Clock.Now()
		if err := m.Clock.Sleep(ctx, now.Truncate(time.Second).Add(time.Second).Sub(now)); err != nil {
			return false, fmt.Errorf("wait for the rate of mails: %w", err)
		}
	}
	return true, nil
}

// takeRoom counts a mail against the rate of this second, and reports whether it may be sent. Codes may use the whole
// rate; notes may use it except for the share of codes. If the counter fails, the mail may be sent.
func (m *Mailer) takeRoom(ctx context.Context, kind mail.Kind) bool {
	if m.perSecond == 0 {
		return true
	}
	rule := ratelimit.Rule{Name: "mails", Max: int64(m.perSecond), Per: time.Second}
	if kind == mail.Note {
		rule.Max = max(rule.Max-codesShare, 1)
	}
	ok, err := ratelimit.TakeUse(ctx, m.Table, m.Clock.Now(), rule, "")
	if err != nil {
		m.Log.ErrorContext(ctx, "mails are not counted", "error", err.Error())
	}
	return ok
}

// sendQueued decrypts, renders and sends a mail. On failure it also returns the mail, as far as it was decrypted.
func (m *Mailer) sendQueued(ctx context.Context, it table.Item) (mail.Mail, error) {
	letter, event, err := mail.OpenQueued(ctx, m.Sealer, it)
	if err != nil || letter.Template == mail.Nothing {
		return letter, err
	}
	message, err := mail.RenderMessage(letter, event, m.Clock.Now(), m.Settings.BaseURL)
	if err != nil {
		return letter, err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return letter, fault.Wrap("send mail "+event, m.sender.Send(ctx, message))
}
