// Package billimport stores the state of bill imports: the entry of each cloud account, the running imports and the
// uploaded files. It is shared by the operations that show this state, the connection of an account and the worker
// that imports bills. The resulting costs are in package cost.
package billimport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxMonths is the number of months, including the current one, that are imported when an account is connected.
const MaxMonths = 13

// Worker is the function that imports bills.
const Worker = "billingsync"

// The partitions of entries and runs, of uploads, and of the due times of accounts.
const (
	Partition       table.Partition = "ORG#*#BILLING"
	UploadPartition table.Partition = "ORG#*#BILLUPLOAD"
	DuePartition    table.Partition = DuePrefix + "*"
)

// Step is the part of an import that failed.
type Step string

// The steps.
const (
	Reachability Step = "reachability" // the export cannot be listed or opened
	Schema       Step = "schema"       // a file does not have the expected form
	Sample       Step = "sample"       // a row does not have the expected form
	Totals       Step = "totals"       // rows or sums differ from the provider's
)

// Failure is the reason why bills could not be imported.
type Failure struct {
	Step    Step      `json:"step"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// Entry is the state of an account's bills.
type Entry struct {
	AccountID string    `json:"accountID"`
	Provider  string    `json:"provider"`
	JobID     string    `json:"jobID,omitempty"` // the run in progress
	StartedAt time.Time `json:"startedAt,omitzero"`
	TriedAt   time.Time `json:"triedAt,omitzero"` // when a run ended last
	// when an import last found all existing bills imported
	LastSyncedAt time.Time `json:"lastSyncedAt,omitzero"`
	DeliveredAt  time.Time `json:"deliveredAt,omitzero"`  // of the newest delivery
	BackfilledAt time.Time `json:"backfilledAt,omitzero"` // when all months were gone through first
	Months       int       `json:"months,omitempty"`      // the number of months with bills
	Listed       []string  `json:"listed,omitempty"`      // the months with bills that the first import found
	// by imported month, when its delivery was last checked
	Looked  map[string]time.Time `json:"looked,omitempty"`
	Failure *Failure             `json:"failure,omitempty"` // of the newest run; nil when all went well
	// the provider's warning about an export that does deliver
	Notice string `json:"notice,omitempty"`
	// the number of changes of the row; each change is conditional on it
	Change int `json:"change"`
}

// Status is the state of an account's bills in one word.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Stale   Status = "stale" // no success for staleAfter
	Syncing Status = "syncing"
	Failed  Status = "failed"
	Never   Status = "never" // nothing was imported yet
)

const (
	staleAfter = 48 * time.Hour
	// grace is how long a newly connected account may be without a first export before that is a failure.
	grace = 48 * time.Hour
	// lost is the time after which a run counts as dead. It is longer than the machine's TimeoutSeconds.
	lost = 7 * time.Hour
)

// IsSyncing reports whether a run is in progress at the time now.
func (e Entry) IsSyncing(now time.Time) bool { return e.JobID != "" && now.Sub(e.StartedAt) < lost }

// MissingMonths returns the months whose bills the first import of the account has not imported at the time now. Until
// it has listed the bills, all months that it may find are missing.
func (e Entry) MissingMonths(now time.Time) []string {
	switch {
	case !e.BackfilledAt.IsZero():
		return nil
	case len(e.Listed) > 0:
		return slices.DeleteFunc(slices.Clone(e.Listed), func(month string) bool {
			_, imported := e.Looked[month]
			return imported
		})
	case !e.IsSyncing(now):
		return nil
	}
	this := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	out := make([]string, MaxMonths)
	for n := range out {
		out[n] = this.AddDate(0, -n, 0).Format("2006-01")
	}
	return out
}

// StatusAt returns the status of the bills at the time now, and the reason for it. connected is the time when the
// account was connected.
func (e Entry) StatusAt(now, connected time.Time) (Status, string) {
	switch {
	case e.IsSyncing(now):
		return Syncing, e.progress()
	case e.LastSyncedAt.IsZero():
		return e.beforeFirst(now, connected)
	case now.Sub(e.LastSyncedAt) > staleAfter:
		return Stale, "not synchronized since " + e.LastSyncedAt.UTC().Format(time.RFC3339) + e.why()
	case e.Failure != nil:
		return Failed, e.Failure.String()
	case now.Sub(e.DeliveredAt) > staleAfter:
		return Stale, "the provider has delivered nothing since " + e.DeliveredAt.UTC().Format(time.RFC3339) +
			": look whether its export still runs"
	}
	return OK, e.Notice
}

func (e Entry) progress() string {
	return fmt.Sprintf("importing bills; %d of up to %d months are in", e.Months, MaxMonths)
}

// beforeFirst returns the status of an account before its first complete import, and the reason.
func (e Entry) beforeFirst(now, connected time.Time) (Status, string) {
	switch {
	case e.Failure == nil:
		return Never, "bills were not looked for yet"
	case e.Months == 0 && e.Failure.Step == Reachability && now.Sub(connected) < grace:
		return Never, "waiting for first export: " + e.Failure.Message
	}
	return Failed, e.Failure.String()
}

func (e Entry) why() string {
	if e.Failure == nil {
		return ""
	}
	return ": " + e.Failure.String()
}

// String returns the step and its message.
func (f Failure) String() string { return string(f.Step) + ": " + f.Message }

// EntryKey returns the key of the entry of an account.
func EntryKey(org, accountID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "BILLING", SK: accountPrefix + accountID}
}

const accountPrefix = "A#"

// ReadEntry returns the entry of an account, or the zero value if there is none.
func ReadEntry(ctx context.Context, s table.Store, org, accountID string) (Entry, error) {
	e, err := table.Read[Entry](ctx, s, EntryKey(org, accountID))
	if fault.Is(err, fault.NotFound) {
		return Entry{AccountID: accountID}, nil
	}
	return e, fault.Wrap("read how the bills of "+accountID+" stand", err)
}

// ListEntries returns all entries of an organization by account.
func ListEntries(ctx context.Context, s table.Store, org string) (map[string]Entry, error) {
	q := table.Query{PK: EntryKey(org, "").PK, Prefix: accountPrefix, Limit: table.MaxPage}
	out := map[string]Entry{}
	for {
		some, next, err := table.ReadPage[Entry](ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("list how bills of %s stand: %w", org, err)
		}
		for _, e := range some {
			out[e.AccountID] = e
		}
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// tries is the most attempts of a change that collides with other changes.
const tries = 5

// ChangeEntry applies change to the present entry of an account. It may call change up to tries times, and then
// returns fault.Unavailable.
func ChangeEntry(ctx context.Context, s table.Store, org, accountID string, change func(*Entry)) error {
	for range tries {
		e, err := ReadEntry(ctx, s, org, accountID)
		if err != nil {
			return err
		}
		unchanged := table.Equal("change", e.Change)
		if e.Change == 0 {
			unchanged = table.Absent()
		}
		change(&e)
		e.Change++
		it, err := table.NewItem(EntryKey(org, accountID), e)
		if err != nil {
			return err
		}
		_, err = s.Write(ctx, table.Put(it, unchanged))
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return fault.Wrap("note how the bills of "+accountID+" stand", err)
		}
	}
	return fault.New(fault.Unavailable, "the bills of %s are being imported by others: try again", accountID)
}
