package organisationsync

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
)

// errNoTime is the error of a member that this run has no time left for.
var errNoTime = errors.New("no time is left in this run")

// openMembers opens the members that need it, several at once, in the order of the organization's cursor, until the
// time of the run is over. It moves the cursor to the last member before the first one that was not tried or failed,
// and leaves the others unchanged.
func (r *round) openMembers(ctx context.Context) error {
	cursor := &r.organisation.Sync.Cursor
	ids := cursor.Left(slices.Collect(maps.Keys(r.opening)))
	errs := make([]error, len(ids))
	cloud.InParallel(len(ids), width, func(i int) {
		if !r.p.Clock.Now().Before(r.until) || ctx.Err() != nil {
			errs[i] = errNoTime
			return
		}
		errs[i] = r.openMember(ctx, r.opening[ids[i]])
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

// openMember opens the account of one member, or creates it.
func (r *round) openMember(ctx context.Context, is connection.Member) error {
	m := r.listed[is.NativeID]
	if a, there := r.accounts[is.NativeID]; there {
		return r.connectAgain(ctx, is, m, a)
	}
	return r.connectNew(ctx, is, m)
}

// noteUntried records the members that this run did not try, unchanged.
func (r *round) noteUntried() error {
	noted := make(map[string]bool, len(r.members))
	for i := range r.members {
		noted[r.members[i].NativeID] = true
	}
	var errs []error
	for native := range r.opening {
		if was, known := r.known[native]; known && !noted[native] {
			errs = append(errs, r.noteMember(was))
		}
	}
	return errors.Join(errs...)
}
