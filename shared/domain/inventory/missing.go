package inventory

import (
	"context"
	"maps"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// A listing may lack resources that exist: because a service is disturbed, an index is rebuilt, or permissions were
// narrowed. These are the times from the first listing without a resource to the listing that confirms that it is
// gone, for resources that could not be read by id. The longer one applies while more than a tenth of an account is
// missing.
const (
	missingTime      = time.Hour
	massMissingTime  = 24 * time.Hour
	massMissingShare = 10 // one in so many resources of the account
	fewMissing       = 20 // so many resources are never too many, however small the account is
)

// missing is a resource that is not terminated, and that a scan did not find.
type missing struct {
	rec   Resource
	scan  *unfinished
	since int64 // when the first listing began that did not return it, in Unix microseconds; 0: this is the first one
}

// isConfirmed reports whether the listings alone confirm that the resource is gone.
func (m missing) isConfirmed(wait time.Duration) bool {
	return m.since > 0 && m.scan.started-m.since >= wait.Microseconds()
}

// confirm reads the missing resources of all scans by id, concurrently, and returns by uid whether each exists.
func (f *finish) confirm(ctx context.Context, scans []EndedScan) map[string]bool {
	uids := map[int][]string{}
	for _, m := range f.missing {
		if scans[m.scan.i].Exists != nil {
			uids[m.scan.i] = append(uids[m.scan.i], m.rec.UID)
		}
	}
	out, mu, reads := map[string]bool{}, sync.Mutex{}, sync.WaitGroup{}
	for i, some := range uids {
		reads.Go(func() {
			exists := scans[i].Exists(ctx, some)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(out, exists)
		})
	}
	reads.Wait()
	return out
}

// decide terminates the missing resources that are gone, and marks the others that could not be read.
func (f *finish) decide(st *index.State, exists map[string]bool) {
	if len(f.missing) == 0 {
		return
	}
	waits := f.waits(st)
	for _, m := range f.missing {
		there, wasRead := exists[m.rec.UID]
		switch {
		case wasRead && there:
			f.keep(m)
		case wasRead, m.isConfirmed(waits[m.rec.CloudAccountID]):
			f.terminate(m)
		case m.since == 0:
			f.mark(m, true)
		}
	}
}

// waits returns, by account, how long a resource must be missing before it counts as terminated.
func (f *finish) waits(st *index.State) map[string]time.Duration {
	lost, all := map[string]int{}, map[string]int{}
	for _, m := range f.missing {
		all[m.rec.CloudAccountID] = 0
		if m.since == 0 { // the others have their marks
			lost[m.rec.CloudAccountID]++
		}
	}
	st.RLock()
	defer st.RUnlock()
	for r := range st.Rows() {
		account := r.Word(index.AccountRef)
		if _, wanted := all[account]; !wanted || cloud.Status(r.Word(index.StatusRef)) == cloud.Terminated {
			continue
		}
		all[account]++
		if r.Vanished() {
			lost[account]++
		}
	}
	out := map[string]time.Duration{}
	for account, n := range all {
		if out[account] = missingTime; lost[account] > max(fewMissing, n/massMissingShare) {
			out[account] = massMissingTime
		}
	}
	return out
}

// terminate sets the resource's status to terminated, in its record and in the index.
func (f *finish) terminate(m missing) {
	rec, u := m.rec, m.scan
	rec.Status, rec.StatusAt = cloud.Terminated, u.started
	f.mark(missing{rec: rec, scan: u}, true)
	f.of[rec.UID] = u.i
	f.changes[u.i].Vanished++
	f.writes = append(f.writes, table.Update(ResourceKey(f.org, rec.UID), []table.Change{
		table.Set("status", string(rec.Status)), table.Set("statusAt", u.started),
		table.Set("lastSeenAt", rec.LastSeenAt),
	}, table.LessEqual("statusAt", u.started)))
}

// keep clears the missing mark of a resource that exists.
func (f *finish) keep(m missing) {
	if m.since == 0 {
		return
	}
	m.rec.LastSeenAt = timeOfMicros(m.scan.started)
	f.mark(m, false)
}

// mark records in the index that listings do not return the resource from this scan on, or that it exists all the
// same.
func (f *finish) mark(m missing, vanished bool) {
	row := newRow(f.g.Symbols, m.rec)
	row.Vanished, row.Times[index.ContentTime] = vanished, m.scan.started
	f.g.Rows = append(f.g.Rows, row)
}
