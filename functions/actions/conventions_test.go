package actions

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
)

// What joins an action that runs already is answered as every submission is.
func TestSubmit_WhatJoinsARunningActionIsQueued(t *testing.T) {
	a := newAPI(t)
	_, body, _ := a.call(ours, "POST", "/actions", a.request())
	first := data[Submitted](t, body)
	_, err := a.p.Table.Write(table.WithTenant(t.Context(), ours),
		table.Update(execution.ActionKey(ours, first.ActionID), []table.Change{table.Set("status", string(execution.Running)), table.Set("startedAt", a.p.Clock.Now())}))
	if err != nil {
		t.Fatal(err)
	}
	code, body, _ := a.call(ours, "POST", "/actions", a.request())
	if got := data[Submitted](t, body); code != 200 || got != (Submitted{first.ActionID, execution.Queued}) {
		t.Errorf("%d %s, want %s queued", code, body, first.ActionID)
	}
	_, body, _ = a.call(ours, "GET", "/actions/"+first.ActionID, "")
	if got := data[Action](t, body); got.Status != execution.Running || got.StartedAt == nil {
		t.Errorf("the action itself: %+v", got)
	}
}

// A row that was stored before answers had every member is answered with every member.
func TestAction_AnOldRowIsAnsweredWhole(t *testing.T) {
	a := newAPI(t)
	id := "act_01k6v0e4y0c2b7m9q8r5t3w1xz"
	it, err := table.Row(execution.ActionKey(ours, id), map[string]any{
		"id": id, "resourceUID": "i-1", "action": "stop", "status": "pending", "createdAt": a.p.Clock.Now(), "changedBy": "manual:ada@example.com",
	})
	if err == nil {
		_, err = a.p.Table.Write(table.WithTenant(t.Context(), ours), table.Put(it))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := a.call(ours, "GET", "/actions/"+id, "")
	got := data[map[string]json.RawMessage](t, body)
	for name, want := range map[string]string{"errorMessage": "null", "startedAt": "null", "completedAt": "null", "bulkActionID": "null", "logs": "[]"} {
		if string(got[name]) != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}
