package readiness_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/tabletest"
)

const policyOrg = "org_1"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// policyFixture is a store with one policy in it.
type policyFixture struct {
	store  *readiness.PolicyStore
	table  table.Store
	clock  *clock.Manual
	policy readiness.Policy
}

func open(t *testing.T) policyFixture {
	t.Helper()
	c := clock.NewManual(start)
	f := policyFixture{table: tabletest.NewAt(t, c), clock: c}
	f.store = readiness.NewPolicyStore(f.table, c)
	p, err := f.store.Create(t.Context(), policyOrg, policy("web", "arn:web"),
		[]readiness.PolicyEntry{{Kind: readiness.LogAdopted}})
	if err != nil {
		t.Fatal(err)
	}
	f.policy = p
	return f
}

func policy(name, uid string) readiness.Policy {
	return readiness.Policy{
		ID: id.New("asp", start), Name: name, Mode: readiness.Recommend, CloudAccountID: "ca_1", Min: 1, Max: 4,
		Desired: 2,
		Target:  readiness.PolicyTarget{Type: "aws-asg", UID: uid, Region: "eu-west-1"}, Status: readiness.PolicyActive,
		CreatedAt: start,
	}
}

func wantConflict(t *testing.T, err error, says string) {
	t.Helper()
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Message(err), says) {
		t.Errorf("%v; want a conflict that says %q", err, says)
	}
}

func TestStore_KeepsOneNameAndOneTarget(t *testing.T) {
	f := open(t)
	tests := []struct {
		name, of, uid, says string
	}{
		{"a name that is taken", "web", "arn:other", "name: another autoscaler policy is named"},
		{"a name that is taken in other letters", "WEB", "arn:other", "name: another autoscaler policy is named"},
		{"a target that is taken", "other", "arn:web", "target.uid: arn:web has an autoscaler policy already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.store.Create(t.Context(), policyOrg, policy(tt.of, tt.uid), nil)
			wantConflict(t, err, tt.says)
		})
	}
	if err := f.store.Delete(t.Context(), policyOrg, f.policy, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Create(t.Context(), policyOrg, policy("web", "arn:web"), nil); err != nil {
		t.Errorf("name and target of a policy that was deleted: %v", err)
	}
}

func TestStore_FindsPoliciesByTheirIDs(t *testing.T) {
	f := open(t)
	ids := []string{f.policy.ID, "asp_gone"}
	for i := range 120 {
		p, err := f.store.Create(t.Context(), policyOrg, policy(fmt.Sprintf("p%d", i), fmt.Sprintf("arn:%d", i)), nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	got, err := f.store.GetMany(t.Context(), policyOrg, ids...)
	if err != nil || len(got) != 121 || got[f.policy.ID].Name != "web" {
		t.Errorf("%d policies, %v; want the 121 that exist", len(got), err)
	}
	all, err := f.store.List(t.Context(), policyOrg)
	if err != nil || len(all) != 121 {
		t.Errorf("%d policies, %v; want 121, and no rows beside them", len(all), err)
	}
}

func TestStore_APlanThatHasAPolicyKeepsOthersAway(t *testing.T) {
	f := open(t)
	hold := func(plan string) error {
		return f.table.Transact(t.Context(), f.store.Hold(policyOrg, f.policy.ID, plan))
	}
	if err := hold("evt_1"); err != nil {
		t.Fatal(err)
	}
	if err := hold("evt_1"); err != nil {
		t.Errorf("the plan that has it, again: %v", err)
	}
	wantConflict(t, hold("evt_2"), "")
	held, err := f.store.Get(t.Context(), policyOrg, f.policy.ID)
	if err != nil || held.PlanID != "evt_1" || held.ToldStatus() != readiness.PolicyHeld {
		t.Fatalf("%+v, %v", held, err)
	}
	_, err = f.store.Claim(t.Context(), policyOrg, held)
	wantConflict(t, err, "event readiness plan evt_1 has the capacity")
	_, err = f.store.Claim(t.Context(), policyOrg, f.policy)
	wantConflict(t, err, "event readiness plan evt_1 has the capacity")
	wantConflict(t, f.table.Transact(t.Context(), f.store.Release(policyOrg, f.policy.ID, "evt_2")), "")
	if err := f.table.Transact(t.Context(), f.store.Release(policyOrg, f.policy.ID, "evt_1")); err != nil {
		t.Fatal(err)
	}
	if free, err := f.store.Get(t.Context(), policyOrg, f.policy.ID); err != nil || free.PlanID != "" ||
		free.ToldStatus() != readiness.PolicyActive {
		t.Errorf("%+v, %v; want it free", free, err)
	}
	wantConflict(t, f.table.Transact(t.Context(), f.store.Hold(policyOrg, "asp_none", "evt_1")), "")
	if _, err := f.store.Get(t.Context(), policyOrg, "asp_none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v; a hold has made a policy", err)
	}
}

func TestStore_OneApplyAtATime(t *testing.T) {
	f := open(t)
	claimed, err := f.store.Claim(t.Context(), policyOrg, f.policy)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.store.Claim(t.Context(), policyOrg, claimed)
	wantConflict(t, err, "is being applied by someone else")
	wantConflict(t, f.table.Transact(t.Context(), f.store.Hold(policyOrg, f.policy.ID, "evt_1")), "")
	done := claimed
	done.Note = "done"
	saved, err := f.store.Save(t.Context(), policyOrg, claimed, done, readiness.PolicyEntry{Kind: readiness.LogApplied})
	if err != nil || saved.ClaimedUntil != 0 {
		t.Fatalf("%+v, %v", saved, err)
	}
	_, err = f.store.Save(t.Context(), policyOrg, claimed, done)
	wantConflict(t, err, "changed by someone else")
	if _, err = f.store.Claim(t.Context(), policyOrg, saved); err != nil {
		t.Errorf("a second apply after the first: %v", err)
	}
	f.clock.Advance(2 * time.Minute) // the process that claimed it has died
	if err := f.table.Transact(t.Context(), f.store.Hold(policyOrg, f.policy.ID, "evt_1")); err != nil {
		t.Errorf("a hold after a claim has passed: %v", err)
	}
}

func TestStore_LogsTheNewestFirst(t *testing.T) {
	f := open(t)
	p := f.policy
	for i := range 3 {
		next, err := f.store.Save(t.Context(), policyOrg, p, p,
			readiness.PolicyEntry{Kind: readiness.LogDrifted, Message: strconv.Itoa(i)},
			readiness.PolicyEntry{Kind: readiness.LogApplied, Message: strconv.Itoa(i)})
		if err != nil {
			t.Fatal(err)
		}
		p = next
	}
	got, err := f.store.Log(t.Context(), policyOrg, f.policy.ID)
	if err != nil || len(got) != 7 || got[0].Message != "2" || got[0].Kind != readiness.LogApplied ||
		got[6].Kind != readiness.LogAdopted {
		t.Errorf("%+v, %v", got, err)
	}
	f.clock.Advance(91 * 24 * time.Hour)
	if got, err = f.store.Log(t.Context(), policyOrg, f.policy.ID); err != nil || len(got) != 0 {
		t.Errorf("%d entries after 91 days, %v; want none", len(got), err)
	}
}
