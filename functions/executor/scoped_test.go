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
	"lamplighter.dev/shared/testkit/apitest"
)

// TestABulkActionActsOnNothingOutsideItsScopes changes the membership of a group and of a team after a caller, who
// may act on the team's resources only, asked for the group to be stopped.
func TestABulkActionActsOnNothingOutsideItsScopes(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, places := w.newGroup(6, inventory.ContinueOnFailure)
	owned := []string{places[0].ResourceID, places[1].ResourceID, places[2].ResourceID}
	team := teams.Team{ID: id.New("team", noon), Name: "Web"}
	own, err := inventory.Own(org, team.ID, 1, owned)
	w.Must(err)
	team, err = teams.New(w.e.p.Table).Create(w.ctx, org, team, own...)
	w.Must(err)
	in := w.submitBulk(g, cloud.Stop)
	b := w.bulk(in.BulkID)
	b.Plan.Scopes = &grant.Scopes{Teams: []string{team.ID}}
	w.Change(execution.BulkKey(org, b.ID), table.Set("plan", b.Plan))
	own = apitest.Value(inventory.Own(org, team.ID, 2, owned[:2]))(w)
	apitest.Value(teams.New(w.e.p.Table).Update(w.ctx, org, team, team, own...))(w)
	b = w.driveBulk(in)
	if failed := w.auditBulk(b, places[:2]); failed != 0 {
		t.Errorf("%d failed: %+v", failed, b)
	}
	for _, p := range places[2:] {
		r := apitest.Value(w.e.inventory.ByID(w.ctx, org, p.ResourceID, inventory.SeeEverything()))(w)
		if w.state(r.Resource) != cloud.Running {
			t.Errorf("%s is %s", r.UID, w.state(r.Resource))
		}
	}
}
