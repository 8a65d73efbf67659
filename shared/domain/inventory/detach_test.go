package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	detachOrg = "org_01k00000000000000000000000"
	accountA  = "ca_01k0000000000000000000000a"
	accountB  = "ca_01k0000000000000000000000b"
)

// detachFixture is an inventory of two accounts with four instances each: a-0 to a-3 and b-0 to b-3.
type detachFixture struct {
	*testing.T
	ctx   context.Context
	table table.Store
	store *inventory.Store
	ids   map[string]string
}

func newDetachFixture(t *testing.T) *detachFixture {
	t.Helper()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	c := clock.NewManual(now)
	f := &detachFixture{
		T: t, ctx: table.WithOrg(t.Context(), detachOrg), table: tabletest.NewAt(t, c),
		ids: map[string]string{},
	}
	f.store = inventory.NewStore(f.table, c)
	for name, account := range map[string]string{"a": accountA, "b": accountB} {
		row, err := table.NewItem(inventory.AccountKey(detachOrg, account),
			inventory.Account{ID: account, Provider: "aws", Name: name})
		f.must(err)
		_, err = f.table.Write(f.ctx, table.Put(row))
		f.must(err)
		var found []cloud.Resource
		for i := range 4 {
			n := fmt.Sprintf("%s-%d", name, i)
			found = append(found, cloud.Resource{UID: "i-" + n, Name: n, Status: cloud.Running})
		}
		part := inventory.Partition{AccountID: account, Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}
		_, err = f.store.UpsertScanned(f.ctx, detachOrg,
			inventory.Batch{
				Scan: inventory.Scan{Partition: part, ID: "job_1", Started: now}, At: now,
				Resources: found,
			})
		f.must(err)
	}
	all, err := f.store.FindResources(f.ctx, detachOrg,
		inventory.List{Filter: inventory.Filter{Sight: inventory.SeeEverything()}})
	f.must(err)
	for _, r := range all {
		f.ids[r.Name] = r.ID
	}
	return f
}

func (f *detachFixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *detachFixture) places(names ...string) []inventory.GroupPlacement {
	out := make([]inventory.GroupPlacement, len(names))
	for i, n := range names {
		out[i] = inventory.GroupPlacement{ResourceID: f.ids[n], Tier: 1, Order: i + 1}
	}
	return out
}

func (f *detachFixture) group(name string, members ...string) inventory.Group {
	f.Helper()
	g, err := f.store.CreateGroup(f.ctx, detachOrg, inventory.Group{ID: "grp_" + name, Name: name},
		f.places(members...))
	f.must(err)
	return g
}

func (f *detachFixture) team(name string, owned ...string) teams.Team {
	f.Helper()
	var ids []string
	for _, n := range owned {
		ids = append(ids, f.ids[n])
	}
	ws, err := inventory.Own(detachOrg, "team_"+name, 1, ids)
	f.must(err)
	t, err := teams.New(f.table).Create(f.ctx, detachOrg, teams.Team{ID: "team_" + name, Name: name}, ws...)
	f.must(err)
	return t
}

// own replaces the resources that a team owns.
func (f *detachFixture) own(t teams.Team, resources []string, held []table.Write) error {
	ws, err := inventory.Own(detachOrg, t.ID, t.Generation+1, resources)
	if err == nil {
		_, err = teams.New(f.table).Update(f.ctx, detachOrg, t, t, append(ws, held...)...)
	}
	return err
}

