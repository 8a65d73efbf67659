package remediating

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// deleteCopies deletes the snapshots that a workflow took before its deletions, when their time is over. One that
// cannot be deleted stays, and its target says why. It may be repeated: what is gone is not deleted again.
func (r *Runner) deleteCopies(ctx context.Context, w *remediation.Workflow) error {
	why := make([]string, len(w.Targets))
	for i := range w.Targets {
		if w.Targets[i].CopyUID == "" {
			continue
		}
		var err error
		if why[i], err = r.deleteCopy(ctx, w, i); err != nil {
			return err
		}
	}
	n := -1
	return r.endKeeping(ctx, w, func(*remediation.Target) string { n++; return why[n] })
}

// endKeeping stores what became of the snapshots of all targets, and removes their work.
func (r *Runner) endKeeping(
	ctx context.Context, w *remediation.Workflow, message func(*remediation.Target) string,
) error {
	next := w.Copy()
	for i := range next.Targets {
		t := &next.Targets[i]
		if text := message(t); t.CopyUID != "" {
			t.CopyUID, t.Message = "", text
		}
	}
	return r.store().Save(ctx, &next, next.EndKeeping())
}

// stays returns the message of a target whose snapshot is not deleted.
func stays(t *remediation.Target, why string) string {
	return "its snapshot " + t.CopyUID + " stays: " + why
}

// deleteCopy deletes the snapshot of a target if it carries the mark of its change and nothing uses it. It returns what
// became of it. The error is one that passes.
func (r *Runner) deleteCopy(ctx context.Context, w *remediation.Workflow, i int) (string, error) {
	t := &w.Targets[i]
	a, err := r.Inventory.ReadAccount(ctx, w.Org, t.CloudAccountID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	if why := execution.Refusal(t.CloudAccountID, a); why != "" {
		return stays(t, why), nil
	}
	conn, err := r.Connect(ctx, w.Org, a, t)
	if err != nil {
		return staysIfRefused(t, err)
	}
	changer, is := conn.(cloud.Changer)
	if !is {
		return stays(t, "resources of "+t.Provider+" are not changed"), nil
	}
	c := cloud.Change{
		Verb: cloud.Delete, Kind: cloud.SnapshotKindOf(t.ResourceType), Region: t.Region, UID: t.CopyUID,
	}
	switch d, err := changer.DescribeForChange(ctx, c); {
	case err != nil:
		return staysIfRefused(t, err)
	case d.Exists() && d.Values[cloud.MarkValue] != remediation.TokenOf(w.ID, i):
		return stays(t, "somebody has removed the mark "+cloud.MarkTag+" from it"), nil
	}
	err = changer.ApplyChange(ctx, cloud.ChangeCall{Change: c, Set: cloud.Values{cloud.ExistsValue: "false"}})
	if err != nil {
		return staysIfRefused(t, err)
	}
	return "its snapshot " + t.CopyUID + " was deleted after 30 days", nil
}

// staysIfRefused returns the message of a target whose snapshot a cloud refuses to delete for good, or else the error.
func staysIfRefused(t *remediation.Target, err error) (string, error) {
	if isRefused(err) {
		return stays(t, reasonOf(err)), nil
	}
	return "", err
}
