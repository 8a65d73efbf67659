package connection

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// OrganisationSyncMachine is the state machine of synchronizations. Its name is that of its file in statemachines/.
const OrganisationSyncMachine = "organisation-sync"

// deadline is the time after which a synchronization counts as lost. It is longer than the machine's TimeoutSeconds.
const deadline = 3 * time.Hour

// SyncInput is the input of the machine.
type SyncInput struct {
	Org            string `json:"org"`
	OrganisationID string `json:"organisationID"`
	JobID          string `json:"jobID"`
}

// Organisation returns the organization that the input belongs to.
func (in SyncInput) Organisation() string { return in.Org }

// Every cloud organization is synchronized each hour. These partitions list the cloud organizations of all our
// organizations. A transaction of an organization that writes to them runs in table.Within(ctx,
// OrganisationDuePrefix).
const (
	OrganisationDuePrefix = "CLOUDORGS#"
	OrganisationDueShards = 4
)

// OrganisationDue is a row for a cloud organization that is synchronized each hour.
type OrganisationDue struct {
	Org            string `json:"org"`
	OrganisationID string `json:"organisationID"`
}

// OrganisationDuePK returns one of the OrganisationDueShards partitions.
func OrganisationDuePK(shard int) string { return fmt.Sprintf("%s%02d", OrganisationDuePrefix, shard) }

// OrganisationDueKey returns the key of a cloud organization's due row.
func OrganisationDueKey(organisationID string) table.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(organisationID)) // a hash never fails
	return table.Key{PK: OrganisationDuePK(int(h.Sum32() % OrganisationDueShards)), SK: organisationID}
}

// AddOrganisationDue returns the write that lists the cloud organization. It belongs in the transaction that connects
// it.
func AddOrganisationDue(org, organisationID string) (table.Write, error) {
	it, err := table.NewItem(OrganisationDueKey(organisationID), OrganisationDue{org, organisationID})
	return table.Put(it), err
}

// RemoveOrganisationDue returns the write that removes the cloud organization from the list.
func RemoveOrganisationDue(organisationID string) table.Write {
	return table.Delete(OrganisationDueKey(organisationID))
}

// NewSync returns a synchronization that begins now, and the write that lists its work. The write belongs in the
// transaction that stores the organization, run in table.Within(ctx, workqueue.Prefix).
func NewSync(org, organisationID string, now time.Time) (Sync, table.Write, error) {
	s := Sync{JobID: id.New("job", now), Status: SyncRunning, StartedAt: now}
	work, err := workqueue.AddWork(workqueue.Work{ID: s.JobID, Org: org, Machine: OrganisationSyncMachine, At: now},
		SyncInput{org, organisationID, s.JobID})
	return s, work, err
}

// IsUnderway reports whether the synchronization may still run at the time now.
func (s Sync) IsUnderway(now time.Time) bool {
	return s.Status == SyncRunning && now.Sub(s.StartedAt) < deadline
}

// StartSync starts a synchronization, or returns the one that is under way. The second result reports whether it
// started one. An organization that does not exist is fault.NotFound.
func StartSync(ctx context.Context, p *platform.Platform, org, organisationID string) (Sync, bool, error) {
	for range 3 { // retries when another caller was faster
		o, err := table.Read[Organisation](ctx, p.Table, OrganisationKey(org, organisationID))
		if err != nil {
			return Sync{}, false, fmt.Errorf("read %s: %w", organisationID, err)
		}
		now := p.Clock.Now()
		if o.Sync.IsUnderway(now) {
			return o.Sync, false, nil
		}
		s, err := begin(ctx, p, org, o)
		if err == nil {
			StartSyncMachine(ctx, p, SyncInput{org, organisationID, s.JobID})
			return s, true, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return Sync{}, false, err
		}
	}
	return Sync{}, false,
		fault.New(fault.Conflict, "the synchronization of %s is being started by others: try again", organisationID)
}

