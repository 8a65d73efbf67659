package table_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

const attachedPK = "NOTES"

// withNote returns a context of an organization with an attached note.
func withNote(ctx context.Context) (context.Context, *table.Attachment) {
	a := table.NewAttachment(func() ([]table.Write, error) {
		return []table.Write{table.Put(newItem(attachedPK, "n"))}, nil
	})
	return table.WithAttachment(table.WithOrg(ctx, "org_1"), a), a
}

func newItem(pk, sk string) table.Item { return table.Item{Key: table.Key{PK: pk, SK: sk}} }

const thingPK = "ORG#org_1#THING"

// newPuts returns n puts of different items.
func newPuts(n int) []table.Write {
	out := make([]table.Write, n)
	for i := range out {
		out[i] = table.Put(newItem(thingPK, fmt.Sprint("t", i)))
	}
	return out
}

// TestAttachment_GoesWithTheFirstChange requires that the attachment is stored once, with or before the change and
// never after it, with two fences as in AWS.
func TestAttachment_GoesWithTheFirstChange(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(context.Context, table.Store) error
		trips  int
		stored bool
	}{
		"a transaction": {func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, newPuts(2)...)
		}, 1, true},
		"two of them": {func(ctx context.Context, s table.Store) error {
			return errors.Join(s.Transact(ctx, newPuts(1)...), s.Transact(ctx, newPuts(1)...))
		}, 2, true},
		"one without room": {func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, newPuts(100)...)
		}, 2, true},
		"a put": {func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, newPuts(1)[0])
			return err
		}, 1, true},
		"a delete": {func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, table.Delete(table.Key{PK: thingPK, SK: "t"}))
			return err
		}, 1, true},
		"an update": {func(ctx context.Context, s table.Store) error {
			it, err := s.Write(ctx, table.Update(table.Key{PK: thingPK, SK: "t"}, []table.Change{table.Add("n", 2)}))
			if string(it.Data) != `{"n":2}` {
				return fmt.Errorf("it is told to be %s: %w", it.Data, err)
			}
			return err
		}, 2, true},
		"a batch": {func(ctx context.Context, s table.Store) error {
			return s.BatchWrite(ctx, newPuts(3)...)
		}, 2, true},
		"an empty batch": {func(ctx context.Context, s table.Store) error { return s.BatchWrite(ctx) }, 0, false},
		"a check alone": {func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, table.Check(table.Key{PK: thingPK, SK: "t"}, table.Absent()))
		}, 1, false},
		"reading": {func(ctx context.Context, s table.Store) error {
			_, err := s.Query(ctx, table.Query{PK: thingPK, Limit: 1})
			return err
		}, 1, false},
		"what the service writes for itself": {func(ctx context.Context, s table.Store) error {
			return s.Transact(table.WithoutAttachment(ctx), newPuts(1)...)
		}, 1, false},
		"what another function does": {func(ctx context.Context, s table.Store) error {
			return s.Transact(table.As(ctx, "worker", table.Unlimited), newPuts(1)...)
		}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := tabletest.New(t)
			fenced := table.Confined(table.Fenced(store), "api",
				table.Access{Writes: []table.Partition{"ORG#*#THING", attachedPK}})
			ctx, a := withNote(t.Context())
			ctx, meter := table.WithMeter(ctx)
			if err := c.do(ctx, fenced); err != nil {
				t.Fatal(err)
			}
			_, err := store.Get(t.Context(), table.Key{PK: attachedPK, SK: "n"})
			if there := err == nil; there != c.stored || a.Stored() != c.stored || a.Sent() != c.stored {
				t.Errorf("there %t, said to be stored %t, sent %t", there, a.Stored(), a.Sent())
			}
			if got := meter.Usage().RoundTrips; got != c.trips {
				t.Errorf("%d round trips, want %d", got, c.trips)
			}
		})
	}
}

func TestAttachment_IsNotStoredWithAChangeThatFails(t *testing.T) {
	store := tabletest.New(t)
	fenced := table.Fenced(store)
	ctx, a := withNote(t.Context())
	exists := table.Put(newItem(thingPK, "t"), table.Exists())
	for name, err := range map[string]error{
		"a transaction": fenced.Transact(ctx, newPuts(1)[0], exists),
		"a put":         secondResult(fenced.Write(ctx, exists)),
	} {
		lost, ok := errors.AsType[*table.ConditionError](err)
		if !ok || len(lost.Failed) != 1 || lost.Failed[0].Old.SK != "t" || a.Stored() || a.Sent() {
			t.Errorf("%s: %v, stored %t", name, err, a.Stored())
		}
	}
	if err := fenced.Transact(ctx, newPuts(1)...); err != nil || !a.Stored() {
		t.Errorf("the next change: %v", err)
	}
}

func secondResult[T any](_ T, err error) error { return err }

// After a lost reply it is unknown whether it is stored. The next change stores it again.
func TestAttachment_IsSentUntilItIsStored(t *testing.T) {
	f := table.NewFaultyStore(tabletest.New(t), clock.System{}, table.Injection{Harm: table.FailAfter, Call: 1})
	fenced := table.Fenced(f)
	ctx, a := withNote(t.Context())
	if err := fenced.Transact(ctx, newPuts(1)...); !errors.Is(err, table.ErrLost) || a.Stored() || !a.Sent() {
		t.Errorf("%v, stored %t, sent %t", err, a.Stored(), a.Sent())
	}
	if err := fenced.Transact(ctx, newPuts(1)...); err != nil || !a.Stored() {
		t.Errorf("%v, stored %t", err, a.Stored())
	}
}

func TestAttachment_TheFunctionMustDeclareItsPartition(t *testing.T) {
	fenced := table.Confined(tabletest.New(t), "api", table.Access{Writes: []table.Partition{"ORG#*#THING"}})
	ctx, a := withNote(t.Context())
	if err := fenced.Transact(ctx, newPuts(1)...); !errors.Is(err, table.ErrFence) || !fault.Is(err, fault.Internal) ||
		a.Sent() {
		t.Errorf("%v", err)
	}
}

// Concurrent changes of a request wait for the first one, which stores the attachment. No change is committed before
// it.
func TestAttachment_ChangesAtOnceWaitForTheFirst(t *testing.T) {
	store := tabletest.New(t)
	fenced := table.Fenced(store)
	ctx, _ := withNote(t.Context())
	ctx, meter := table.WithMeter(ctx)
	errs := make(chan error, 20)
	for i := range cap(errs) {
		go func() { errs <- fenced.Transact(ctx, table.Put(newItem(thingPK, fmt.Sprint("t", i)))) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if u := meter.Usage(); u.RoundTrips != 20 || u.WriteUnits != 42 {
		t.Errorf("%+v: it was stored more than once", u)
	}
}
