package table

import (
	"context"
	"errors"

	"lamplighter.dev/shared/foundation/fault"
)

// ErrFence is in the chain of the error for a key that the context does not permit. It is a defect of the calling code
// and never a mistake of a client, so its kind is Internal.
var ErrFence = errors.New("key outside the fence")

// Fenced returns a store that restricts each call to the partitions that its context permits (WithOrg, Within), and
// that stores the attachment of the context with its first change (WithAttachment). A context without permissions may
// access nothing. Refused calls do not leave the process, so a mistake in a key fails closed. The feed contains all
// organizations, so it requires Within(ctx, OutboxSuffix).
func Fenced(s Store) Store { return fence{next: s} }

// Confined is Fenced, and also restricts each call to the declared access of a function: the function that the call's
// context names (As), or else the function with the given name and access. A partition that is not declared is refused
// here, as the function's IAM policy, which is generated from the same declaration, refuses it in AWS.
func Confined(s Store, name string, access Access) Store {
	return fence{next: s, function: &function{name, access}}
}

// fence is the middleware. If function is nil, it does not check declarations.
type fence struct {
	next     Store
	function *function
}

// checkRead returns an error if ctx, or the function that it names, may not read a partition.
func (f fence) checkRead(ctx context.Context, pk string) error {
	if err := checkScope(ctx, pk); err != nil || f.function == nil {
		return err
	}
	if by := functionOf(ctx, f.function); !by.access.mayRead(pk) {
		return errUndeclared(by, "read", pk)
	}
	return nil
}

// checkScope returns an error if ctx does not permit a partition.
func checkScope(ctx context.Context, pk string) error {
	if !isPermitted(ctx, pk) {
		return fault.NewWithCause(fault.Internal, ErrFence, "the partition %.80q is not permitted here", pk)
	}
	return nil
}

// checkWriteAllowed returns an error if ctx, or the function that it names, may not do a write.
func (f fence) checkWriteAllowed(ctx context.Context, w *Write, transaction bool) error {
	if err := checkScope(ctx, w.Item.PK); err != nil || f.function == nil {
		return err
	}
	if by := functionOf(ctx, f.function); !by.access.mayWrite(w, transaction) {
		return errUndeclared(by, "write", w.Item.PK)
	}
	return nil
}

// checkWritesAllowed checks each of several writes.
func (f fence) checkWritesAllowed(ctx context.Context, ws []Write, transaction bool) error {
	for i := range ws {
		if err := f.checkWriteAllowed(ctx, &ws[i], transaction); err != nil {
			return err
		}
	}
	return nil
}

// errUndeclared returns the error that names the missing declaration.
func errUndeclared(by *function, how, pk string) error {
	return fault.NewWithCause(fault.Internal, ErrFence,
		"the function %s does not declare that it may %s the partition %.80q like this: add its pattern to the "+
			"Access in functions/%[1]s/declaration.go", by.name, how, pk)
}

// Get reads one permitted item.
func (f fence) Get(ctx context.Context, k Key) (Item, error) {
	if err := f.checkRead(ctx, k.PK); err != nil {
		return Item{}, err
	}
	return f.next.Get(ctx, k)
}

// BatchGet reads many permitted items.
func (f fence) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	for _, k := range keys {
		if err := f.checkRead(ctx, k.PK); err != nil {
			return nil, err
		}
	}
	return f.next.BatchGet(ctx, keys...)
}

// Query reads a page of a permitted partition.
func (f fence) Query(ctx context.Context, q Query) (Page, error) {
	if err := f.checkRead(ctx, q.PK); err != nil {
		return Page{}, err
	}
	return f.next.Query(ctx, q)
}

// Write does a permitted write.
func (f fence) Write(ctx context.Context, w Write) (Item, error) {
	if err := f.checkWriteAllowed(ctx, &w, false); err != nil {
		return Item{}, err
	}
	if a := attachmentOf(ctx); a != nil && w.Verb != CheckVerb {
		return a.writeWith(ctx, f, w)
	}
	return f.next.Write(ctx, w)
}

// BatchWrite does many permitted writes.
func (f fence) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := f.checkWritesAllowed(ctx, ws, false); err != nil {
		return err
	}
	if a := attachmentOf(ctx); a != nil && len(ws) > 0 {
		if err := a.storeBefore(ctx, f); err != nil {
			return err
		}
	}
	return f.next.BatchWrite(ctx, ws...)
}

// Transact does permitted writes, all or none.
func (f fence) Transact(ctx context.Context, ws ...Write) error {
	if err := f.checkWritesAllowed(ctx, ws, true); err != nil {
		return err
	}
	if a := attachmentOf(ctx); a != nil && !onlyChecks(ws) {
		return a.transactWith(ctx, f, ws)
	}
	return f.next.Transact(ctx, ws...)
}

// Feed reads the feed of all organizations.
func (f fence) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	if err := checkScope(ctx, OutboxSuffix); err != nil {
		return Feed{}, err
	}
	return f.next.Feed(ctx, cursor, limit)
}
