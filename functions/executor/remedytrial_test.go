package executor

import (
	"strconv"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// rehearse plans the targets on their account and rehearses the plan.
func (m *remedy) rehearse() remediation.Rehearsal {
	m.Helper()
	got := m.plan()
	m.Must(got.First())
	return apitest.Value(m.e.Rehearse(m.ctx, remediation.RehearsalInput{
		Org: org, Digest: remediation.DigestOf(got.Targets), Targets: got.Targets,
	}))(m)
}

func TestRehearse_EachVerbEndsWithTheValuesBefore(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, c, 2)
			got := m.rehearse()
			checkRuns(t, &got, c.lost)
		})
	}
}

// checkRuns checks the runs of a rehearsal. lost says that nothing gives the change back.
func checkRuns(t *testing.T, got *remediation.Rehearsal, lost bool) {
	t.Helper()
	if !got.Passed() || got.Digest == "" || len(got.Runs) < 4 {
		t.Errorf("%s", apitest.JSON(got))
	}
	for i := range got.Runs {
		run := &got.Runs[i]
		denied := run.Fault == remediation.DeniedHalfWay || run.Fault == remediation.SnapshotPending
		succeeded := run.Status == remediation.Succeeded
		if succeeded && denied || len(run.Steps) == 0 {
			t.Errorf("with the fault %s: %s", run.Fault, apitest.JSON(run))
		}
		for _, target := range run.Targets {
			if gone := lost && succeeded; target.Restored == gone || target.Expected != gone {
				t.Errorf("with the fault %s: %s", run.Fault, apitest.JSON(run))
			}
		}
	}
}

// Stops, scalings and attachments are rehearsed by the same code as those of the account.
func TestRehearse_ActionsScalingsAndAttachmentsEndWithTheValuesBefore(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		got := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 2).rehearse()
		checkRuns(t, &got, false)
	})
	t.Run("scale", func(t *testing.T) {
		m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
		m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min-1, 10)}
		got := m.rehearse()
		checkRuns(t, &got, false)
	})
	t.Run("schedule", func(t *testing.T) {
		m := newRemedy(t, remedySettings(), "aws-ec2-schedule-nonprod", "aws-ec2", 1)
		m.targets[0].Parameters = map[string]string{"scheduleID": m.night().ID}
		got := m.rehearse()
		m.Equal("passed", got.Passed(), true)
		m.Equal("restored", got.Runs[0].Targets[0].Restored, true)
	})
}

// untouchable is a store of which every use ends the test.
type untouchable struct{ table.Store }

// A rehearsal calls no account, and neither reads nor writes anything of the organization.
func TestRehearse_TouchesNeitherTheAccountNorTheStore(t *testing.T) {
	m := newChange(t, changeCases["delete with a snapshot"], 1)
	planned := m.plan()
	p := m.e.p.Clone()
	p.Table = untouchable{}
	in := remediation.RehearsalInput{Org: org, Targets: planned.Targets}
	got, err := New(p, cloud.Providers{}).Rehearse(m.ctx, in)
	m.Must(err)
	m.Equal("passed", got.Passed(), true)
}

// A workflow of more targets than a run has is rehearsed in parts, and every target has its result.
func TestRehearse_ALargeWorkflowIsRehearsedInParts(t *testing.T) {
	m := newChange(t, changeCases["change-storage"], trialTargets+1, "size", "400")
	got := m.rehearse()
	m.Equal("passed", got.Passed(), true)
	for i := range got.Runs {
		m.Equal("targets with the fault "+string(got.Runs[i].Fault), len(got.Runs[i].Targets), trialTargets+1)
	}
	m.Equal("recommendation", got.Runs[0].Targets[trialTargets].RecID, m.targets[trialTargets].RecID)
}
