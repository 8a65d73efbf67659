package mailer

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const deadPartition = "MAIL#DEAD"

// Dead is a mail that was given up. It is kept for mail.Keep, the longest time that a mail may wait.
type Dead struct {
	ID       string        `json:"id"`
	Template mail.Template `json:"template,omitempty"` // empty if the mail could not be decrypted
	PK       string        `json:"pk"`                 // its outbox partition
	Sealed   []byte        `json:"sealed"`
	Until    int64         `json:"until"` // when it expires, in Unix seconds
	Tries    int           `json:"tries"`
	Why      string        `json:"why"`
	At       time.Time     `json:"at"`
}

func deadKey(id string) table.Key { return table.Key{PK: deadPartition, SK: id} }

// ListDead returns a page of the given-up mails, the oldest first.
func ListDead(ctx context.Context, s table.Store, cursor string) (dead []Dead, next string, err error) {
	const page = 100
	return table.ReadPage[Dead](table.Within(ctx, deadPartition), s,
		table.Query{PK: deadPartition, Limit: page, Cursor: cursor})
}

// Redrive queues a given-up mail again, with all its attempts. It returns fault.Conflict for an expired code.
func Redrive(ctx context.Context, s table.Store, id string, now time.Time) error {
	ctx = withMailerPartitions(ctx)
	d, err := table.Read[Dead](ctx, s, deadKey(id))
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.NewWithCause(fault.NotFound, err,
			"no mail %.80q was given up; `lamplighter mails dead` lists what was", id)
	case err != nil:
		return fault.Wrap("read mail "+id+", which was given up", err)
	case d.Until <= now.Unix():
		return fault.New(fault.Conflict,
			"the mail %s carries a code that has ended: whoever needs one asks for another", id)
	}
	it, err := table.NewItem(table.Key{PK: d.PK, SK: id},
		mail.Queued{ID: id, Sealed: d.Sealed, Due: now.Unix(), Until: d.Until})
	if err != nil {
		return fmt.Errorf("queue mail %s again: %w", id, err)
	}
	it.Expires = now.Add(mail.Keep)
	return fault.Wrap("queue mail "+id+" again",
		s.Transact(ctx, table.Put(it, table.Absent()), table.Delete(deadKey(id), table.Exists())))
}
