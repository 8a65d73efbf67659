package costqueries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// NewQuestion is the body of POST /reports/query.
type NewQuestion struct {
	From     string   `json:"from" maxLength:"10" doc:"The first day, or month" example:"2026-03-01"`
	To       string   `json:"to" maxLength:"10" doc:"The day, or month, behind the last; at most 36 months" example:"2026-04-01"`
	Measures []string `json:"measures,omitempty" doc:"The measures to add up: BilledCost, EffectiveCost, ListCost, PricingQuantity, Count. BilledCost if left out" example:"[\"BilledCost\"]"`
	GroupBy  []string `json:"groupBy,omitempty" doc:"Up to 8 columns of FOCUS, or Tags.<key>. ChargePeriodStart is a day, BillingPeriodStart a month" example:"[\"ServiceName\"]"`
	Filters  []Filter `json:"filters,omitempty" doc:"Conditions that a line must all meet: at most 20"`
	OrderBy  string   `json:"orderBy,omitempty" maxLength:"1100" doc:"A column or measure of the question; behind -, descending. The first measure, descending, if left out" example:"-BilledCost"`
	Limit    int      `json:"limit,omitempty" minimum:"0" maximum:"10000" doc:"Rows of the answer; 10,000 if left out"`
	DryRun   bool     `json:"dryRun,omitempty" doc:"Answer the bytes that the question would scan and their price, without running it"`
}

// Filter is a condition on a column.
type Filter struct {
	Column   string   `json:"column" maxLength:"1100" example:"RegionId"`
	Operator string   `json:"operator" maxLength:"20" doc:"is, is_not, starts_with, contains: with any of the values; is_empty, is_present: without" example:"is"`
	Values   []string `json:"values,omitempty" doc:"At most 100; 64 KB of all filters together" example:"[\"eu-west-1\"]"`
}

type askInput struct{ Body NewQuestion }

func (s *service) ask(ctx context.Context, in *askInput) (Question, error) {
	q, err := newQuery(&in.Body)
	if err != nil {
		return Question{}, err
	}
	org := identity.CallerOrg(ctx)
	q, bound, err := s.boundToScope(ctx, q)
	if err != nil {
		return Question{}, err
	}
	from, to := q.Months()
	items, err := s.costs.LineItems(ctx, org, from, to)
	if err != nil {
		return Question{}, err
	}
	if err = q.CheckScan(items); err != nil {
		return Question{}, err
	}
	now := s.p.Clock.Now().UTC()
	r := costquery.Record{
		ID: id.New("qry", now), Query: q, Status: costquery.Pending, Scanned: q.Scan(items),
		CreatedAt: now,
	}
	if bound {
		r.BindTo(identity.CallerFrom(ctx))
	}
	if in.Body.DryRun {
		r.ID, r.Status, r.CreatedAt = "", planned, time.Time{}
		return newQuestion(&r), nil
	}
	return s.begin(ctx, org, r)
}

// boundToScope restricts the question to the caller's scope, and returns whether that scope is limited. It takes up to
// two round trips for a limited scope.
func (s *service) boundToScope(ctx context.Context, q costquery.Query) (costquery.Query, bool, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(report.Policy)
	if scopes.All {
		return q, false, nil
	}
	sets, err := s.inventory.ResourceSets(ctx, c.Org, scopes)
	if err != nil {
		return q, true, err
	}
	q, err = q.BoundTo(sets[0].UIDs())
	return q, true, err
}

// maxOpen is the most open questions of an organization. The check looks at the latest questions only.
const (
	maxOpen = 10
	looked  = 50
	lost    = time.Hour // a question that is not polled for so long is no longer open
)

// begin records a question and advances its answer as far as possible now. The caller's polls advance the rest.
func (s *service) begin(ctx context.Context, org string,
	r costquery.Record, //nolint:gocritic // it is changed here
) (Question, error) {
	err := s.store(ctx, org, &r)
	if err != nil {
		return Question{}, err
	}
	if err = s.advance(ctx, org, r.ID); err != nil {
		s.p.Log.WarnContext(ctx, "a question will be answered when it is polled", "query", r.ID, "org", org, "error",
			err)
		return newQuestion(&r), nil
	}
	r, err = costquery.ReadRecord(ctx, s.p.Table, org, r.ID)
	return newQuestion(&r), err
}

// store stores a question and counts its scanned bytes, if the organization may open one more question.
func (s *service) store(ctx context.Context, org string, r *costquery.Record) error {
	put, err := costquery.PutRecord(org, r, table.Absent())
	if err != nil {
		return err
	}
	counted := costquery.CountBytes(org, r.Scanned, r.CreatedAt)
	limited := table.LimitedList{PK: costquery.RecordKey(org, "").PK, Noun: "questions"}
	return limited.Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.checkRoom(ctx, org); err != nil {
			return err
		}
		err := s.p.Table.Transact(ctx, put, counted, take)
		if lost, ok := errors.AsType[*table.ConditionError](err); ok && !table.IsTurnLost(err) {
			if _, over := lost.Old(1); over {
				return costquery.ErrQuota(r.Scanned, r.CreatedAt)
			}
		}
		return fault.Wrap("store question "+r.ID, err)
	})
}

func (s *service) advance(ctx context.Context, org, queryID string) error {
	var nothing struct{}
	return s.p.Workers.Invoke(ctx, costquery.Worker, costquery.Request{Org: org, QueryID: queryID}, &nothing)
}

// checkRoom returns an error if the organization has the most open questions already.
func (s *service) checkRoom(ctx context.Context, org string) error {
	q := table.Query{PK: costquery.RecordKey(org, "").PK, Prefix: "qry_", Reverse: true, Limit: looked}
	all, _, err := table.ReadPage[costquery.Record](ctx, s.p.Table, q)
	if err != nil {
		return fmt.Errorf("list questions of %s: %w", org, err)
	}
	open := 0
	for i := range all {
		if all[i].EndedAt.IsZero() && s.p.Clock.Now().Sub(all[i].CreatedAt) < lost {
			open++
		}
	}
	if open >= maxOpen {
		return fault.New(fault.Conflict,
			"%d questions are open, which is the most at once: poll them until they are answered", open)
	}
	return nil
}

// newQuery parses and validates a question.
func newQuery(b *NewQuestion) (costquery.Query, error) {
	q := costquery.Query{Measures: b.Measures, GroupBy: b.GroupBy, OrderBy: b.OrderBy, Limit: b.Limit}
	var err error
	if q.From, err = readDay("from", b.From); err != nil {
		return q, err
	}
	if q.To, err = readDay("to", b.To); err != nil {
		return q, err
	}
	if len(q.Measures) == 0 {
		q.Measures = []string{"BilledCost"}
	}
	for _, f := range b.Filters {
		q.Filters = append(q.Filters,
			costquery.Filter{Column: f.Column, Operator: costquery.Operator(f.Operator), Values: f.Values})
	}
	return q, q.Check()
}

// readDay parses a day, or the first day of a month.
func readDay(field, text string) (time.Time, error) {
	if m, err := cost.ParseMonth(text); err == nil {
		return m.Start(), nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, fault.NewWithCause(fault.Invalid, err, "%s: %.32q is no day and no month; they look like "+
			"2026-03-31 and 2026-03", field, text)
	}
	return t, nil
}
