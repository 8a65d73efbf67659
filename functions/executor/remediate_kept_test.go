package executor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// newKept deletes a volume of which a snapshot is kept.
func newKept(t *testing.T) *remedy {
	t.Helper()
	m := newChange(t, changeCases["delete with a snapshot"], 1)
	m.approve()
	w := m.run()
	m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
	m.w = w
	if w.Targets[0].CopyUID == "" || !w.KeptUntil.Equal(w.EndedAt.Add(30*24*time.Hour)) {
		t.Fatalf("the snapshot %q is kept until %s", w.Targets[0].CopyUID, w.KeptUntil)
	}
	return m
}

// copyThere reports whether the snapshot of the deletion exists.
func (m *remedy) copyThere() bool {
	m.Helper()
	return apitest.Value(m.conn.(cloud.Changer).DescribeForChange(m.ctx, m.copyChange()))(m).Exists()
}

// copyChange names the snapshot in the words of the cloud.
func (m *remedy) copyChange() cloud.Change {
	t := &m.w.Targets[0]
	return cloud.Change{Verb: cloud.Delete, Kind: "aws-ebs-snapshot", Region: t.Region, UID: t.CopyUID}
}

// keptWork returns the end of the wait of the work that deletes the snapshot; zero if none is listed.
func (m *remedy) keptWork() time.Time {
	m.Helper()
	work, err := table.Read[workqueue.Work](table.Within(m.ctx, workqueue.Prefix), m.Table,
		workqueue.WorkKey(m.w.ID+"-kept"))
	if fault.Is(err, fault.NotFound) {
		return time.Time{}
	}
	m.Must(err)
	return work.Until
}

// runKept runs the work as the sweeper starts it, at a time.
func (m *remedy) runKept(at time.Time) remediation.Workflow {
	m.Helper()
	m.Clock.Advance(at.Sub(m.Clock.Now()))
	got := apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
	m.Equal("done", got.Done, true)
	return apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
}

func TestRemediate_TheSnapshotOfADeletionIsDeletedAfterThirtyDays(t *testing.T) {
	m := newKept(t)
	m.Equal("the work waits until", m.keptWork(), m.w.KeptUntil)
	m.runKept(m.w.KeptUntil.Add(-time.Hour))
	m.Equal("an hour before", m.copyThere(), true)
	w := m.runKept(m.w.KeptUntil)
	m.Equal("after 30 days", m.copyThere(), false)
	m.Equal("work", m.keptWork(), time.Time{})
	m.Equal("status", w.Status, remediation.Succeeded)
	if !strings.Contains(w.Targets[0].Message, "was deleted after 30 days") {
		t.Error(w.Targets[0].Message)
	}
	m.Equal("again", apitest.JSON(m.runKept(m.Clock.Now()).Targets), apitest.JSON(w.Targets))
}

func TestRemediate_ARollbackKeepsTheSnapshot(t *testing.T) {
	m := newKept(t)
	w := m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("work", m.keptWork(), time.Time{})
	m.Equal("kept until", w.KeptUntil, time.Time{})
}

// What is not ours any more, or must not be touched, stays, and the workflow says why.
func TestRemediate_ASnapshotThatIsNotOursStays(t *testing.T) {
	for want, prepare := range map[string]func(m *remedy){
		"somebody has removed the mark": func(m *remedy) {
			m.Must(m.conn.(cloud.Changer).ApplyChange(m.ctx, cloud.ChangeCall{
				Change: m.copyChange(), Set: cloud.Values{cloud.MarkValue: "another"},
			}))
		},
		"is read_only": func(m *remedy) {
			k := inventory.AccountKey(org, m.targets[0].CloudAccountID)
			a := apitest.Value(table.Read[inventory.Account](m.ctx, m.Table, k))(m)
			a.PermissionLevel = "read_only"
			m.Put(k, a)
		},
	} {
		t.Run(want, func(t *testing.T) {
			m := newKept(t)
			prepare(m)
			w := m.runKept(m.w.KeptUntil)
			m.Equal("the snapshot is there", m.copyThere(), true)
			m.Equal("work", m.keptWork(), time.Time{})
			if !strings.Contains(w.Targets[0].Message, want) {
				t.Error(w.Targets[0].Message)
			}
		})
	}
}

// A cloud that does not answer is asked again, and a snapshot that is in use stays.
func TestRemediate_ASnapshotInUseStays(t *testing.T) {
	m := newKept(t)
	r, calls := m.counted(func(call int, _ cloud.ChangeCall) (bool, error) {
		if call == 1 {
			return false, cloud.ErrMoving("no answer")
		}
		return false, cloud.ErrUnsupported("it is in use by image ami-1")
	})
	m.Clock.Advance(m.w.KeptUntil.Sub(m.Clock.Now()))
	in := remediation.Input{Org: org, WorkflowID: m.w.ID}
	if _, err := r.Advance(m.ctx, in); err == nil {
		t.Error("no error of a cloud that does not answer")
	}
	apitest.Value(r.Advance(m.ctx, in))(m)
	m.Equal("calls", *calls, 2)
	w := apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	if !strings.Contains(w.Targets[0].Message, "stays: it is in use by image ami-1") {
		t.Error(w.Targets[0].Message)
	}
}
