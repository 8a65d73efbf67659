package mail

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
)

// Prefix is the prefix of the outbox partitions of mails, MAIL#OUT#<kind>#<nn>#EVENTS. A transaction that queues a mail
// runs in table.Within(ctx, mail.Prefix).
const Prefix = "MAIL#OUT#"

// Partition matches the outbox partitions of mails.
const Partition table.Partition = Prefix + "*"

// Kind is a class of mails with its own partitions, so that mails of one kind do not wait for those of another.
type Kind string

// The kinds. A user waits at the screen for a mail with a code. All other mails may arrive a minute later.
const (
	Code Kind = "CODE"
	Note Kind = "NOTE"
)

// shards is the number of partitions of each kind.
var shards = map[Kind]int{Code: 4, Note: 8}

const (
	// TTL is how long a code is valid. Its mail is not sent after that.
	TTL = time.Hour
	// Keep is how long a mail stays in the queue at most, and in the table if it is never sent.
	Keep = 14 * 24 * time.Hour
	// firstRetry is when the mailer looks for a mail that the change feed did not deliver.
	firstRetry = time.Minute
)

// Kind returns the kind of the template's mails. Nothing has the kind of the mails that it stands in for, so that it
// takes as long and costs as much.
func (t Template) Kind() Kind {
	switch t {
	case VerifyAddress, VerifyContested, ResetPassword, Nothing:
		return Code
	default:
		return Note
	}
}

// Queued is a mail in the outbox. It stays there until it is sent or given up.
type Queued struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
	Tries  int    `json:"tries"` // number of attempts
	Due    int64  `json:"due"`   // time of the next attempt, in Unix seconds
	Until  int64  `json:"until"` // time from when on it is useless, in Unix seconds
}

// QueueMail returns the write that queues m. Add it to the transaction that causes the mail. The context of the
// transaction must allow Prefix.
func QueueMail(ctx context.Context, s seal.Sealer, at time.Time, m Mail) (table.Write, error) {
	return newQueueWrite(ctx, s, entry{id.New("mail", at), at, m})
}

// QueueOnce is QueueMail for a mail that is identified by its name and the time at. If the same mail is queued again
// while it waits, the condition of the write fails.
func QueueOnce(ctx context.Context, s seal.Sealer, at time.Time, name string, m Mail) (table.Write, error) {
	w, err := newQueueWrite(ctx, s, entry{id.Derived("mail", at, name), at, m})
	w.If = []table.Cond{table.Absent()}
	return w, err
}

// entry is a mail to be queued under the ID of its event.
type entry struct {
	event string
	at    time.Time
	mail  Mail
}

// newQueueWrite returns the write that queues e.
func newQueueWrite(ctx context.Context, s seal.Sealer, e entry) (table.Write, error) {
	event, at, m := e.event, e.at, e.mail
	plain, err := json.Marshal(m)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode mail %s: %w", m.Template, err)
	}
	sealed, err := s.Seal(ctx, sealPlace(event), plain)
	if err != nil {
		return table.Write{}, fmt.Errorf("queue mail %s: %w", m.Template, err)
	}
	q := Queued{ID: event, Sealed: sealed, Due: at.Add(firstRetry).Unix(), Until: at.Add(Keep).Unix()}
	if m.Template.Kind() == Code {
		q.Until = at.Add(TTL).Unix()
	}
	it, err := table.NewItem(table.Key{PK: m.queuePartition(), SK: event}, q)
	it.Expires = at.Add(Keep)
	return table.Put(it), err
}

// OpenQueued decrypts a queued mail, and returns it with the ID of its event.
func OpenQueued(ctx context.Context, s seal.Sealer, it table.Item) (Mail, string, error) {
	q, err := table.Decode[Queued](it)
	if err != nil {
		return Mail{}, "", err
	}
	plain, err := s.Open(ctx, sealPlace(q.ID), q.Sealed)
	if err != nil {
		return Mail{}, "", fmt.Errorf("take mail %s: %w", q.ID, err)
	}
	var m Mail
	if err = json.Unmarshal(plain, &m); err != nil {
		return Mail{}, "", fmt.Errorf("decode mail %s: %w", q.ID, err)
	}
	return m, q.ID, nil
}

func sealPlace(event string) seal.Place { return seal.Place{Kind: Secret, ID: event} }

// queuePartition returns the partition where m is queued.
func (m Mail) queuePartition() string {
	kind, h := m.Template.Kind(), fnv.New32a()
	_, _ = h.Write([]byte(cmp.Or(m.Org, m.To)))                    // a hash never fails
	return partitionKey(kind, int(h.Sum32()%uint32(shards[kind]))) //nolint:gosec // a few
}

func partitionKey(kind Kind, shard int) string {
	return fmt.Sprintf("%s%s#%02d%s", Prefix, kind, shard, table.OutboxSuffix)
}

// Partitions returns the outbox partitions of a kind.
func Partitions(kind Kind) []string {
	out := make([]string, shards[kind])
	for i := range out {
		out[i] = partitionKey(kind, i)
	}
	return out
}

// KindOf returns the kind of mails in a partition, or "" if it is not an outbox partition of mails.
func KindOf(pk string) Kind {
	name, _, _ := strings.Cut(strings.TrimPrefix(pk, Prefix), "#")
	if kind := Kind(name); shards[kind] > 0 && strings.HasPrefix(pk, Prefix) {
		return kind
	}
	return ""
}
