package readiness

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Store stores plans.
type Store struct {
	table table.Store
	clock clock.Clock
}

// New returns a Store on s, with the clock c.
func New(t table.Store, c clock.Clock) *Store { return &Store{t, c} }

// Get reads a plan. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store) Get(ctx context.Context, org, planID string) (Plan, error) {
	if !id.IsValid("evt", planID) {
		return Plan{}, Missing(planID)
	}
	p, err := table.Read[Plan](ctx, s.table, Key(org, planID))
	if fault.Is(err, fault.NotFound) {
		return Plan{}, Missing(planID)
	}
	return p, fault.Wrap("read plan "+planID, err)
}

// Missing returns the error for a plan that does not exist.
func Missing(planID string) error {
	return fault.New(fault.NotFound, "event readiness plan %.64q does not exist", planID)
}

// All returns the query for the plans of an organization, newest first.
func All(org string) table.Query {
	return table.Query{PK: pk(org), From: first, To: last, Reverse: true}
}

// tries limits the attempts of a change while other plans with the same targets change.
const tries = 5

// errAgain means that another plan changed the claims since they were read.
var errAgain = errors.New("the targets were claimed meanwhile")

// Create stores a new plan as a draft by CreatedBy.
func (s *Store) Create(ctx context.Context, p Plan) (Plan, error) {
	now := s.clock.Now()
	p.Status, p.CreatedAt, p.UpdatedAt, p.Since, p.Version = Draft, now, now, now, 1
	ws, err := p.log(Line{At: now, Kind: TransitionLine, To: Draft, By: p.CreatedBy})
	if err != nil {
		return p, err
	}
	it, err := table.NewItem(Key(p.Org, p.ID), p)
	if err != nil {
		return p, err
	}
	ws = append([]table.Write{table.Put(it, table.Absent()), count(p.Org, 1)}, ws...)
	return p, s.commit(ctx, &p, change{writes: ws, now: p.PolicyIDs()})
}

// countKey returns the key of the number of plans.
func countKey(org string) table.Key { return table.Key{PK: pk(org), SK: "COUNT"} }

func count(org string, by int64) table.Write {
	if by < 0 {
		return table.Update(countKey(org), []table.Change{table.Add("plans", by)})
	}
	return table.Update(countKey(org), []table.Change{table.Add("plans", by)},
		table.Any(table.Lacks("plans"), table.Less("plans", MostPlans)))
}

// change is the content of a transaction: writes, whose first one is the plan's row, and the claims of the plan.
type change struct {
	writes      []table.Write
	before, now []string // the previous and the new policies of the plan
}

// commit writes a change of the plan. It retries when another plan changes the claims meanwhile.
func (s *Store) commit(ctx context.Context, p *Plan, c change) error {
	for range tries {
		claims, err := s.claims(ctx, p, c.before, c.now)
		if err != nil {
			return err
		}
		err = s.table.Transact(table.Within(ctx, workqueue.Prefix), slices.Concat(c.writes, claims)...)
		if lost, ok := errors.AsType[*table.ConditionError](err); ok {
			err = p.lost(lost, len(c.writes))
		}
		if !errors.Is(err, errAgain) {
			return fault.Wrap("write plan "+p.ID, err)
		}
	}
	return fault.New(fault.Conflict, "targets: other plans for the same policies are being changed: try again")
}

// lost returns the error for a refused change. Its first own writes are not claims.
func (p *Plan) lost(lost *table.ConditionError, own int) error {
	for _, f := range lost.Failed {
		switch {
		case f.Old.Key == countKey(p.Org):
			return fault.New(fault.Conflict,
				"the organization has %d event readiness plans, which is the most: delete some first", MostPlans)
		case f.Index == 0:
			return errMoved
		case f.Index < own:
			return lost
		case f.Old.PK == PolicyKey(p.Org, "").PK:
			return fault.NewWithCause(fault.Conflict, lost,
				"targets: autoscaler policy %s was deleted; send targets with policies that GET "+
					"/autoscaler-policies lists", f.Old.SK)
		}
	}
	return errAgain
}

// errMoved means that the plan was changed since it was read.
var errMoved = fault.New(fault.Conflict,
	"the plan was changed at the same moment: read it again, and ask again if that is still wanted")

// IsMoved reports whether a change failed because the plan was changed since it was read.
func IsMoved(err error) bool { return errors.Is(err, errMoved) }

// Change is a change of a plan.
type Change struct {
	To      Status // the current status to keep it
	By      string
	Message string
	Edit    func(*Plan)   // further changes; may be nil
	Work    []table.Write // writes of pending work; may be nil
	Report  *Report       // of the executor, to be logged; may be nil
	Delete  bool          // also delete the plan
}

// Move changes a plan and logs the change. It returns fault.Conflict and changes nothing when the transition is not
// in the table or the plan has changed since it was read.
func (s *Store) Move(ctx context.Context, p Plan, c Change) (Plan, error) {
	was, now := p, s.clock.Now()
	if c.To != p.Status {
		if err := p.Status.Check(c.To); err != nil {
			return was, err
		}
		p.Status, p.Since, p.Message = c.To, now, c.Message
	}
	if c.Edit != nil {
		c.Edit(&p)
	}
	p.UpdatedAt = now
	p.Version++
	logged, err := p.log(c.lines(was, now)...)
	if err != nil {
		return was, err
	}
	own, err := s.store(&p, was, c.Delete)
	if err != nil {
		return was, err
	}
	all := change{writes: slices.Concat(own, logged, c.Work)}
	if was.Status.HoldsWindow() {
		all.before = was.PolicyIDs()
	}
	if p.Status.HoldsWindow() && !c.Delete {
		all.now = p.PolicyIDs()
	}
	if was.sameClaims(&p, all) {
		all.before, all.now = nil, nil
	}
	if err = s.commit(ctx, &p, all); err != nil {
		return was, err
	}
	return p, nil
}

// sameClaims reports whether a change needs no write of claims.
func (p *Plan) sameClaims(to *Plan, c change) bool {
	return p.Window() == to.Window() && slices.Equal(c.before, c.now)
}

// lines returns the log lines of the change.
func (c *Change) lines(was Plan, now time.Time) []Line {
	var out []Line
	l := Line{At: now, By: c.By, Message: c.Message, Run: was.Run}
	if c.Report != nil {
		called := l
		called.Kind, called.To, called.Report = CallbackLine, c.Report.Status, c.Report.ID
		out = append(out, called)
	}
	switch {
	case c.To != was.Status:
		l.Kind, l.From, l.To = TransitionLine, was.Status, c.To
		out = append(out, l)
	case c.Report == nil:
		l.Kind = ChangeLine
		out = append(out, l)
	}
	return out
}

// keepDeleted is how long a deleted plan is kept.
const keepDeleted = 90 * 24 * time.Hour

// store returns the writes of the plan's own row, on the condition that it is unchanged. A deleted plan moves out of
// the list.
func (s *Store) store(p *Plan, was Plan, deleted bool) ([]table.Write, error) {
	conds := []table.Cond{table.Equal("version", was.Version), table.Equal("status", string(was.Status))}
	if !deleted {
		w, err := table.PutFields(Key(p.Org, p.ID), *p, conds...)
		return []table.Write{w}, err
	}
	p.DeletedAt = s.clock.Now()
	it, err := table.NewItem(deletedKey(p.Org, p.ID), *p)
	it.Expires = p.DeletedAt.Add(keepDeleted)
	return []table.Write{table.Delete(Key(p.Org, p.ID), conds...), table.Put(it), count(p.Org, -1)}, err
}
