package mailer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	longestReason = 500
	noteTime      = 5 * time.Second // limits the write of an attempt's result
)

// pauses are the pauses between the attempts of a mail. All of them end before a code expires (mail.TTL). The first is
// longer than sendTimeout, so that a mail is not tried again while it is being sent.
var pauses = []time.Duration{15 * time.Second, time.Minute, 3 * time.Minute, 10 * time.Minute, 25 * time.Minute}

// failure is the reason that a mail is given up.
type failure struct {
	tries    int
	why      string
	template mail.Template
}

// isFinal reports whether a retry cannot help, because the message or its address is invalid (see mail.Sender). A mail
// that cannot be decrypted is retried, because the key service may be unavailable.
func isFinal(err error) bool { return fault.Is(err, fault.Invalid) }

// redactAddress returns the text of an error without the address, which servers often repeat. The text is stored and
// logged.
func redactAddress(err error, address string) string {
	s := err.Error()
	if address != "" {
		s = strings.ReplaceAll(s, address, "the address")
	}
	return s[:min(len(s), longestReason)]
}

// try sends a mail, as it was read, if the rate permits it and no other process has tried it since. A mail that cannot
// be sent stays in the outbox until its pause has passed, or is given up. It returns only errors of the store.
func (m *Mailer) try(ctx context.Context, it table.Item, r room) error {
	q, err := table.Decode[mail.Queued](it)
	if err != nil {
		return err
	}
	if q.Until <= m.Clock.Now().Unix() {
		return m.dropMail(ctx, it)
	}
	if ok, err := r(ctx, mail.KindOf(it.PK)); err != nil || !ok {
		return err
	}
	if mine, err := m.countTry(ctx, it.Key, q); err != nil || !mine {
		return err
	}
	letter, err := m.sendQueued(ctx, it)
	// the result is stored even if the time of the round is over
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	switch tries := q.Tries + 1; {
	case err == nil:
		_, err = m.Table.Write(ctx, table.Delete(it.Key))
		return fault.Wrap("forget mail "+q.ID+", which was sent", err)
	case isFinal(err) || tries > len(pauses):
		return m.giveUpMail(ctx, it, failure{tries, redactAddress(err, letter.To), letter.Template})
	default:
		m.Log.WarnContext(ctx, "a mail could not be sent and is tried again", "mail", q.ID, "tries", tries, "why",
			redactAddress(err, letter.To))
		return nil
	}
}

// countTry counts an attempt before it is made. No other process makes the same attempt, and an attempt that ends the
// process is counted too. It reports whether the caller may make the attempt; it returns false if the mail is gone,
// because then it was sent.
func (m *Mailer) countTry(ctx context.Context, k table.Key, q mail.Queued) (bool, error) {
	next := m.Clock.Now().Add(pauses[min(q.Tries, len(pauses)-1)]).Unix()
	_, err := m.Table.Write(ctx, table.Update(k, []table.Change{table.Add("tries", 1), table.Set("due", next)},
		table.Exists(), table.Equal("tries", q.Tries)))
	if _, others := errors.AsType[*table.ConditionError](err); others {
		return false, nil
	}
	return err == nil, fault.Wrap("count a try of mail "+q.ID, err)
}

// dropMail deletes an expired code.
func (m *Mailer) dropMail(ctx context.Context, it table.Item) error {
	m.Log.WarnContext(ctx, "a mail was too late and is not sent", "mail", it.SK)
	_, err := m.Table.Write(ctx, table.Delete(it.Key))
	return fault.Wrap("forget mail "+it.SK+", which is too late", err)
}

// giveUpMail stores a mail with the reason, so that an operator can send it again (Redrive).
func (m *Mailer) giveUpMail(ctx context.Context, it table.Item, f failure) error {
	m.Log.ErrorContext(ctx, "a mail is given up", "mail", it.SK, "template", string(f.template), "tries", f.tries,
		"why", f.why)
	q, err := table.Decode[mail.Queued](it)
	if err != nil {
		return err
	}
	d := Dead{
		ID: it.SK, Template: f.template, PK: it.PK, Sealed: q.Sealed, Until: q.Until, Tries: f.tries, Why: f.why,
		At: m.Clock.Now(),
	}
	kept, err := table.NewItem(deadKey(it.SK), d)
	if err != nil {
		return err
	}
	kept.Expires = d.At.Add(mail.Keep)
	err = m.Table.Transact(ctx, table.Put(kept), table.Delete(it.Key))
	if err != nil {
		return fmt.Errorf("give up mail %s: %w", it.SK, err)
	}
	return nil
}
