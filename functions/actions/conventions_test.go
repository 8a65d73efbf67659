package actions

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// A submission that joins a running action is answered like every other submission.
func TestSubmit_WhatJoinsARunningActionIsQueued(t *testing.T) {
	a := newFixture(t)
	first := apitest.Data[Submitted](a.call(ours, "POST", "/actions", a.actionBody()))
	a.Change(execution.ActionKey(ours, first.ActionID), table.Set("status", string(execution.Running)),
		table.Set("startedAt", a.Clock.Now()))
	if got := apitest.Data[Submitted](a.call(ours, "POST", "/actions",
		a.actionBody())); got != (Submitted{
		first.ActionID,
		execution.Queued,
	}) {
		t.Errorf("%+v, want %s queued", got, first.ActionID)
	}
	if got := apitest.Data[Action](a.call(ours, "GET", "/actions/"+first.ActionID,
		"")); got.Status != execution.Running || got.StartedAt == nil {
		t.Errorf("the action itself: %+v", got)
	}
}

// A row that was stored before answers had every member is answered with every member.
func TestAction_AnOldRowIsAnsweredWhole(t *testing.T) {
	a := newFixture(t)
	id := "act_01k6v0e4y0c2b7m9q8r5t3w1xz"
	a.Put(execution.ActionKey(ours, id), map[string]any{
		"id": id, "resourceUID": "i-1", "action": "stop", "status": "pending", "createdAt": a.Clock.Now(),
		"changedBy": "manual:ada@example.com",
	})
	got := apitest.Data[map[string]json.RawMessage](a.call(ours, "GET", "/actions/"+id, ""))
	for name, want := range map[string]string{
		"errorMessage": "null", "startedAt": "null", "completedAt": "null",
		"bulkActionID": "null", "logs": "[]",
	} {
		if string(got[name]) != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}
