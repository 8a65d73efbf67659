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

// Prefix begins the outbox partitions of mails, MAIL#OUT#<kind>#<nn>#EVENTS: a transaction that queues one runs in
// table.Within(ctx, mail.Prefix).
const Prefix = "MAIL#OUT#"

// Partition is of the outbox partitions of mails.
const Partition table.Partition = Prefix + "*"

// Kind is what of mails must not wait for each other: each has partitions of its own.
type Kind string

// The kinds. Somebody waits in front of a screen for a code; anything else may come a minute later.
const (
	Code Kind = "CODE"
	Note Kind = "NOTE"
)

// shards is how many partitions the mails of a kind are spread over.
var shards = map[Kind]int{Code: 4, Note: 8}

const (
	// TTL is how long a code is of use. It is not sent after that.
	TTL = time.Hour
	// Keep is how long a mail waits at most, and lies in the table if nobody takes it.
	Keep = 14 * 24 * time.Hour
	// first is when a mail is looked at that the change feed has not brought to anybody.
	first = time.Minute
)

// Kind returns the kind of mails that are written by the template. Nothing is as slow and as dear as what it stands for.
func (t Template) Kind() Kind {
	switch t {
	case VerifyAddress, VerifyContested, ResetPassword, Nothing:
		return Code
	default:
		return Note
	}
}

// Queued is a mail in the outbox. It lies there until it was sent, or given up.
type Queued struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
	Tries  int    `json:"tries"` // how often it was begun to be sent
	Due    int64  `json:"due"`   // when it is to be tried again, in seconds of Unix
	Until  int64  `json:"until"` // when it is of no more use, in seconds of Unix
}

// QueueMail makes the write that queues m; put it into the transaction of what causes the mail, whose ctx must be allowed
// the Prefix.
func QueueMail(ctx context.Context, s seal.Sealer, at time.Time, m Mail) (table.Write, error) {
	return queue(ctx, s, at, id.New("mail", at), m)
}

// QueueOnce is QueueMail for a mail that its name tells from all others: whoever queues it again, while it waits, finds it queued, and the
// condition of the write does not hold. Mails of one name must have one at.
func QueueOnce(ctx context.Context, s seal.Sealer, at time.Time, name string, m Mail) (table.Write, error) {
	w, err := queue(ctx, s, at, id.Derived("mail", at, name), m)
	w.If = []table.Cond{table.Absent()}
	return w, err
}

func queue(ctx context.Context, s seal.Sealer, at time.Time, event string, m Mail) (table.Write, error) { //nolint:revive // of what QueueMail has
	plain, err := json.Marshal(m)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode mail %s: %w", m.Template, err)
	}
	sealed, err := s.Seal(ctx, place(event), plain)
	if err != nil {
		return table.Write{}, fmt.Errorf("queue mail %s: %w", m.Template, err)
	}
	q := Queued{ID: event, Sealed: sealed, Due: at.Add(first).Unix(), Until: at.Add(Keep).Unix()}
	if m.Template.Kind() == Code {
		q.Until = at.Add(TTL).Unix()
	}
	it, err := table.NewItem(table.Key{PK: m.partition(), SK: event}, q)
	it.Expires = at.Add(Keep)
	return table.Put(it), err
}

// OpenQueued opens a queued mail, and tells the id of its event.
func OpenQueued(ctx context.Context, s seal.Sealer, it table.Item) (Mail, string, error) {
	q, err := table.Decode[Queued](it)
	if err != nil {
		return Mail{}, "", err
	}
	plain, err := s.Open(ctx, place(q.ID), q.Sealed)
	if err != nil {
		return Mail{}, "", fmt.Errorf("take mail %s: %w", q.ID, err)
	}
	var m Mail
	if err = json.Unmarshal(plain, &m); err != nil {
		return Mail{}, "", fmt.Errorf("decode mail %s: %w", q.ID, err)
	}
	return m, q.ID, nil
}

func place(event string) seal.Place { return seal.Place{Kind: Secret, ID: event} }

// partition returns where m is queued.
func (m Mail) partition() string {
	kind, h := m.Template.Kind(), fnv.New32a()
	_, _ = h.Write([]byte(cmp.Or(m.Org, m.To)))                 // a hash never fails
	return partition(kind, int(h.Sum32()%uint32(shards[kind]))) //nolint:gosec // a few
}

func partition(kind Kind, shard int) string {
	return fmt.Sprintf("%s%s#%02d%s", Prefix, kind, shard, table.OutboxSuffix)
}

// Partitions returns the outbox partitions of a kind.
func Partitions(kind Kind) []string {
	out := make([]string, shards[kind])
	for i := range out {
		out[i] = partition(kind, i)
	}
	return out
}

// KindOf returns the kind of the mails of an outbox partition; "" when it is none of mails.
func KindOf(pk string) Kind {
	name, _, _ := strings.Cut(strings.TrimPrefix(pk, Prefix), "#")
	if kind := Kind(name); shards[kind] > 0 && strings.HasPrefix(pk, Prefix) {
		return kind
	}
	return ""
}
