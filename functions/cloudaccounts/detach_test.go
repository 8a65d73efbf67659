package cloudaccounts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	usedOrg  = "org_01k00000000000000000000000"
	usedCA   = "ca_01k00000000000000000000000"
	usedPath = "/cloud-accounts/" + usedCA
)

// acceptingEngine accepts every execution and runs none.
type acceptingEngine struct{ workflow.Engine }

// Start accepts.
func (acceptingEngine) Start(context.Context, string, string, any) error { return nil }

// hookedStore is a store that has something done before a transaction.
type hookedStore struct {
	table.Store
	before func()
}

// Transact runs the hook, once.
func (h *hookedStore) Transact(ctx context.Context, ws ...table.Write) error {
	if do := h.before; do != nil {
		h.before = nil
		do()
	}
	return h.Store.Transact(ctx, ws...)
}

// usedFixture is an account with two instances. A group and a team name one of them.
type usedFixture struct {
	*testing.T
	p     *platform.Platform
	hook  *hookedStore
	h     http.Handler
	store *inventory.Store
	ids   []string
}

func newUsedFixture(t *testing.T) *usedFixture {
	t.Helper()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	c := clock.NewManual(now)
	f := &usedFixture{T: t, hook: &hookedStore{Store: table.Fenced(tabletest.NewAt(t, c))}}
	f.p = &platform.Platform{Table: f.hook, Clock: c, Workflow: acceptingEngine{}}
	f.h, _ = rest.Mount(f.p, cloudaccounts.Operations(f.p))
	f.store = inventory.New(f.p)
	row, err := table.NewItem(inventory.AccountKey(usedOrg, usedCA),
		inventory.Account{ID: usedCA, Provider: "aws", CloudAccountID: "123456789012", Name: "Production"})
	f.must(err)
	_, err = f.p.Table.Write(f.in(), table.Put(row))
	f.must(err)
	part := inventory.Partition{AccountID: usedCA, Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}
	_, err = f.store.UpsertScanned(f.in(), usedOrg,
		inventory.Batch{
			Scan: inventory.Scan{Partition: part, ID: "job_1", Started: now}, At: now,
			Resources: []cloud.Resource{
				{UID: "i-0", Name: "web-0", Status: cloud.Running}, {UID: "i-1", Name: "web-1", Status: cloud.Running},
			},
		})
	f.must(err)
	all, err := f.store.ByUIDs(f.in(), usedOrg, []string{"i-0", "i-1"}, inventory.SeeEverything())
	f.must(err)
	f.ids = []string{all[0].ID, all[1].ID}
	return f
}

func (f *usedFixture) in() context.Context { return table.WithOrg(f.Context(), usedOrg) }

func (f *usedFixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// nameUses has a group and a team name the first instance.
func (f *usedFixture) nameUses() {
	f.Helper()
	held, err := inventory.HoldAccounts(usedOrg, []string{usedCA})
	f.must(err)
	_, err = f.store.CreateGroup(f.in(), usedOrg, inventory.Group{ID: "grp_shop", Name: "Shop"},
		[]inventory.GroupPlacement{{ResourceID: f.ids[0], Tier: 1, Order: 1}}, held...)
	f.must(err)
	owned, err := inventory.Own(usedOrg, "team_web", 1, f.ids[:1])
	f.must(err)
	_, err = teams.New(f.p.Table).Create(f.in(), usedOrg, teams.Team{ID: "team_web", Name: "Web"},
		append(owned, held...)...)
	f.must(err)
}

func (f *usedFixture) removeAccount(path string, code int, words ...string) {
	f.Helper()
	ctx := identity.WithCaller(f.in(), identity.Caller{
		Org: usedOrg, User: "usr_1", Email: "ada@example.com",
		Grants: []grant.Grant{{Policies: []string{"*:*"}, Scope: grant.OrgScope}},
	})
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodDelete, path, http.NoBody))
	if w.Code != code {
		f.Errorf("DELETE %s: got %d %s, want %d", path, w.Code, w.Body, code)
	}
	for _, word := range words {
		if !strings.Contains(w.Body.String(), word) {
			f.Errorf("DELETE %s: %s does not say %q", path, w.Body, word)
		}
	}
}

func TestRemove_AnAccountInUseIsNotDeletedUnlessItIsDetached(t *testing.T) {
	f := newUsedFixture(t)
	f.nameUses()
	for _, path := range []string{usedPath, usedPath + "?detach=false"} {
		f.removeAccount(path, http.StatusConflict, "grp_shop", "Shop", "team_web", "Web", "detach=true")
	}
	f.removeAccount(usedPath+"?detach=maybe", http.StatusBadRequest, "detach")
	f.removeAccount(usedPath+"?detach=true", http.StatusOK, usedCA)
	places, err := f.store.ListPlacements(f.in(), usedOrg, "grp_shop")
	f.must(err)
	owned, err := f.store.ListOwned(f.in(), usedOrg, "team_web")
	f.must(err)
	if len(places) != 0 || len(owned) != 0 {
		t.Errorf("left: %v %v", places, owned)
	}
	apitest.LinkAudit(t, f.p, audit.PlaceOf(usedOrg))
	page, err := f.p.Table.Query(table.Within(t.Context(), ""),
		table.Query{PK: audit.PlaceOf(usedOrg).PK, Limit: 10, Reverse: true})
	f.must(err)
	if row := string(page.Items[0].Data); !strings.Contains(row, "usedBy") || !strings.Contains(row, "grp_shop") {
		t.Errorf("the row does not say what it was taken out of: %s", row)
	}
}

func TestRemove_AnAccountThatComesIntoUseMeanwhileIsNotDeleted(t *testing.T) {
	f := newUsedFixture(t)
	f.hook.before = f.nameUses
	f.removeAccount(usedPath, http.StatusConflict, "changed")
	if _, err := f.store.ReadAccount(f.in(), usedOrg, usedCA); err != nil {
		t.Errorf("the account is gone: %v", err)
	}
	f.removeAccount(usedPath, http.StatusConflict, "grp_shop")
}

func TestRemove_AnAccountThatNothingNamesIsDeleted(t *testing.T) {
	f := newUsedFixture(t)
	f.removeAccount(usedPath, http.StatusOK, usedCA)
	f.removeAccount(usedPath, http.StatusNotFound)
}

func TestRemove_AnAutoscalerPolicyThatMayHaveSetItsTargetIsNotDetached(t *testing.T) {
	size := cloud.Autoscaling{Min: 4, Max: 9, Desired: 6}
	tests := []struct {
		name   string
		policy readiness.Policy
		code   int
	}{
		{"one that set nothing", readiness.Policy{}, http.StatusOK},
		{"one that was applied", readiness.Policy{Applied: &size}, http.StatusConflict},
		{"one whose apply has an unknown end", readiness.Policy{Asked: &size}, http.StatusConflict},
		{"one that a plan holds", readiness.Policy{PlanID: "plan_1"}, http.StatusConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newUsedFixture(t)
			p := tt.policy
			p.ID, p.Name, p.CloudAccountID = "asp_01k00000000000000000000000", "Shop fleet", usedCA
			p.Target = readiness.PolicyTarget{Type: "aws-asg", UID: "asg-shop", Region: "eu-west-1"}
			_, err := readiness.NewPolicyStore(f.p.Table, f.p.Clock).Create(f.in(), usedOrg, p, nil)
			f.must(err)
			f.removeAccount(usedPath, http.StatusConflict, p.ID, "Shop fleet")
			f.removeAccount(usedPath+"?detach=true", tt.code)
		})
	}
}
