package table

import (
	"context"
	"slices"
	"sync/atomic"

	"lamplighter.dev/shared/foundation/fault"
)

// Attachment is writes that have to be stored no later than the first change that is made under a context: in the same
// transaction where there is one, else before it. A record of who changes what is such a write. A fence stores it.
type Attachment struct {
	make   func() ([]Write, error)
	turn   chan struct{} // holds one while somebody stores it
	stored atomic.Bool
	sent   atomic.Bool
}

// NewAttachment attaches the writes that f makes: puts of items that nobody else writes, without conditions. It is asked
// again for each try, until one is known to be stored.
func NewAttachment(f func() ([]Write, error)) *Attachment {
	return &Attachment{make: f, turn: make(chan struct{}, 1)}
}

// Stored reports whether the writes are known to be stored.
func (a *Attachment) Stored() bool { return a.stored.Load() }

// Sent reports whether the writes may be stored: they are, or the store did not say.
func (a *Attachment) Sent() bool { return a.sent.Load() }

type attachmentKey struct{}

// WithAttachment has a stored with the first change that is made with the context it returns.
func WithAttachment(ctx context.Context, a *Attachment) context.Context {
	return context.WithValue(ctx, attachmentKey{}, a)
}

// WithoutAttachment is for what the service writes for itself, such as counts of tries: it is no change that anything has to
// be stored with.
func WithoutAttachment(ctx context.Context) context.Context {
	if attachmentOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, attachmentKey{}, (*Attachment)(nil))
}

// attachmentOf returns what has to be stored with a change under ctx; nil when nothing has to be, or is already.
func attachmentOf(ctx context.Context) *Attachment {
	a, _ := ctx.Value(attachmentKey{}).(*Attachment)
	if a == nil || a.Stored() {
		return nil
	}
	return a
}

// attachedBytes is how many bytes are left to the writes of an attachment in a transaction: 64 kB are more than any has.
const attachedBytes = 64 << 10

// await waits until no other change of the request is about to store a; then it belongs to the caller, until done.
func (a *Attachment) await(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.NewWithCause(fault.Unavailable, ctx.Err(),
			"the change that goes before has not ended in time; try again")
	}
}

func (a *Attachment) done() { <-a.turn }

// permitted makes the writes, and the context in which they may be stored. It has no attachment, for the store behind a
// fence may be another one.
func (a *Attachment) permitted(ctx context.Context, f fence) (context.Context, []Write, error) {
	own, err := a.make()
	if err != nil {
		return ctx, nil, fault.Wrap("make what is stored with a change", err)
	}
	pks := make([]string, len(own))
	for i := range own {
		pks[i] = own[i].Item.PK
	}
	ctx = Within(WithoutAttachment(ctx), pks...)
	return ctx, own, f.passWrites(ctx, own, true)
}

// note keeps what became of the writes.
func (a *Attachment) note(err error) {
	if err == nil {
		a.stored.Store(true)
	}
	if err == nil || fault.Is(err, fault.Unavailable) {
		a.sent.Store(true)
	}
}

// before stores a by itself, for a change that it cannot share a transaction with.
func (a *Attachment) before(ctx context.Context, f fence) error {
	if err := a.await(ctx); err != nil {
		return err
	}
	defer a.done()
	if a.Stored() {
		return nil
	}
	ctx, own, err := a.permitted(ctx, f)
	if err != nil {
		return err
	}
	return a.store(ctx, f, own)
}

func (a *Attachment) store(ctx context.Context, f fence, own []Write) (err error) {
	if len(own) == 1 {
		_, err = f.next.Write(ctx, own[0])
	} else {
		err = f.next.Transact(ctx, own...)
	}
	a.note(err)
	return fault.Wrap("store what goes before a change", err)
}

// transact stores ws and a in one transaction, a last: its own writes have no conditions, so the numbers of writes whose
// conditions do not hold are those of ws. Where there is no room for both, a goes before.
func (a *Attachment) transact(ctx context.Context, f fence, ws []Write) error {
	if err := a.await(ctx); err != nil {
		return err
	}
	defer a.done()
	if a.Stored() {
		return f.next.Transact(ctx, ws...)
	}
	with, own, err := a.permitted(ctx, f)
	if err != nil {
		return err
	}
	if len(ws)+len(own) > MaxTransact || bytesOf(ws) > maxTransactBytes-attachedBytes {
		if err = a.store(with, f, own); err != nil {
			return err
		}
		return f.next.Transact(with, ws...)
	}
	err = f.next.Transact(with, slices.Concat(ws, own)...)
	a.note(err)
	return err
}

// bytesOf returns about how many bytes writes carry.
func bytesOf(ws []Write) int {
	n := 0
	for i := range ws {
		n += len(ws[i].Item.Data)
		for _, c := range ws[i].Changes {
			if raw, err := encodeValue(&c); err == nil {
				n += len(raw)
			}
		}
	}
	return n
}

// write does one write as Store.Write does, with a in its transaction. A transaction does not tell the item as it is after
// an update, so a goes before one.
func (a *Attachment) write(ctx context.Context, f fence, w Write) (Item, error) {
	if w.Verb == UpdateVerb {
		if err := a.before(ctx, f); err != nil {
			return Item{}, err
		}
		return f.next.Write(ctx, w)
	}
	if err := a.transact(ctx, f, []Write{w}); err != nil || w.Verb == DeleteVerb {
		return Item{}, err
	}
	return w.itemAfter(&row{})
}

// onlyChecks reports whether a transaction changes nothing.
func onlyChecks(ws []Write) bool {
	return !slices.ContainsFunc(ws, func(w Write) bool { return w.Verb != CheckVerb })
}
