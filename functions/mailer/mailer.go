// Package mailer takes mails out of the outbox and hands them to a sender. The table's stream in AWS, and the change feed on a
// laptop, bring each when it is queued; a round each minute takes what they did not bring, or what could not be sent. A mail lies
// in its outbox partition until it was sent or given up, and is tried by one at a time, so it is sent once, but for a crash
// between sending and deleting it. One that cannot be sent holds up no other, and codes go before anything else.
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
	codesShare  = 4  // of the rate, that only codes may use
)

// Mailer hands mails to a sender.
type Mailer struct {
	*platform.Platform
	sender    mail.Sender
	perSecond int
}

// New makes a mailer that sends at most perSecond mails a second, counted over all processes; 0 is as many as there are.
func New(p *platform.Platform, sender mail.Sender, perSecond int) *Mailer {
	return &Mailer{p, sender, perSecond}
}

// DefaultRate is how many mails a second SES takes of an account that has just left its sandbox (SES Developer Guide, "Service
// quotas"); the account's own rate grows with use, and GetAccount tells it.
const DefaultRate = 14

// withMailerPartitions lets ctx touch what the mailer writes.
func withMailerPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, mail.Prefix, deadPartition)
}

// Deliver takes the mails among items of the change feed, codes first, and leaves the others alone. It returns those that are to
// be delivered again; should nobody do that, a round finds them. A note for which there is no room in this second is left to a
// round, so that nothing waits behind it.
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

// isNew reports whether nobody has tried a mail yet: the feed also brings what a try notes of it. One that cannot be read is told
// of where it is tried.
func isNew(it table.Item) bool {
	q, err := table.Decode[mail.Queued](it)
	return err != nil || q.Tries == 0
}

// room reports whether a mail of the kind may be sent now, or waits until it may.
type room func(context.Context, mail.Kind) (bool, error)

// sendAll tries the mails side by side.
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
	_ = g.Wait() // each failure is told with its item
	slices.SortFunc(failed, func(a, b table.FeedFailure) int {
		return slices.Compare([]string{a.PK, a.SK}, []string{b.PK, b.SK})
	})
	return failed
}

// hasRoom is the room of what the change feed brings: a code waits for it, a note does not.
func (m *Mailer) hasRoom(ctx context.Context, kind mail.Kind) (bool, error) {
	if kind == mail.Code {
		return m.awaitRoom(ctx, kind)
	}
	return m.takeRoom(ctx, kind), nil
}

// awaitRoom waits for the second in which there is room.
func (m *Mailer) awaitRoom(ctx context.Context, kind mail.Kind) (bool, error) {
	for !m.takeRoom(ctx, kind) {
		now := m.Clock.Now()
		if err := m.Clock.Sleep(ctx, now.Truncate(time.Second).Add(time.Second).Sub(now)); err != nil {
			return false, fmt.Errorf("wait for the rate of mails: %w", err)
		}
	}
	return true, nil
}

// takeRoom counts a mail of this second, if there is room for it. Codes may use all of the rate, notes what is not theirs. A
// counter that is broken stops no mail.
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

// sendQueued opens, writes and sends a mail. It gives the mail also when it fails, as far as it could be opened.
func (m *Mailer) sendQueued(ctx context.Context, it table.Item) (mail.Mail, error) {
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
