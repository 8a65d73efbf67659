package organisationsync

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
)

// errNoTime is the error of a member that this run has no time for.
var errNoTime = errors.New("no time is left in this run")

// openMembers opens the members that have to be, several at once, in the order of the organization's cursor, until the time of the run is
// over. It moves the cursor to the last member before the first that was not tried or failed, and keeps the rest as they were.
func (r *round) openMembers(ctx context.Context) error {
	cursor := &r.organisation.Sync.Cursor
	ids := cursor.Left(slices.Collect(maps.Keys(r.opening)))
	errs := make([]error, len(ids))
	cloud.InParallel(len(ids), width, func(i int) {
		if !r.p.Clock.Now().Before(r.until) || ctx.Err() != nil {
			errs[i] = errNoTime
			return
		}
		errs[i] = r.open(ctx, r.opening[ids[i]])
	})
	done := true
	for i, err := range errs {
		if done = done && err == nil; done {
			cursor.Last = ids[i]
		}
		if errors.Is(err, errNoTime) {
			r.left, errs[i] = true, nil
		}
	}
	return errors.Join(append(errs, r.noteUntried())...)
}

// open opens the account of one member, or makes it one.
func (r *round) open(ctx context.Context, is connection.Member) error {
	m := r.listed[is.NativeID]
	if a, there := r.accounts[is.NativeID]; there {
		return r.connectAgain(ctx, is, m, a)
	}
	return r.connectNew(ctx, is, m)
}

// noteUntried notes the members that have to be opened and were not tried in this run, as they were.
func (r *round) noteUntried() error {
	noted := make(map[string]bool, len(r.members))
	for i := range r.members {
		noted[r.members[i].NativeID] = true
	}
	var errs []error
	for native := range r.opening {
		if was, known := r.known[native]; known && !noted[native] {
			errs = append(errs, r.note(was))
		}
	}
	return errors.Join(errs...)
}
