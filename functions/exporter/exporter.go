// Package exporter is the worker that writes exports of costs and resources into files, row by row, and removes expired
// files.
package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

type worker struct {
	p         *platform.Platform
	reader    *report.Reader
	costs     *cost.Store
	resources *report.RecordReader
	maxRows   int64
}

// Handler answers the tasks of the machine, and calls of the schedule, which have no task.
func Handler(p *platform.Platform) workflow.Handler {
	costs := cost.New(p)
	w := &worker{p, report.NewReader(p, costs), costs, report.NewRecordReader(p), report.MaxExportRows}
	return w.handle
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	var named struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(input, &named); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "exporter was sent no JSON")
	}
	if named.Task == "" {
		return w.removeExpired(ctx)
	}
	c, err := w.p.ReadCall(ctx, report.ExportWorker, input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "export":
		return workflow.RunTask(ctx, c, w.export)
	case "abandon":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in report.ExportInput) (report.ExportInput, error) {
			return in, w.fail(ctx, in, "the export was given up: "+c.Error.String()+": ask for it again, or for "+
				"fewer days")
		})
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in report.ExportInput) (report.ExportInput, error) {
			return in, report.FinishExport(ctx, w.p, in)
		})
	}
	return nil, fault.New(fault.Invalid, "exporter knows no task %q", c.Task)
}

// export writes the file of a job. It is idempotent: it replaces the whole file, and then ends the job.
func (w *worker) export(ctx context.Context, in report.ExportInput) (report.ExportInput, error) {
	j, err := report.ReadExport(ctx, w.p.Table, in.Org, in.JobID)
	if fault.Is(err, fault.NotFound) || err == nil && !j.CompletedAt.IsZero() {
		return in, nil
	}
	if err != nil {
		return in, err
	}
	grants, err := grant.Decode([]byte(j.Grants))
	if err != nil {
		return in, fault.NewWithCause(fault.Internal, err, "the grants of export %s cannot be read", j.ID)
	}
	as := identity.WithCaller(ctx, identity.Caller{Org: in.Org, User: j.User, Grants: grants})
	made, err := w.write(as, in, &j)
	if fault.Is(err, fault.Invalid) {
		return in, w.fail(ctx, in, err.Error())
	}
	if err != nil {
		return in, err
	}
	return in, report.EndExport(ctx, w.p, in, func(j *report.Export) {
		j.Status, j.Rows, j.Totals = report.ExportSucceeded, made.rows, &made.totals
		j.Unconverted, j.SummedMonths, j.Incomplete = made.unconverted, made.summedMonths, made.incomplete
	})
}

func (w *worker) fail(ctx context.Context, in report.ExportInput, why string) error {
	return report.EndExport(ctx, w.p, in, func(j *report.Export) {
		j.Status, j.Message = report.ExportFailed, fault.CleanText(why, 500)
	})
}

// made counts the rows of a file and adds up their costs.
type made struct {
	rows         int64
	totals       cost.Amounts
	unconverted  []cost.CurrencyTotal
	summedMonths []string
	incomplete   []string // months whose bills are not all imported
}

// addRow counts a row. It returns fault.Invalid for the first row that is too many.
func (m *made) addRow(most int64) error {
	if m.rows++; m.rows > most {
		return fault.New(fault.Invalid, "the export has more than %d rows: ask for fewer days, or filter", most)
	}
	return nil
}

// write writes the file with the costs that the caller of ctx may see.
func (w *worker) write(ctx context.Context, in report.ExportInput, j *report.Export) (made, error) {
	if j.Resources != nil {
		return w.writeResources(ctx, in, j)
	}
	q := j.Question()
	var err error
	if q.Within, err = w.reader.Within(ctx); err != nil {
		return made{}, err
	}
	incomplete, err := w.reader.IncompleteMonths(ctx, &q)
	if err != nil {
		return made{}, err
	}
	content := w.writeDays
	if j.Detail == report.DetailLines {
		if err = report.CheckLines(&q); err != nil {
			return made{}, fault.NewWithCause(fault.Invalid, err, "%s", fault.Message(err))
		}
		content = w.writeLines
	}
	var out made
	err = w.p.Archive.Put(ctx, report.ExportObjectName(in.Org, j.ID), func(to io.Writer) error {
		var err error
		out, err = content(ctx, &q, j.Format, to)
		out.incomplete = report.PeriodsOf(incomplete)
		return err
	})
	return out, err
}

// writeResources writes the file with the resources that the caller of ctx may see.
func (w *worker) writeResources(ctx context.Context, in report.ExportInput, j *report.Export) (made, error) {
	var out made
	err := w.p.Archive.Put(ctx, report.ExportObjectName(in.Org, j.ID), func(to io.Writer) error {
		out = made{}
		f := newResourceFile(j.Format, to)
		err := w.resources.Each(ctx, *j.Resources, func(r *report.Record) (bool, error) {
			if err := out.addRow(w.maxRows); err != nil {
				return false, err
			}
			return true, f.addRow(r)
		})
		if err != nil {
			return err
		}
		return f.close()
	})
	return out, err
}

// writeDays writes the costs by day.
func (w *worker) writeDays(ctx context.Context, q *cost.Question, format string, to io.Writer) (made, error) {
	var out made
	f := newFile(format, to)
	var err error
	out.unconverted, err = report.EachExportRow(ctx, w.reader.Ask, *q, func(r *report.ExportRow) (bool, error) {
		if err := out.addRow(w.maxRows); err != nil {
			return false, err
		}
		out.totals.Add(&r.Costs)
		return true, f.add(r)
	})
	if err != nil {
		return out, err
	}
	return out, f.close()
}

// Removed is the answer to the schedule.
type Removed struct {
	Removed int `json:"removed"`
}

// removing is how long one run removes files. The next run continues.
const removing = 10 * time.Minute

// removeExpired removes expired files. A file that cannot be removed does not keep the others: its error is reported,
// and the next hourly run tries again.
func (w *worker) removeExpired(ctx context.Context) (Removed, error) {
	now := w.p.Clock.Now()
	q := table.Query{PK: string(report.ExportDuePartition), To: now.UTC().Format(time.RFC3339), Limit: 1000}
	ctx = table.Within(ctx, q.PK)
	var out Removed
	var errs []error
	for more := true; more && w.p.Clock.Now().Before(now.Add(removing)) && ctx.Err() == nil; more = q.Cursor != "" {
		page, err := w.p.Table.Query(ctx, q)
		if err != nil {
			return out, errors.Join(append(errs, fault.Wrap("list exports that have expired", err))...)
		}
		for _, it := range page.Items {
			if err = w.remove(ctx, it); err != nil {
				errs = append(errs, err)
				continue
			}
			out.Removed++
		}
		q.Cursor = page.Next
	}
	return out, errors.Join(errs...)
}

func (w *worker) remove(ctx context.Context, it table.Item) error {
	d, err := table.Decode[report.ExportDue](it)
	if err != nil {
		return err
	}
	if err = w.p.Outbox.Remove(ctx, report.ExportObjectName(d.Org, d.JobID)); err != nil {
		return fmt.Errorf("remove the file of export %s: %w", d.JobID, err)
	}
	_, err = w.p.Table.Write(ctx, table.Delete(it.Key))
	return fault.Wrap("take "+strings.TrimSpace(d.JobID)+" off the list of files", err)
}
