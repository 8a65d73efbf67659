package executor

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// cancelBulk marks a bulk action as cancelled, as POST /actions/bulk/{bulkActionID}/cancel does.
func (w *fixture) cancelBulk(bulkID string) {
	w.Helper()
	_, err := w.Table.Write(w.ctx, table.Update(execution.BulkKey(org, bulkID), []table.Change{
		table.Set("status", string(execution.BulkCancelled)), table.Set("cancelledBy", "grace@example.com"),
	}, table.Any(
		table.Equal("status", string(execution.BulkQueued)), table.Equal("status", string(execution.BulkRunning)))))
	if _, ended := errors.AsType[*table.ConditionError](err); !ended {
		w.Must(err)
	}
}

// sweepUp runs the execution that ends the actions which a cancelled bulk action has not begun.
func (w *fixture) sweepUp(in execution.BulkInput) {
	w.Helper()
	in.Cancel = true
	_, err := w.e.expandBulk(w.ctx, in)
	w.Must(err)
	s, err := w.e.nextStep(w.ctx, in)
	w.Must(err)
	if !s.Last || len(s.Chunks) != 0 {
		w.Errorf("the execution that cancels works on %+v", s)
	}
	_, err = w.e.finishBulk(w.ctx, in)
	w.Must(err)
}

// checkCancelled checks the final state of a cancelled bulk action: every action is counted, none is in flight, its
// group is free.
func (w *fixture) checkCancelled(bulkID, groupID string, places []inventory.GroupPlacement) {
	w.Helper()
	b := w.bulk(bulkID)
	if b.Status != execution.BulkCancelled || !b.Ended || b.CompletedAt.IsZero() || b.Completed+b.Failed != b.Total ||
		b.Total != len(places) {
		w.Errorf("the cancelled bulk action: %+v", b)
	}
	got, err := w.Table.BatchGet(table.Within(w.ctx, workqueue.Prefix), execution.GroupClaimKey(org, groupID),
		workqueue.WorkKey(bulkID))
	w.Must(err)
	if len(got) != 0 {
		w.Errorf("it still holds its group, or is still pending: %v", got)
	}
	for _, p := range places {
		r, err := w.e.inventory.ByID(w.ctx, org, p.ResourceID, inventory.SeeEverything())
		w.Must(err)
		if rec := w.resource(r.UID); rec.ActionID != "" {
			w.Errorf("%s is in flight on %s", rec.ActionID, r.UID)
		}
	}
}

// begun returns the actions of a bulk action by whether they were asked for.
func (w *fixture) begun(bulkID string, places []inventory.GroupPlacement) (asked, never int) {
	w.Helper()
	for _, p := range places {
		a, err := table.Read[execution.Action](w.ctx, w.Table,
			execution.ActionKey(org, execution.MemberAction(bulkID, p.ResourceID)))
		w.Must(err)
		switch {
		case a.Status == execution.Succeeded && a.Attempts == 1:
			asked++
		case a.Status == execution.Failed && a.Attempts == 0 && a.ErrorMessage == "cancelled by grace@example.com":
			never++
		default:
			w.Errorf("%s: %s after %d attempts, %q", a.ID, a.Status, a.Attempts, a.ErrorMessage)
		}
	}
	return asked, never
}

// claimGroup submits a bulk action that holds its group.
func (w *fixture) claimGroup(g inventory.Group) execution.BulkInput {
	w.Helper()
	in := w.submitBulk(g, cloud.Stop)
	w.Put(execution.GroupClaimKey(org, g.ID), execution.GroupClaim{BulkActionID: in.BulkID})
	return in
}

func TestExecutor_Cancel_WhatHasBegunGoesOnAndTheRestIsNeverAsked(t *testing.T) {
	for name, sweepFirst := range map[string]bool{"the execution that cancels comes first": true, "it is lost": false} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t,
				map[string]string{
					"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1",
					"transitionSeconds": "5",
				})
			g, places := w.newGroup(12, inventory.ContinueOnFailure)
			in := w.claimGroup(g)
			_, err := w.e.expandBulk(w.ctx, in)
			w.Must(err)
			s, err := w.e.nextStep(w.ctx, in)
			w.Must(err)
			for _, c := range s.Chunks { // the first step is asked for, and not there yet
				_, err = w.e.RunActions(w.ctx, c)
				w.Must(err)
			}
			w.cancelBulk(in.BulkID)
			if sweepFirst {
				w.sweepUp(in)
				if b := w.bulk(in.BulkID); b.Ended || b.Failed != 10 {
					t.Errorf("after the execution that cancels: %+v", b)
				}
			}
			w.driveBulk(in)
			w.checkCancelled(in.BulkID, g.ID, places)
			if asked, never := w.begun(in.BulkID, places); asked != 2 || never != 10 {
				t.Errorf("%d were asked and %d never; the first step has 2 of 12", asked, never)
			}
		})
	}
}

func TestExecutor_Cancel_BeforeAnythingIsPreparedNothingIsCreated(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, places := w.newGroup(6, inventory.ContinueOnFailure)
	in := w.claimGroup(g)
	w.cancelBulk(in.BulkID)
	w.sweepUp(in)
	w.checkCancelled(in.BulkID, g.ID, places)
	b := w.driveBulk(in)
	if b.Failed != 6 || len(w.readHistory()) != 0 {
		t.Errorf("%+v, and %d changes of state", b, len(w.readHistory()))
	}
}