// members returns the names of a group's members.
func (f *detachFixture) members(groupID string) []string {
	f.Helper()
	places, err := f.store.ListPlacements(f.ctx, detachOrg, groupID)
	f.must(err)
	out := []string{}
	for _, p := range places {
		for n, id := range f.ids {
			if id == p.ResourceID {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestStore_UsesOf_NamesGroupsAndTeams(t *testing.T) {
	f := newDetachFixture(t)
	mixed, only := f.group("mixed", "a-0", "b-0", "a-1"), f.group("only", "a-3")
	f.group("other", "b-1")
	web := f.team("web", "a-0", "b-2")
	f.team("none", "b-3")
	uses, err := f.store.UsesOf(f.ctx, detachOrg, accountA)
	f.must(err)
	want := []inventory.Use{
		{Kind: "resource group", ID: mixed.ID, Name: "mixed", Resources: 2},
		{Kind: "resource group", ID: only.ID, Name: "only", Resources: 1},
		{Kind: "team", ID: web.ID, Name: "web", Resources: 1},
	}
	if !slices.Equal(uses, want) {
		t.Errorf("got %+v, want %+v", uses, want)
	}
	f.must(f.store.Detach(f.ctx, detachOrg, accountA))
	f.must(f.store.Detach(f.ctx, detachOrg, accountA)) // again changes nothing
	if uses, err = f.store.UsesOf(f.ctx, detachOrg, accountA); err != nil || len(uses) != 0 {
		t.Errorf("left: %+v %v", uses, err)
	}
	if got := f.members(mixed.ID); !slices.Equal(got, []string{"b-0"}) {
		t.Errorf("mixed has %v", got)
	}
	g, err := f.store.ReadGroup(f.ctx, detachOrg, only.ID)
	f.must(err)
	if g.Size != 0 || g.Generation != 2 {
		t.Errorf("only: %+v", g)
	}
	if owned, err := f.store.ListOwned(f.ctx, detachOrg, web.ID); err != nil ||
		!slices.Equal(owned, []string{f.ids["b-2"]}) {
		t.Errorf("web owns %v %v", owned, err)
	}
}

// TestStore_Detach_LeavesNothingInWhatIsEditedMeanwhile edits a group and a team concurrently, and adds the account's
// resources to them, all the time while the account is detached.
func TestStore_Detach_LeavesNothingInWhatIsEditedMeanwhile(t *testing.T) {
	f := newDetachFixture(t)
	g, web := f.group("mixed", "a-0", "b-0"), f.team("web", "a-0", "b-0")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					f.edit(g.ID, web.ID, fmt.Sprintf("a-%d", (i+n)%4))
				}
			}
		})
	}
	_, err := f.table.Write(f.ctx, table.Delete(inventory.AccountKey(detachOrg, accountA)))
	f.must(err)
	err = f.store.Detach(f.ctx, detachOrg, accountA)
	for fault.Is(err, fault.Conflict) { // the worker that does it is run again
		err = f.store.Detach(f.ctx, detachOrg, accountA)
	}
	f.must(err)
	close(stop)
	wg.Wait()
	if uses, err := f.store.UsesOf(f.ctx, detachOrg, accountA); err != nil || len(uses) != 0 {
		t.Errorf("left: %+v %v", uses, err)
	}
	if got := f.members(g.ID); !slices.Contains(got, "b-0") {
		t.Errorf("the group has %v", got)
	}
}

// edit changes a group and a team as their operations do. It adds a resource if its account still exists.
func (f *detachFixture) edit(groupID, teamID, more string) {
	unknown, accounts, err := f.store.Locate(f.ctx, detachOrg, []string{f.ids[more]})
	if err != nil || len(unknown) > 0 {
		f.Errorf("%v %v", unknown, err)
		return
	}
	held, err := inventory.HoldAccounts(detachOrg, accounts)
	if err != nil {
		f.Error(err)
		return
	}
	old, err := f.store.ReadGroup(f.ctx, detachOrg, groupID)
	if err != nil {
		f.Error(err)
		return
	}
	if old.Generation%2 == 0 { // a change that leaves the members as they are
		_, _ = f.store.UpdateGroup(f.ctx, detachOrg, old, inventory.Grouping{Group: old})
		return
	}
	places, _ := f.store.ListPlacements(f.ctx, detachOrg, groupID)
	places = slices.DeleteFunc(places, func(p inventory.GroupPlacement) bool { return p.ResourceID == f.ids[more] })
	_, err = f.store.UpdateGroup(f.ctx, detachOrg, old,
		inventory.Grouping{Group: old, Places: append(places, f.places(more)...)}, held...)
	if err != nil && !isOvertaken(err) {
		f.Error(err)
	}
	team, err := teams.New(f.table).Get(f.ctx, detachOrg, teamID)
	if err != nil {
		f.Error(err)
		return
	}
	owned, _ := f.store.ListOwned(f.ctx, detachOrg, teamID)
	owned = slices.DeleteFunc(owned, func(id string) bool { return id == f.ids[more] })
	err = f.own(team, append(owned, f.ids[more]), held)
	if err != nil && !isOvertaken(err) {
		f.Error(err)
	}
}

// isOvertaken reports whether somebody else has changed or holds what a write is about, or the account is gone. Users
// try again then.
func isOvertaken(err error) bool {
	return fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) || errors.Is(err, table.ErrConflicted)
}

func TestHoldAccounts_NothingIsPutIntoAGroupFromAnAccountThatIsGone(t *testing.T) {
	f := newDetachFixture(t)
	g, web := f.group("mixed", "b-0"), f.team("web", "b-0")
	_, err := f.table.Write(f.ctx, table.Delete(inventory.AccountKey(detachOrg, accountA)))
	f.must(err)
	held, err := inventory.HoldAccounts(detachOrg, []string{accountA})
	f.must(err)
	_, err = f.store.UpdateGroup(f.ctx, detachOrg, g, inventory.Grouping{Group: g, Places: f.places("b-0", "a-0")},
		held...)
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("a group takes it in: %v", err)
	}
	if _, err = f.store.CreateGroup(f.ctx, detachOrg, inventory.Group{ID: "grp_new", Name: "new"}, f.places("a-0"),
		held...); !fault.Is(err, fault.NotFound) {
		t.Errorf("a new group takes it in: %v", err)
	}
	if err = f.own(web, []string{f.ids["a-0"]}, held); !fault.Is(err, fault.NotFound) {
		t.Errorf("a team takes it in: %v", err)
	}
	if _, err = inventory.HoldAccounts(detachOrg, make([]string, 81)); !fault.Is(err, fault.Invalid) {
		t.Errorf("81 accounts at once: %v", err)
	}
}
