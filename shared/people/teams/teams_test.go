package teams

import (
	"context"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

const org = "org_1"

func openStore(t *testing.T) (Store, context.Context) {
	t.Helper()
	return New(table.Fenced(tabletest.New(t))), table.WithOrg(t.Context(), org)
}

// createTeam makes a team.
func createTeam(ctx context.Context, t *testing.T, s Store, id, name string) Team {
	t.Helper()
	made, err := s.Create(ctx, org, Team{ID: id, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func wantRefused(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestStore_ANameBelongsToOneTeam(t *testing.T) {
	s, ctx := openStore(t)
	one, two := createTeam(ctx, t, s, "team_1", "Web"), createTeam(ctx, t, s, "team_2", "Data")
	_, err := s.Create(ctx, org, Team{ID: "team_3", Name: "WEB"})
	wantRefused(t, "a second team of the same name", err, fault.Conflict)
	next := two
	next.Name = "web"
	_, err = s.Update(ctx, org, two, next)
	wantRefused(t, "a rename to the name of another", err, fault.Conflict)

	renamed := one
	renamed.Name = "Other"
	if _, err = s.Update(ctx, org, one, renamed); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Update(ctx, org, two, next); err != nil {
		t.Errorf("a name that has become free: %v", err)
	}
}

func TestStore_AChangeOfWhatWasReadBeforeAnotherIsRefused(t *testing.T) {
	s, ctx := openStore(t)
	old := createTeam(ctx, t, s, "team_1", "Web")
	if got, err := s.Update(ctx, org, old, old); err != nil || got.Generation != old.Generation+1 {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err := s.Update(ctx, org, old, old)
	wantRefused(t, "an update", err, fault.Conflict)
	wantRefused(t, "a deletion", s.Delete(ctx, org, old), fault.Conflict)

	now, err := s.Get(ctx, org, old.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.table.Transact(ctx, Hold(org, old.ID)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, "a deletion while a role is given on it", s.Delete(ctx, org, now), fault.Conflict)
}

func TestStore_ADeletedTeamIsGoneWithItsName(t *testing.T) {
	s, ctx := openStore(t)
	one := createTeam(ctx, t, s, "team_1", "Web")
	createTeam(ctx, t, s, "team_2", "Data")
	if err := s.Delete(ctx, org, one); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(ctx, org, one.ID)
	wantRefused(t, "reading it", err, fault.NotFound)
	wantRefused(t, "giving a role on it", s.table.Transact(ctx, Hold(org, one.ID)), fault.Conflict)
	createTeam(ctx, t, s, "team_3", "web")
	all, err := s.List(ctx, org)
	if err != nil || len(all) != 2 || all[0].ID != "team_2" || all[1].ID != "team_3" {
		t.Errorf("%+v, %v", all, err)
	}
}