// begin stores a synchronization, unless another one began since o was read.
func begin(ctx context.Context, p *platform.Platform, org string, o Organisation) (Sync, error) {
	s, work, err := NewSync(org, o.ID, p.Clock.Now())
	if err != nil {
		return s, err
	}
	s.Cursor = o.Sync.Cursor.next(o.Sync.Status == SyncSucceeded)
	change := table.Update(OrganisationKey(org, o.ID),
		[]table.Change{table.Set("sync", s), table.Set("jobID", s.JobID)},
		table.Exists(), sameJob(o.Sync.JobID))
	ws := []table.Write{change, work}
	if o.Sync.JobID != "" { // a lost one, which the sweeper need not restart
		ws = append(ws, workqueue.RemoveWork(o.Sync.JobID))
	}
	return s, p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws...)
}

func sameJob(jobID string) table.Cond {
	if jobID == "" {
		return table.Lacks("jobID")
	}
	return table.Equal("jobID", jobID)
}

// StartSyncMachine starts the machine of a stored synchronization. If that fails, the sweeper starts it later.
func StartSyncMachine(ctx context.Context, p *platform.Platform, in SyncInput) {
	if err := p.Workflow.Start(ctx, OrganisationSyncMachine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "synchronization will be started by the sweeper", "job", in.JobID, "org", in.Org,
			"error", err)
	}
}

// SaveSyncCursor stores the progress of a synchronization for the run that continues it. It does nothing when the
// synchronization is finished or deleted.
func SaveSyncCursor(ctx context.Context, p *platform.Platform, in SyncInput, c Sync) error {
	_, err := p.Table.Write(ctx,
		table.Update(OrganisationKey(in.Org, in.OrganisationID), []table.Change{table.Set("sync", c)}, table.Exists(),
			sameJob(in.JobID)))
	if _, late := errors.AsType[*table.ConditionError](err); late {
		return nil
	}
	return fault.Wrap("save the cursor of "+in.JobID, err)
}

// ConfirmEnding stores a person's confirmation to disconnect the members that wait under c.ID. It returns
// fault.Conflict when c.ID is not the ID that waits now.
func ConfirmEnding(ctx context.Context, p *platform.Platform, k table.Key, c EndingConfirmation) error {
	_, err := p.Table.Write(ctx,
		table.Update(k, []table.Change{table.Set("confirmed", c)}, table.Equal("confirmationID", c.ID)))
	if _, other := errors.AsType[*table.ConditionError](err); other {
		return fault.New(fault.Conflict,
			"confirmationID: no disconnections wait under %.64q; read the cloud organisation again, "+
				"look at its members, and send the confirmationID that it has then", c.ID)
	}
	return fault.Wrap("confirm the disconnections of "+k.SK, err)
}

// FinishSync stores the result of a synchronization and the organization's new status and pending disconnections,
// removes its work, and writes more, in one transaction. It does nothing else than remove the work when the
// synchronization was finished before or its organization does not exist.
func FinishSync(ctx context.Context, p *platform.Platform, in SyncInput, o Organisation, more ...table.Write) error {
	changes := []table.Change{
		table.Set("sync", o.Sync), table.Set("status", o.Status), table.Set("error", o.Error),
		table.Set("updatedAt", o.Sync.CompletedAt),
		table.Set("pending", o.Pending), table.Set("confirmationID", o.ConfirmationID),
		table.Set("ownersToldAt", o.OwnersToldAt),
	}
	if o.Sync.Status == SyncSucceeded {
		changes = append(changes, table.Set("lastSyncedAt", o.Sync.CompletedAt))
	}
	ctx = table.Within(ctx, workqueue.Prefix, mail.Prefix)
	done := workqueue.RemoveWork(in.JobID)
	ws := append([]table.Write{
		table.Update(OrganisationKey(in.Org, in.OrganisationID), changes, table.Exists(),
			sameJob(in.JobID)),
		done,
	}, more...)
	err := p.Table.Transact(ctx, ws...)
	if _, late := errors.AsType[*table.ConditionError](err); late {
		_, err = p.Table.Write(ctx, done)
	}
	return fault.Wrap("finish "+in.JobID, err)
}
