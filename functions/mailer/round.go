package mailer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
)

const (
	roundPage = 100
	roundTime = 40 * time.Second // for one round, less than the timeout of the function
)

// Round sends the due mails: failed mails after their pause, mails above the rate, and mails that the change feed
// never delivered, because its records expire after a day. Codes of all partitions go first. Call it each minute or
// more often. It is safe to call concurrently: two rounds do not try the same mail.
func (m *Mailer) Round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(withMailerPartitions(ctx), roundTime)
	defer cancel()
	var failures []error
	for _, kind := range []mail.Kind{mail.Code, mail.Note} {
		for _, pk := range mail.Partitions(kind) {
			if err := m.partition(ctx, pk); err != nil && ctx.Err() == nil { // the time is up: the next round continues
				failures = append(failures, err)
			}
		}
	}
	return errors.Join(failures...)
}

// partition sends the due mails of a partition, the oldest first.
func (m *Mailer) partition(ctx context.Context, pk string) error {
	var failures []error
	for cursor, more := "", true; more; more = cursor != "" {
		// An eventually consistent read suffices: the next round finds a missed mail, and a deleted one is not sent
		// again because each attempt is counted first.
		page, err := m.Table.Query(table.Eventually(ctx), table.Query{PK: pk, Limit: roundPage, Cursor: cursor})
		if err != nil {
			return errors.Join(append(failures, fmt.Errorf("list mails of %s: %w", pk, err))...)
		}
		due, err := m.due(page.Items)
		failures = append(failures, err)
		for _, f := range m.sendAll(ctx, due, m.awaitRoom) {
			failures = append(failures, f.Err)
		}
		cursor = page.Next
	}
	return errors.Join(failures...)
}

// due returns the mails that are due now.
func (m *Mailer) due(items []table.Item) ([]table.Item, error) {
	var out []table.Item
	var failures []error
	for _, it := range items {
		q, err := table.Decode[mail.Queued](it)
		if failures = append(failures, err); err == nil && q.Due <= m.Clock.Now().Unix() {
			out = append(out, it)
		}
	}
	return out, errors.Join(failures...)
}
