package budgeting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The partitions of budgets. They also hold the sent alerts.
const (
	Partition     table.Partition = "ORG#*#BUDGET"
	NamePartition table.Partition = "ORG#*#BUDGETNAME"
)

const toldPrefix = "TOLD#"

// keepTold is how long the sent alerts of a period are kept after its end.
const keepTold = 400 * 24 * time.Hour

// Key returns the key of a budget.
func Key(org, budgetID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "BUDGET", SK: budgetID}
}

// names returns the names of an organization's budgets.
func names(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + NamePartition.Name(), Noun: "budget"}
}

func toldKey(org, budgetID string, from time.Time) table.Key {
	return Key(org, toldPrefix+budgetID+"#"+from.Format(time.DateOnly))
}

// Limited returns the budgets of an organization as a list of at most MaxBudgets.
func Limited(org string) table.LimitedList {
	return table.LimitedList{PK: names(org).PK, Noun: "budgets"}
}

// Store stores the budgets of organizations.
type Store struct{ table table.Store }

// NewStore returns the Store on t.
func NewStore(t table.Store) *Store { return &Store{t} }

// List returns the budgets of an organization, oldest first: at most MaxBudgets, in one round trip.
func (s *Store) List(ctx context.Context, org string) ([]Budget, error) {
	var out []Budget
	for q := (table.Query{PK: Key(org, "").PK, Prefix: "bud_", Limit: MaxBudgets}); ; {
		page, next, err := table.ReadPage[Budget](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("list budgets of %s: %w", org, err)
		}
		out = append(out, page...)
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// Read returns a budget, or fault.NotFound, in one round trip.
func (s *Store) Read(ctx context.Context, org, budgetID string) (Budget, error) {
	b, err := table.Read[Budget](ctx, s.table, Key(org, budgetID))
	if fault.Is(err, fault.NotFound) {
		return b, Missing(budgetID)
	}
	return b, fault.Wrap("read budget "+budgetID, err)
}

// Missing returns the error of a budget that does not exist.
func Missing(budgetID string) error {
	return fault.New(fault.NotFound, "budget %.64q does not exist", budgetID)
}

// Create stores a new budget. The holds are conditions that fail if its scope does not exist. It returns
// fault.Conflict if another budget has the same name.
func (s *Store) Create(ctx context.Context, org string, next Budget, holds ...table.Write) (Budget, error) {
	return s.write(ctx, org, Budget{}, next, holds)
}

// Update replaces old, as it was read, by next. It returns fault.Conflict if the budget has changed since, or if
// another budget has its new name.
func (s *Store) Update(ctx context.Context, org string, old, next Budget, holds ...table.Write) (Budget, error) {
	return s.write(ctx, org, old, next, holds)
}

func (s *Store) write(ctx context.Context, org string, old, next Budget, holds []table.Write) (Budget, error) {
	next.Generation = old.Generation + 1
	cond := table.Absent()
	if old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	it, err := table.NewItem(Key(org, next.ID), next)
	if err != nil {
		return next, err
	}
	renamed, err := names(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return next, err
	}
	ws := append([]table.Write{table.Put(it, cond)}, renamed...)
	err = s.table.Transact(ctx, append(ws, holds...)...)
	return next, table.ExplainLost(err, "write budget "+next.ID, func(lost *table.ConditionError) error {
		return refused(org, lost, &next)
	})
}

// refused returns the error for a write of next that failed on a condition: that of its name, of its scope, or else of
// its generation.
func refused(org string, lost *table.ConditionError, next *Budget) error {
	if taken := names(org).Refusal(lost, next.Name); taken != nil {
		return taken
	}
	if last := lost.Failed[len(lost.Failed)-1]; last.Index > 0 {
		return fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists",
			next.ScopeID, next.ScopeType)
	}
	return fault.New(fault.Conflict, "budget %s was changed by someone else meanwhile; read it and try again", next.ID)
}

// Delete deletes a budget as it was read. It returns fault.Conflict if the budget has changed since. The sent alerts
// expire later.
func (s *Store) Delete(ctx context.Context, org string, b Budget) error {
	err := s.table.Transact(ctx, table.Delete(Key(org, b.ID), table.Equal("generation", b.Generation)),
		names(org).Release(b.Name))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return fault.New(fault.Conflict, "budget %s was changed by someone else meanwhile; read it and try again", b.ID)
	}
	return fault.Wrap("delete budget "+b.ID, err)
}

