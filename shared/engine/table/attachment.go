package table

import (
	"context"
	"slices"
	"sync/atomic"

	"lamplighter.dev/shared/foundation/fault"
)

// Attachment holds writes that must be stored no later than the first change that is made with a context: in the same
// transaction if there is one, else before it. Audit entries are such writes. A fence stores them.
type Attachment struct {
	make   func() ([]Write, error)
	turn   chan struct{} // holds one element while a change is storing it
	stored atomic.Bool
	sent   atomic.Bool
}

// NewAttachment returns an Attachment of the writes that f returns: puts of new items without conditions. It calls f
// for each attempt, until the writes are known to be stored.
func NewAttachment(f func() ([]Write, error)) *Attachment {
	return &Attachment{make: f, turn: make(chan struct{}, 1)}
}

// Stored reports whether the writes are known to be stored.
func (a *Attachment) Stored() bool { return a.stored.Load() }

// Sent reports whether the writes may be stored: they are, or the store's reply was lost.
func (a *Attachment) Sent() bool { return a.sent.Load() }

type attachmentKey struct{}

// WithAttachment returns a context whose first change stores a.
func WithAttachment(ctx context.Context, a *Attachment) context.Context {
	return context.WithValue(ctx, attachmentKey{}, a)
}

// WithoutAttachment returns a context for the service's own bookkeeping, such as counts of attempts, which needs no
// audit entry.
func WithoutAttachment(ctx context.Context) context.Context {
	if attachmentOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, attachmentKey{}, (*Attachment)(nil))
}

// attachmentOf returns the attachment that must be stored with a change, or nil if there is none or it is stored.
func attachmentOf(ctx context.Context) *Attachment {
	a, _ := ctx.Value(attachmentKey{}).(*Attachment)
	if a == nil || a.Stored() {
		return nil
	}
	return a
}

// attachedBytes is the space for an attachment in a transaction, in bytes. Attachments are smaller than 64 kB.
const attachedBytes = 64 << 10

// awaitTurn waits until no other change of the request is storing a. Then the caller may store it, until done.
func (a *Attachment) awaitTurn(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.NewWithCause(fault.Unavailable, ctx.Err(),
			"the change that goes before has not ended in time; try again")
	}
}

func (a *Attachment) done() { <-a.turn }

// prepareWrites returns the writes, and a context that permits them. The context has no attachment, because there may
// be a second fence behind this one.
func (a *Attachment) prepareWrites(ctx context.Context, f fence) (context.Context, []Write, error) {
	own, err := a.make()
	if err != nil {
		return ctx, nil, fault.Wrap("make the attachment of a change", err)
	}
	pks := make([]string, len(own))
	for i := range own {
		pks[i] = own[i].Item.PK
	}
	ctx = Within(WithoutAttachment(ctx), pks...)
	return ctx, own, f.checkWritesAllowed(ctx, own, true)
}

// recordOutcome records the result of an attempt to store the writes.
func (a *Attachment) recordOutcome(err error) {
	if err == nil {
		a.stored.Store(true)
	}
	if err == nil || fault.Is(err, fault.Unavailable) {
		a.sent.Store(true)
	}
}

// storeBefore stores a on its own, for a change that cannot share a transaction with it.
func (a *Attachment) storeBefore(ctx context.Context, f fence) error {
	if err := a.awaitTurn(ctx); err != nil {
		return err
	}
	defer a.done()
	if a.Stored() {
		return nil
	}
	ctx, own, err := a.prepareWrites(ctx, f)
	if err != nil {
		return err
	}
	return a.storeWrites(ctx, f, own)
}

func (a *Attachment) storeWrites(ctx context.Context, f fence, own []Write) (err error) {
	if len(own) == 1 {
		_, err = f.next.Write(ctx, own[0])
	} else {
		err = f.next.Transact(ctx, own...)
	}
	a.recordOutcome(err)
	return fault.Wrap("store the attachment of a change", err)
}

// transactWith stores ws and a in one transaction. a comes last and has no conditions, so the indexes of failed
// conditions are those of ws. If the transaction has no room for both, a is stored before.
func (a *Attachment) transactWith(ctx context.Context, f fence, ws []Write) error {
	if err := a.awaitTurn(ctx); err != nil {
		return err
	}
	defer a.done()
	if a.Stored() {
		return f.next.Transact(ctx, ws...)
	}
	with, own, err := a.prepareWrites(ctx, f)
	if err != nil {
		return err
	}
	if len(ws)+len(own) > MaxTransact || countBytes(ws) > maxTransactBytes-attachedBytes {
		if err = a.storeWrites(with, f, own); err != nil {
			return err
		}
		return f.next.Transact(with, ws...)
	}
	err = f.next.Transact(with, slices.Concat(ws, own)...)
	a.recordOutcome(err)
	return err
}

// countBytes returns approximately how many bytes the writes contain.
func countBytes(ws []Write) int {
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

// writeWith does one write like Store.Write, with a in its transaction. A transaction does not return the item after an
// update, so a is stored before an update.
func (a *Attachment) writeWith(ctx context.Context, f fence, w Write) (Item, error) {
	if w.Verb == UpdateVerb {
		if err := a.storeBefore(ctx, f); err != nil {
			return Item{}, err
		}
		return f.next.Write(ctx, w)
	}
	if err := a.transactWith(ctx, f, []Write{w}); err != nil || w.Verb == DeleteVerb {
		return Item{}, err
	}
	return w.itemAfter(&row{})
}

// onlyChecks reports whether a transaction changes nothing.
func onlyChecks(ws []Write) bool {
	return !slices.ContainsFunc(ws, func(w Write) bool { return w.Verb != CheckVerb })
}
