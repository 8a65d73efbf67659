package table

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// A limited list is counted before an element is added. Two concurrent additions could both find room, so each takes a
// turn: it reads the Turn of the list, counts, and adds in one transaction with Take. Only one of the additions that
// read the same Turn succeeds; the others read and count again. Removals need no turn. No counter goes up and down, so
// none can drift, and older lists need no migration.

// Turn is the number of additions to a limited list.
type Turn struct {
	key Key
	n   int64
}

// turnSK is the sort key of a Turn's item in the partition of its list.
const turnSK = "#TURN"

// MaxTurns is how often an addition starts again because another one was faster.
const MaxTurns = 8

// LimitedList is a list with a limit. Elements are added in turns.
type LimitedList struct {
	PK   string // partition of the turn's item: that of the list, or of its names
	Noun string // its elements in error messages: "budgets"
}

// Add calls add with the write that takes the turn of the list. The function add counts the list, and makes its
// addition in one transaction with the write. Add calls it again if another addition took the turn, so add must return
// such an error unchanged (see IsTurnLost). After MaxTurns it returns fault.Conflict, which is a lost turn too. It
// takes one round trip for each call of add, in addition to those of add.
func (l LimitedList) Add(ctx context.Context, s Store, add func(take Write) error) error {
	var lost error
	for range MaxTurns {
		turn, err := ReadTurn(ctx, s, l.PK)
		if err != nil {
			return err
		}
		if lost = add(turn.Take()); !IsTurnLost(lost) {
			return lost
		}
	}
	return fault.NewWithCause(fault.Conflict, lost, "other %s are being added just now: try again", l.Noun)
}

// ReadTurn reads the turn of the list in a partition. Read it before the list. One round trip.
func ReadTurn(ctx context.Context, s Store, pk string) (Turn, error) {
	t := Turn{key: Key{PK: pk, SK: turnSK}}
	row, err := Read[struct {
		N int64 `json:"n"`
	}](ctx, s, t.key)
	if fault.Is(err, fault.NotFound) {
		return t, nil
	}
	t.n = row.N
	return t, fault.Wrap("read the turn of "+pk, err)
}

// Take returns the write that takes the turn. Its condition fails if another addition took it.
func (t Turn) Take() Write {
	free := Equal("n", t.n)
	if t.n == 0 {
		free = Lacks("n")
	}
	return Update(t.key, []Change{Set("n", t.n+1)}, free)
}

// IsTurn reports whether an item in the partition of a list is that of its turn.
func IsTurn(it Item) bool { return it.SK == turnSK }

// IsTurnLost reports whether err says that another addition took the turn.
func IsTurnLost(err error) bool {
	lost, ok := errors.AsType[*ConditionError](err)
	return ok && slices.ContainsFunc(lost.Failed, func(f Failure) bool { return f.Old.SK == turnSK })
}

// ExplainLost returns the error of a write for the caller of its store. If a condition of the write failed, that is the
// error of explain, otherwise err wrapped in op. It returns a lost turn unchanged, as LimitedList.Add demands.
func ExplainLost(err error, op string, explain func(*ConditionError) error) error {
	lost, ok := errors.AsType[*ConditionError](err)
	switch {
	case !ok:
		return fault.Wrap(op, err)
	case IsTurnLost(err):
		return err
	}
	return explain(lost)
}
