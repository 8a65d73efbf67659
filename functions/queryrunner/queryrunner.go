// Package queryrunner is the worker that answers free questions of line items: in its own process from their files, or
// by Athena. The caller polls it until there is an answer, so the worker does nothing for a caller that has stopped
// asking.
package queryrunner

import (
	"context"
	"encoding/json"
	"errors"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

type runner struct {
	p      *platform.Platform
	costs  *cost.Store
	engine costquery.Engine
}

// Handler continues with the question of a costquery.Request.
func Handler(p *platform.Platform, e costquery.Engine) workflow.Handler {
	r := &runner{p, cost.New(p), e}
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		var in costquery.Request
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fault.NewWithCause(fault.Internal, err, "queryrunner was sent no request")
		}
		return struct{}{}, r.advance(ctx, in)
	}
}

// advance continues with a question that has not ended.
func (r *runner) advance(ctx context.Context, in costquery.Request) error {
	rec, err := costquery.ReadRecord(ctx, r.p.Table, in.Org, in.QueryID)
	if err != nil || !rec.EndedAt.IsZero() {
		return err
	}
	j := costquery.Job{Org: in.Org, ID: rec.ID, Query: rec.Query, Execution: rec.Execution}
	if j.Execution == "" {
		from, to := j.Query.Months()
		if j.Items, err = r.costs.LineItems(ctx, in.Org, from, to); err != nil {
			return err
		}
	}
	if err = j.Query.CheckScan(j.Items); err == nil {
		return r.step(ctx, &j, &rec)
	}
	return r.fail(ctx, in.Org, &rec, err)
}

func (r *runner) step(ctx context.Context, j *costquery.Job, rec *costquery.Record) error {
	if len(j.Items) == 0 && j.Execution == "" { // no bill of these months was imported
		none := costquery.NewAnswer(j.Query, nil)
		return r.end(ctx, j.Org, rec, costquery.Step{Answer: &none})
	}
	s, err := r.engine.Advance(ctx, j)
	switch {
	case fault.Is(err, fault.Invalid):
		return r.fail(ctx, j.Org, rec, err)
	case err != nil:
		return fault.Wrap("answer "+rec.ID, err)
	case s.Answer != nil:
		return r.end(ctx, j.Org, rec, s)
	}
	rec.Status, rec.Execution = costquery.Running, s.Execution
	return r.put(ctx, j.Org, rec)
}

func (r *runner) fail(ctx context.Context, org string, rec *costquery.Record, why error) error {
	if !fault.Is(why, fault.Invalid) {
		return why
	}
	rec.Status, rec.Error, rec.EndedAt = costquery.Failed, fault.Message(why), r.p.Clock.Now().UTC()
	return r.put(ctx, org, rec)
}

// end writes the rows of an answer, and then marks the record as succeeded.
func (r *runner) end(ctx context.Context, org string, rec *costquery.Record, s costquery.Step) error {
	pages, err := costquery.PutPages(org, rec, s.Answer)
	if err != nil {
		return err
	}
	if err = table.NewPatientStore(r.p.Table).BatchWrite(ctx, pages...); err != nil {
		return fault.Wrap("store the answer to "+rec.ID, err)
	}
	rec.Columns = append(append([]string{}, s.Answer.Columns...), s.Answer.Measures...)
	rec.Rows, rec.Pages, rec.Truncated = len(s.Answer.Rows), len(pages), s.Answer.Groups > len(s.Answer.Rows)
	rec.Status, rec.Scanned, rec.EndedAt = costquery.Succeeded, s.Scanned, r.p.Clock.Now().UTC()
	return r.put(ctx, org, rec)
}

// put stores the record. If another poll has ended it meanwhile, put does nothing and returns nil.
func (r *runner) put(ctx context.Context, org string, rec *costquery.Record) error {
	w, err := costquery.PutRecord(org, rec, table.Exists(), table.Lacks("endedAt"))
	if err != nil {
		return err
	}
	_, err = r.p.Table.Write(ctx, w)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("store question "+rec.ID, err)
}
