package executor

import (
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// TestABulkActionActsOnNothingOutsideItsScopes puts members into the group, and takes one from the team, after somebody who
// may act on what the team owns asked for the group to be stopped.
func TestABulkActionActsOnNothingOutsideItsScopes(t *testing.T) {
	w := newWorld(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, places := w.group(6, inventory.ContinueOnFailure)
	owned := []string{places[0].ResourceID, places[1].ResourceID, places[2].ResourceID}
	team := teams.Team{ID: id.New("team", noon), Name: "Web"}
	own, err := inventory.Own(org, team.ID, 1, owned)
	w.must(err)
	team, err = teams.New(w.e.p.Table).Create(w.ctx, org, team, own...)
	w.must(err)
	in := w.submitBulk(g, cloud.Stop)
	b := w.bulk(in.BulkID)
	b.Plan.Scopes = &grant.Scopes{Teams: []string{team.ID}}
	_, err = w.store.Write(w.ctx, table.Update(execution.BulkKey(org, b.ID), []table.Change{table.Set("plan", b.Plan)}, table.Exists()))
	w.must(err)
	own, err = inventory.Own(org, team.ID, 2, owned[:2])
	w.must(err)
	_, err = teams.New(w.e.p.Table).Update(w.ctx, org, team, team, own...)
	w.must(err)
	b = w.driveBulk(in)
	if failed := w.audit(b, places[:2]); failed != 0 {
		t.Errorf("%d failed: %+v", failed, b)
	}
	for _, p := range places[2:] {
		r, err := w.e.inventory.ByID(w.ctx, org, p.ResourceID, inventory.Everything())
		w.must(err)
		if w.state(r.Resource) != cloud.Running {
			t.Errorf("%s is %s", r.UID, w.state(r.Resource))
		}
	}
}