// TestExecutor_Cancel_AtEveryCallToTheStore cancels a bulk action right before the store calls of its execution. It
// tries every third call, which covers all kinds of calls.
func TestExecutor_Cancel_AtEveryCallToTheStore(t *testing.T) {
	race.SkipRepetition(t)
	for call := 1; ; call += 3 {
		w := newFixture(t, map[string]string{"size": "60", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
		g, places := w.newGroup(6, inventory.ContinueOnFailure)
		in := w.claimGroup(g)
		spy := &before{Store: w.Table, call: call, do: func() { w.cancelBulk(in.BulkID); w.sweepUp(in) }}
		first := *w.e
		first.p = w.e.p.Clone()
		first.p.Table = spy
		direct := w.e
		w.e = &first
		spy.plain = func() { w.e = direct }
		spy.again = func() { w.e = &first }
		w.driveBulk(in)
		if spy.call > 0 { // the bulk action had ended before
			if call < 20 {
				t.Errorf("a bulk action took %d calls only", call)
			}
			return
		}
		if b := w.bulk(in.BulkID); b.Status == execution.BulkCancelled {
			w.checkCancelled(in.BulkID, g.ID, places)
		} else if b.Status != execution.BulkCompleted || b.Completed != 6 {
			t.Errorf("cancelled before call %d: %+v", call, b)
		}
		if t.Failed() {
			t.Fatalf("cancelled before call %d", call)
		}
	}
}

// TestExecutor_Cancel_WhileATransactionCreates creates actions at the very moment when a cancelled bulk action ends.
// The execution that creates them also ends them.
func TestExecutor_Cancel_WhileATransactionCreates(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, places := w.newGroup(6, inventory.ContinueOnFailure)
	in := w.claimGroup(g)
	b := w.bulk(in.BulkID)
	w.Must(w.e.planBulk(w.ctx, in, &b))
	w.cancelBulk(in.BulkID)
	first, created := w.e, 0
	w.swapStore(&watching{Store: w.Table, look: func() {
		if created == 0 && w.bulk(in.BulkID).Ended {
			w.Must(first.eachChunk(w.ctx, in, allChunks, func(key string, c execution.Chunk) error {
				created++
				return first.createActions(w.ctx, org,
					[]*creation{{action: first.newAction(&b, keyedChunk{key, c}, c.Members[0]), claim: true}})
			}))
		}
	}})
	w.sweepUp(in)
	w.e = first
	if created == 0 {
		t.Fatal("the bulk action did not end")
	}
	w.driveBulk(in)
	w.checkCancelled(in.BulkID, g.ID, places)
	if actions, _ := w.auditTotals(); actions != created {
		t.Errorf("%d actions, want %d", actions, created)
	}
	if left := apitest.Value(execution.ReadChunkCounts(w.ctx, w.Table, org, in.BulkID))(w); len(left) > 0 {
		t.Errorf("%d chunks count for themselves after the end", len(left))
	}
}

func TestExecutor_Finish_LeavesAGroupThatAnotherHolds(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, _ := w.newGroup(3, inventory.ContinueOnFailure)
	in := w.submitBulk(g, cloud.Stop)
	w.Put(execution.GroupClaimKey(org, g.ID), execution.GroupClaim{BulkActionID: "bulk_another"})
	if b := w.driveBulk(in); b.Status != execution.BulkCompleted {
		t.Errorf("%+v", b)
	}
	claim, err := table.Read[execution.GroupClaim](w.ctx, w.Table, execution.GroupClaimKey(org, g.ID))
	w.Must(err)
	if claim.BulkActionID != "bulk_another" {
		t.Errorf("the claim is %+v", claim)
	}
}

// TestExecutor_Expand_ActsOnWhatWasNamed expands a bulk action without a group. It acts on the named resources,
// except for one that is gone by then.
func TestExecutor_Expand_ActsOnWhatWasNamed(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	_, places := w.newGroup(4, inventory.ContinueOnFailure)
	in := w.submitBulk(inventory.Group{Size: 4, FailurePolicy: inventory.ContinueOnFailure}, cloud.Stop)
	named := execution.Named{ResourceIDs: []string{
		places[0].ResourceID, places[2].ResourceID,
		"res_01k00000000000000000000000",
	}}
	w.Put(execution.NamedKey(org, in.BulkID), named)
	b := w.driveBulk(in)
	if b.Status != execution.BulkCompleted || b.Total != 2 || b.Completed != 2 {
		t.Errorf("%+v", b)
	}
	for i, p := range places {
		r, err := w.e.inventory.ByID(w.ctx, org, p.ResourceID, inventory.SeeEverything())
		w.Must(err)
		if stopped := w.state(r.Resource) == cloud.Stopped; stopped != (i == 0 || i == 2) {
			t.Errorf("%s is %s", r.UID, w.state(r.Resource))
		}
	}
	if text, _ := json.Marshal(b.WithoutInternals()); strings.Contains(string(text), "plan") ||
		!strings.Contains(string(text), `"groupID":""`) {
		t.Errorf("the record is %s", text)
	}
}
