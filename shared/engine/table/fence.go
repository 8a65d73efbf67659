package table

import (
	"context"
	"errors"

	"lamplighter.dev/shared/foundation/fault"
)

// ErrFence is in the chain of the error for a key that the context may not touch. It is a defect of the caller's code,
// never a client's mistake, so its kind is Internal.
var ErrFence = errors.New("key outside the fence")

// Fenced confines s to the partitions that each call's context permits (WithOrg, Within), and stores what is attached to
// one with its first change (WithAttachment). A context that permits none is refused everything. The refusal comes before anything leaves the process, so a mistake in a key fails closed. The
// feed crosses all organizations and therefore needs Within(ctx, OutboxSuffix).
func Fenced(s Store) Store { return fence{next: s} }

// Confined is Fenced, and confines s besides to what the function declares for which a call is made: the one that the
// call's context names (As), or else the function called name, with access. A partition that is used and not declared
// fails here, as the function's IAM policy, which is made of the same declaration, would refuse it in AWS.
func Confined(s Store, name string, access Access) Store {
	return fence{next: s, function: &function{name, access}}
}

// fence is the middleware. Without a function it knows of no declarations.
type fence struct {
	next     Store
	function *function
}

// pass refuses a partition that ctx, or the function that it names, may not read.
func (f fence) pass(ctx context.Context, pk string) error {
	if err := passScope(ctx, pk); err != nil || f.function == nil {
		return err
	}
	if by := functionOf(ctx, f.function); !by.access.reads(pk) {
		return undeclared(by, "read", pk)
	}
	return nil
}

// passScope refuses a partition that ctx may not touch.
func passScope(ctx context.Context, pk string) error {
	if !isPermitted(ctx, pk) {
		return fault.NewWithCause(fault.Internal, ErrFence, "the partition %.80q is not permitted here", pk)
	}
	return nil
}

// passWrite refuses a write that ctx, or the function that it names, may not do.
func (f fence) passWrite(ctx context.Context, w *Write, transaction bool) error {
	if err := passScope(ctx, w.Item.PK); err != nil || f.function == nil {
		return err
	}
	if by := functionOf(ctx, f.function); !by.access.allows(w, transaction) {
		return undeclared(by, "write", w.Item.PK)
	}
	return nil
}

// passWrites is passWrite for many.
func (f fence) passWrites(ctx context.Context, ws []Write, transaction bool) error {
	for i := range ws {
		if err := f.passWrite(ctx, &ws[i], transaction); err != nil {
			return err
		}
	}
	return nil
}

// undeclared says what the function would have to declare.
func undeclared(by *function, how, pk string) error {
	return fault.NewWithCause(fault.Internal, ErrFence,
		"the function %s does not declare that it may %s the partition %.80q like this: add its pattern to the "+
			"Access in functions/%[1]s/declaration.go", by.name, how, pk)
}

// Get reads one permitted item.
func (f fence) Get(ctx context.Context, k Key) (Item, error) {
	if err := f.pass(ctx, k.PK); err != nil {
		return Item{}, err
	}
	return f.next.Get(ctx, k)
}

// BatchGet reads many permitted items.
func (f fence) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	for _, k := range keys {
		if err := f.pass(ctx, k.PK); err != nil {
			return nil, err
		}
	}
	return f.next.BatchGet(ctx, keys...)
}

// Query reads a page of a permitted partition.
func (f fence) Query(ctx context.Context, q Query) (Page, error) {
	if err := f.pass(ctx, q.PK); err != nil {
		return Page{}, err
	}
	return f.next.Query(ctx, q)
}

// Write writes a permitted item.
func (f fence) Write(ctx context.Context, w Write) (Item, error) {
	if err := f.passWrite(ctx, &w, false); err != nil {
		return Item{}, err
	}
	if a := attachmentOf(ctx); a != nil && w.Verb != CheckVerb {
		return a.write(ctx, f, w)
	}
	return f.next.Write(ctx, w)
}

// BatchWrite writes many permitted items.
func (f fence) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := f.passWrites(ctx, ws, false); err != nil {
		return err
	}
	if a := attachmentOf(ctx); a != nil && len(ws) > 0 {
		if err := a.before(ctx, f); err != nil {
			return err
		}
	}
	return f.next.BatchWrite(ctx, ws...)
}

// Transact writes permitted items, all or none.
func (f fence) Transact(ctx context.Context, ws ...Write) error {
	if err := f.passWrites(ctx, ws, true); err != nil {
		return err
	}
	if a := attachmentOf(ctx); a != nil && !onlyChecks(ws) {
		return a.transact(ctx, f, ws)
	}
	return f.next.Transact(ctx, ws...)
}

// Feed reads the feed of all organizations.
func (f fence) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	if err := passScope(ctx, OutboxSuffix); err != nil {
		return Feed{}, err
	}
	return f.next.Feed(ctx, cursor, limit)
}
