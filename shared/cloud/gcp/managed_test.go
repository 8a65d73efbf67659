package gcp_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func TestEveryStateOfWhatGoogleManagesIsPlaced(t *testing.T) {
	for kind, states := range map[string]map[string]cloud.Status{
		cloud.GCPWorkstation: {
			"STATE_RUNNING": cloud.Running, "STATE_STOPPED": cloud.Stopped,
			"STATE_SUSPENDED": cloud.Stopped, "STATE_STARTING": cloud.Starting, "STATE_STOPPING": cloud.Stopping,
			"NEW": cloud.Unknown,
		},
		cloud.GCPNotebook: {
			"ACTIVE": cloud.Running, "PROVISIONING": cloud.Starting, "STOPPED": cloud.Stopped,
			"SUSPENDED": cloud.Stopped, "UPGRADING": cloud.Pending, "ORPHANED": cloud.Unknown,
		},
		cloud.GCPDataproc: {
			"RUNNING": cloud.Running, "STOPPED": cloud.Stopped, "UPDATING": cloud.Pending,
			"ERROR": cloud.Unknown, "ERROR_DUE_TO_UPDATE": cloud.Unknown,
		},
		cloud.GCPAlloyDB: {
			"READY": cloud.Running, "STOPPING": cloud.Stopping, "MAINTENANCE": cloud.Pending,
			"FAILED": cloud.Unknown,
		},
	} {
		t.Run(kind, func(t *testing.T) {
			tw, c := connect(t)
			uid := makers[kind](tw)
			for word, want := range states {
				tw.SetManagedState(uid, word)
				if s := state(t, c, kind, uid); s.Status != want || !strings.Contains(s.Native, word) {
					t.Errorf("%s is read as %+v; want %s", word, s, want)
				}
			}
		})
	}
}

// An instance whose policy has just changed still has its old state until the change is done.
func TestAlloyDB_MovesToWhereItsPolicyPoints(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddAlloyInstance(region, "orders", "main", "PRIMARY")
	for _, tt := range []struct {
		state, policy string
		want          cloud.Status
	}{
		{"READY", "ALWAYS", cloud.Running},
		{"READY", "NEVER", cloud.Stopping},
		{"STOPPED", "NEVER", cloud.Stopped},
		{"STOPPED", "ALWAYS", cloud.Starting},
	} {
		tw.ChangeLocked(func() { m.State, m.Body["activationPolicy"] = tt.state, tt.policy })
		if s := state(t, c, cloud.GCPAlloyDB, m.UID()); s.Status != tt.want {
			t.Errorf("%s with policy %s is %s; want %s", tt.state, tt.policy, s.Status, tt.want)
		}
	}
}

func TestDataproc_WhatAStopWouldHarmIsRefused(t *testing.T) {
	tw, c := connect(t)
	for says, m := range map[string]*gcptwin.Managed{
		"4 secondary workers": tw.AddSparkCluster(region, "many", 4, 0),
		"2 local SSDs":        tw.AddSparkCluster(region, "fast", 0, 2),
	} {
		err := act(t, c, cloud.Stop, cloud.GCPDataproc, cloud.Target{UID: m.UID()})
		wantClass(t, "stop of "+m.Path, err, cloud.Unsupported)
		if err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v; want %s", err, says)
		}
	}
	wantUntouched(t, tw)
}

func TestWorkstations_APlaceThatDoesNotAnswerIsNoEmptyList(t *testing.T) {
	tw, c := connect(t)
	tw.AddWorkstation(region, "ada")
	for _, op := range []string{
		"workstations.workstationClusters.list", "workstations.workstationConfigs.list",
		"workstations.workstations.list",
	} {
		tw.AddFault(gcptwin.Fault{
			Op: op, Reason: "PERMISSION_DENIED",
			Message: "Permission '" + op + "' denied on resource", Status: 403, Times: -1,
		})
		_, err := c.List(t.Context(), cloud.GCPWorkstation, region, "")
		wantClass(t, "list without "+op, err, cloud.Denied)
		tw.EndFaults()
	}
}
