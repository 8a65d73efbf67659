package mailer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	retryPartition = "MAIL#RETRY"
	deadPartition  = "MAIL#DEAD"
	retryPage      = 100
	retryTime      = 40 * time.Second // of one round, below the time-out of the function
	keepDead       = 14 * 24 * time.Hour
	longestReason  = 500
)

// pauses lie between the tries of a mail. All of them end before the mail does (mail.TTL).
var pauses = []time.Duration{15 * time.Second, time.Minute, 3 * time.Minute, 10 * time.Minute, 25 * time.Minute}

// waiting is a mail that is to be tried again. It holds what the outbox held.
type waiting struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
	Tries  int    `json:"tries"`
	Due    int64  `json:"due"`
}

// dead is a mail that was given up.
type dead struct {
	ID       string        `json:"id"`
	Template mail.Template `json:"template,omitempty"` // none: it could not be opened
	Sealed   []byte        `json:"sealed"`
	Tries    int           `json:"tries"`
	Why      string        `json:"why"`
	At       time.Time     `json:"at"`
}

// failure is why a mail is given up.
type failure struct {
	tries    int
	why      string
	template mail.Template
}

// isFinal reports whether trying again cannot help: the message or its address will never be taken (see mail.Sender). What
// cannot be opened is tried again: the key service may be away.
func isFinal(err error) bool { return fault.Is(err, fault.Invalid) }

// redactAddress returns an error as it is kept and logged: without the address, which servers like to repeat.
func redactAddress(err error, address string) string {
	s := err.Error()
	if address != "" {
		s = strings.ReplaceAll(s, address, "the address")
	}
	return s[:min(len(s), longestReason)]
}

// postponeMail puts a mail aside that could not be sent for now, until its first pause has passed.
func (m mailer) postponeMail(ctx context.Context, it table.Item, why string) error {
	w, err := table.Decode[waiting](it)
	if err != nil {
		return err
	}
	m.Log.WarnContext(ctx, "a mail could not be sent and is tried again", "mail", w.ID, "why", why)
	w.Tries, w.Due = 1, m.Clock.Now().Add(pauses[0]).Unix()
	later, err := table.NewItem(table.Key{PK: retryPartition, SK: w.ID}, w)
	if err != nil {
		return err
	}
	later.Expires = it.Expires
	return m.noteDelivered(ctx, w.ID, table.Put(later))
}

// giveUpMail returns a mail up, and keeps it with the reason for whoever looks after the service.
func (m mailer) giveUpMail(ctx context.Context, it table.Item, f failure) error {
	m.Log.ErrorContext(ctx, "a mail is given up", "mail", it.SK, "template", string(f.template), "tries", f.tries, "why", f.why)
	w, err := table.Decode[waiting](it)
	if err != nil {
		return err
	}
	d := dead{ID: it.SK, Template: f.template, Sealed: w.Sealed, Tries: f.tries, Why: f.why, At: m.Clock.Now()}
	grave, err := table.NewItem(table.Key{PK: deadPartition, SK: it.SK}, d)
	if err != nil {
		return err
	}
	grave.Expires = d.At.Add(keepDead)
	return m.noteDelivered(ctx, it.SK, table.Put(grave), table.Delete(table.Key{PK: retryPartition, SK: it.SK}))
}

// RetryHandler makes the function that tries again what could not be sent, when its pause has passed. Call it each minute or
// more often; two at once do not try the same mail.
func RetryHandler(p *platform.Platform, sender mail.Sender) func(context.Context) error {
	return mailer{p, sender}.retry
}

func (m mailer) retry(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(withMailerPartitions(ctx), retryTime)
	defer cancel()
	var failures []error
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := m.Table.Query(ctx, table.Query{PK: retryPartition, Limit: retryPage, Cursor: cursor})
		if err != nil {
			return errors.Join(append(failures, fmt.Errorf("list mails to try again: %w", err))...)
		}
		failures, cursor = append(failures, m.round(ctx, page.Items)...), page.Next
	}
	return errors.Join(failures...)
}

// round tries what is due, until the time is up: the next round goes on.
func (m mailer) round(ctx context.Context, items []table.Item) (failures []error) {
	for _, it := range items {
		if ctx.Err() != nil {
			break
		}
		if err := m.again(ctx, it); err != nil {
			failures = append(failures, err)
		}
	}
	return failures
}

// again tries a mail whose pause has passed. The try is counted before it is made, so that nobody else makes it, and one
// that ends the process is counted too.
func (m mailer) again(ctx context.Context, it table.Item) error {
	w, err := table.Decode[waiting](it)
	if err != nil || w.Due > m.Clock.Now().Unix() {
		return err
	}
	next := m.Clock.Now().Add(pauses[min(w.Tries, len(pauses)-1)]).Unix()
	_, err = m.Table.Write(ctx, table.Update(it.Key, []table.Change{table.Add("tries", 1), table.Set("due", next)}, table.Equal("tries", w.Tries)))
	if _, others := errors.AsType[*table.ConditionError](err); others {
		return nil
	}
	if err != nil {
		return fmt.Errorf("count a try of mail %s: %w", w.ID, err)
	}
	letter, err := m.sendQueued(ctx, it)
	switch tries := w.Tries + 1; {
	case err == nil:
		_, err = m.Table.Write(ctx, table.Delete(it.Key))
		return fault.Wrap("forget mail "+w.ID+", which was sent", err)
	case isFinal(err) || tries > len(pauses):
		return m.giveUpMail(ctx, it, failure{tries, redactAddress(err, letter.To), letter.Template})
	default:
		m.Log.WarnContext(ctx, "a mail could not be sent and is tried again", "mail", w.ID, "tries", tries, "why", redactAddress(err, letter.To))
		return nil
	}
}
