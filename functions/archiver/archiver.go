// Package archiver is the worker that archives what the table lets expire: the actions, bulk actions and state history of each
// organization, month by month, as soon as a month is over. It is early by a year, so that no failure of it loses anything.
package archiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	stretch  = 10 * time.Minute // after it no further object is begun
	pageSize = 500
	perFile  = 200_000 // rows of an object
)

// The days of a month on which organizations have the month before archived: what was begun at its end is over by then, and
// what they keep for the shortest time is still there.
const (
	firstDay = 2
	days     = 20
)

// Archived tells what a run did: for how many organizations it archived how many months, in how many objects and rows.
type Archived struct {
	Organizations int `json:"organizations"`
	Months        int `json:"months"`
	Objects       int `json:"objects"`
	Rows          int `json:"rows"`
}

// Handler archives what is due, which EventBridge calls it for each hour, or erases what is kept as objects of an organization, its line items
// too, which the eraser asks for.
func Handler(p *platform.Platform) lambdacall.Handler {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		var in archive.Request
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fault.NewWithCause(fault.Invalid, err, "the archiver was called with no JSON")
		}
		if in.Erase != "" {
			return Archived{}, errors.Join(p.Archive.Erase(ctx, in.Erase), p.Lines.Erase(ctx, in.Erase))
		}
		did, err := ArchiveMonths(ctx, p)
		if err != nil { // whatever it is: a schedule that failed is a failed call, which alarms see
			return did, fault.NewWithCause(fault.Internal, err, "not all that is due was archived")
		}
		return did, nil
	}
}

// ArchiveMonths archives for every organization the months that are due, and goes on where the run before it ended. An
// organization of which a month cannot be archived does not keep the others from being.
func ArchiveMonths(ctx context.Context, p *platform.Platform) (Archived, error) {
	return (&round{Platform: p, until: p.Clock.Now().Add(stretch), perFile: perFile}).run(ctx)
}

// round is one run.
type round struct {
	*platform.Platform
	until   time.Time
	perFile int
	did     Archived
}

// entry is an organization in the directory: the last month that is archived, and how far the next one is.
type entry struct {
	Org    string `json:"org"`
	Month  string `json:"month,omitempty"` // "2026-03"
	List   int    `json:"list,omitempty"`  // of the month after it
	File   int    `json:"file,omitempty"`  // of that list
	After  string `json:"after,omitempty"` // the sort key that the file before ended with
	Change int    `json:"change"`          // counts the changes of the row, which each is conditioned on
}

func (r *round) run(ctx context.Context) (Archived, error) {
	ctx = table.Within(ctx, identity.DirectoryPrefix)
	var errs []error
	for shard := range identity.DirectoryShards {
		q := table.Query{PK: identity.DirectoryPK(shard), Limit: pageSize}
		for {
			entries, next, err := table.ReadPage[entry](ctx, r.Table, q)
			if err != nil {
				errs = append(errs, fmt.Errorf("read the directory: %w", err))
				break
			}
			for _, e := range entries {
				errs = append(errs, r.organization(ctx, e))
			}
			if q.Cursor = next; next == "" {
				break
			}
		}
	}
	return r.did, errors.Join(errs...)
}

// organization archives the months of an organization that are due, as far as there is time.
func (r *round) organization(ctx context.Context, e entry) error {
	worked := false
	for r.Clock.Now().Before(r.until) {
		month, due := e.due(r.Clock.Now())
		if !due {
			break
		}
		worked = true
		more, err := r.archive(ctx, &e, month)
		if err != nil {
			return fmt.Errorf("archive %s of %s: %w", month.Format(monthForm), e.Org, err)
		}
		if !more {
			break
		}
	}
	if worked {
		r.did.Organizations++
	}
	return nil
}

const monthForm = "2006-01"

// due returns the month that is to be archived next, if there is one: any that is over, and the last of these from the
// organization's day on.
func (e entry) due(now time.Time) (time.Time, bool) {
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	next, err := time.Parse(monthForm, e.Month)
	if err == nil {
		next = next.AddDate(0, 1, 0)
	} else if made := id.TimeOf(e.Org); !made.IsZero() {
		next = time.Date(made.Year(), made.Month(), 1, 0, 0, 0, 0, time.UTC)
	} else {
		next = last
	}
	return next, next.Before(last) || next.Equal(last) && now.Day() >= firstDay+table.ShardOf(e.Org, days)
}

// note puts the entry in the place of the one that was read; false says that another run was faster, or the organization is
// gone.
func (r *round) note(ctx context.Context, e *entry) (bool, error) {
	unchanged := table.Equal("change", e.Change)
	if e.Change == 0 {
		unchanged = table.Lacks("change")
	}
	e.Change++
	it, err := table.NewItem(identity.DirectoryKey(e.Org), e)
	if err != nil {
		return false, err
	}
	_, err = r.Table.Write(ctx, table.Put(it, table.Exists(), unchanged))
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return false, nil
	}
	return err == nil, err
}
