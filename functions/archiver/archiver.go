// Package archiver is the worker that archives records before the table lets them expire: the actions, bulk actions
// and state history of each organization, month by month, as soon as a month is over. It archives a year before they
// expire, so that a failure loses nothing.
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

// These constants set the days of a month on which organizations archive the month before: actions that began at its
// end are over by then, and records with the shortest retention still exist.
const (
	firstDay = 2
	days     = 20
)

// Archived summarizes a run: the organizations and months archived, and the objects and rows written.
type Archived struct {
	Organizations int `json:"organizations"`
	Months        int `json:"months"`
	Objects       int `json:"objects"`
	Rows          int `json:"rows"`
}

// Handler archives due months for EventBridge, each hour. For the eraser it erases the archived objects of an
// organization, including its line items.
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
		if err != nil { // every error of the schedule fails the call, so that alarms see it
			return did, fault.NewWithCause(fault.Internal, err, "not all that is due was archived")
		}
		return did, nil
	}
}

// ArchiveMonths archives the due months of every organization, and continues where the previous run ended. A failure
// in one organization does not affect the others.
func ArchiveMonths(ctx context.Context, p *platform.Platform) (Archived, error) {
	return (&round{Platform: p, until: p.Clock.Now().Add(stretch), perFile: perFile}).archiveAll(ctx)
}

// round is one run.
type round struct {
	*platform.Platform
	until   time.Time
	perFile int
	did     Archived
}

// entry is an organization in the directory: the last archived month, and the progress of the next one.
type entry struct {
	Org    string `json:"org"`
	Month  string `json:"month,omitempty"` // "2026-03"
	List   int    `json:"list,omitempty"`  // of the month after it
	File   int    `json:"file,omitempty"`  // of that list
	After  string `json:"after,omitempty"` // the sort key that the file before ended with
	Change int    `json:"change"`          // counts the changes of the row, which each is conditioned on
}

func (r *round) archiveAll(ctx context.Context) (Archived, error) {
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
				errs = append(errs, r.archiveOrganization(ctx, e))
			}
			if q.Cursor = next; next == "" {
				break
			}
		}
	}
	return r.did, errors.Join(errs...)
}

// archiveOrganization archives the due months of an organization as far as there is time.
func (r *round) archiveOrganization(ctx context.Context, e entry) error {
	worked := false
	for r.Clock.Now().Before(r.until) {
		month, due := e.nextMonth(r.Clock.Now())
		if !due {
			break
		}
		worked = true
		more, err := r.archiveNext(ctx, &e, month)
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

// nextMonth returns the month to archive next, if any: a month that is over, and the latest such month only from the
// organization's day on.
func (e entry) nextMonth(now time.Time) (time.Time, bool) {
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

// storeEntry replaces the entry that was read. It returns false if another run was faster, or if the organization is
// gone.
func (r *round) storeEntry(ctx context.Context, e *entry) (bool, error) {
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