// toldRow stores the sent alerts of a period. Change counts its changes; each write is conditional on it.
type toldRow struct {
	Told
	Change int `json:"change"`
}

// Tell writes the events of the alerts that are due in a state, and records them as sent in the same transaction.
// Concurrent processes, or one that is killed and starts again, write each alert once. It returns the number of
// events. It takes one round trip, and one more if alerts are due.
func (s *Store) Tell(ctx context.Context, org string, st State, now time.Time) (int, error) {
	key := toldKey(org, st.Budget.ID, st.From)
	row, err := table.Read[toldRow](ctx, s.table, key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return 0, fmt.Errorf("read what was told of %s: %w", st.Budget.ID, err)
	}
	alerts, next := st.Budget.Alerts(st.Spent, st.Forecast, row.Told)
	if len(alerts) == 0 {
		return 0, nil
	}
	cond := table.Absent()
	if row.Change > 0 {
		cond = table.Equal("change", row.Change)
	}
	it, err := table.NewItem(key, toldRow{next, row.Change + 1})
	if err != nil {
		return 0, err
	}
	it.Expires = st.To.Add(keepTold)
	events, err := newEvents(org, &st, alerts, now)
	if err != nil {
		return 0, err
	}
	err = s.table.Transact(ctx, append(events, table.Put(it, cond))...)
	if _, other := errors.AsType[*table.ConditionError](err); other {
		return 0, nil
	}
	return len(alerts), fault.Wrap("tell of budget "+st.Budget.ID, err)
}

// Message is the data of an event of a budget.
type Message struct {
	BudgetID    string    `json:"budgetID"`
	Name        string    `json:"name"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	AmountUSD   string    `json:"amountUSD"`
	SpentUSD    string    `json:"spentUSD"`
	ForecastUSD string    `json:"forecastUSD"`
	Threshold   int       `json:"threshold"` // percent
	Forecast    bool      `json:"forecast"`  // expected to be reached; false: reached
}

func newEvents(org string, st *State, alerts []Alert, now time.Time) ([]table.Write, error) {
	b := &st.Budget
	out := make([]table.Write, len(alerts))
	for i, a := range alerts {
		data, err := json.Marshal(Message{
			BudgetID: b.ID, Name: b.Name, From: st.From, To: st.To, AmountUSD: b.Amount.Fixed(2),
			SpentUSD:    st.Spent.Fixed(2),
			ForecastUSD: st.Forecast.Mean.Fixed(2), Threshold: a.Threshold, Forecast: a.Forecast,
		})
		if err != nil {
			return nil, fmt.Errorf("encode event of %s: %w", b.ID, err)
		}
		name := fmt.Sprintf("%s/%s/%d/%v", b.ID, a.Key, a.Threshold, a.Forecast)
		e := event.Event{
			Key: a.Key, ScopeType: string(b.ScopeType), ScopeID: b.ScopeID, At: now, Subject: b.ID,
			Data: data,
		}
		if out[i], err = event.Put(org, name, st.From, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// UsesOf returns the budgets of a scope, oldest first, in one round trip.
func (s *Store) UsesOf(ctx context.Context, org string, of ScopeType, scopeID string) ([]Budget, error) {
	all, err := s.List(ctx, org)
	var out []Budget
	for _, b := range all {
		if b.ScopeType == of && b.ScopeID == scopeID {
			out = append(out, b)
		}
	}
	return out, err
}
