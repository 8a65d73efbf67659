package organisationsync_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/functions/organisationsync"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	domaindiscovery "lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

type fields = map[string]any

type settings = map[string]string

var (
	alice  = apitest.Caller("org_a", "alice", "*:*")
	bob    = apitest.Caller("org_b", "bob", "*:*")
	viewer = apitest.Caller("org_a", "vic", "*:read")
)

// fixture serves the operations on a simulated cloud, with the machines of discovery and synchronization.
type fixture struct {
	*apitest.Fixture
	sync workflow.Handler
	time shifted
}

func newFixture(t *testing.T, others ...cloud.Provider) *fixture {
	t.Helper()
	now := newShifted()
	s := &fixture{Fixture: apitest.On(t, apitest.PlatformAt(t, now)), time: now}
	s.Settings = platform.Settings{Simulated: true, CustomEndpoints: true, Pepper: s.Settings.Pepper}
	providers := cloud.Providers{simulated.Name: simulated.New(s.Table, s.Platform.Clock)}
	for _, p := range others {
		providers[p.Name()] = p
	}
	s.sync = organisationsync.Handler(s.Platform, providers)
	s.Workers = lambdacall.Local{inventory.Connector: connector.Handler(s.Platform, providers)}
	s.RunMachines(apitest.Machines(t, "discovery", connection.OrganisationSyncMachine), map[string]workflow.Handler{
		"discovery": discovery.Handler(s.Platform, providers), "organisationsync": s.sync,
	})
	s.Mount(cloudaccounts.Operations, cloudorganisations.Operations, resources.Operations)
	s.Put(identity.AccessKey("org_a"), identity.Access{})
	return s
}

// organisationBody connects a simulated organization of 12 accounts, 6 resources each.
func organisationBody(more ...fields) fields {
	out := fields{
		"provider": "simulated", "name": "Everything", "authMethod": "simulated", "permissionLevel": "read_write",
		"credentials": settings{"organisation": "o-demo", "members": "12", "size": "6", "regions": "1"},
	}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// cloudSettings is the connection's settings, with these instead.
func cloudSettings(change settings) fields {
	c := settings{"organisation": "o-demo", "members": "12", "size": "6", "regions": "1"}
	maps.Copy(c, change)
	return fields{"credentials": c}
}

func (s *fixture) connectOrganisation(more ...fields) cloudorganisations.CloudOrganisation {
	s.Helper()
	o := apitest.Data[cloudorganisations.CloudOrganisation](s.Call(alice, "POST /cloud-organisations",
		organisationBody(more...)))
	s.waitIdle()
	return s.getOrganisation(o.ID)
}

func (s *fixture) getOrganisation(id string) cloudorganisations.CloudOrganisation {
	s.Helper()
	return apitest.Data[cloudorganisations.CloudOrganisation](s.Call(alice, "GET /cloud-organisations/"+id, nil))
}

func (s *fixture) waitIdle() {
	s.Helper()
	s.Must(s.Workflow.(*workflow.Embedded).Idle(s.Context())) //nolint:forcetypeassert // the fixture made it
}

func (s *fixture) synchronize(id string) cloudorganisations.CloudOrganisation {
	s.Helper()
	apitest.Data[rest.Job](s.Call(alice, "POST /cloud-organisations/"+id+"/sync", nil), 202)
	s.waitIdle()
	return s.getOrganisation(id)
}

// nextDay synchronizes a day and a minute later.
func (s *fixture) nextDay(id string) cloudorganisations.CloudOrganisation {
	s.Helper()
	s.time.skipTime(24*time.Hour + time.Minute)
	return s.synchronize(id)
}

// confirm confirms the disconnections that wait, and synchronizes.
func (s *fixture) confirm(id string) cloudorganisations.CloudOrganisation {
	s.Helper()
	waits := s.getOrganisation(id).Pending
	if waits == nil || waits.ConfirmationID == nil {
		s.Fatalf("nothing waits for a confirmation: %+v", waits)
	}
	apitest.Data[rest.Job](s.Call(alice, "POST /cloud-organisations/"+id+"/sync",
		fields{"confirmationID": *waits.ConfirmationID}), 202)
	s.waitIdle()
	return s.getOrganisation(id)
}

func (s *fixture) listAccounts() []connection.Account {
	s.Helper()
	return apitest.Data[rest.List[connection.Account]](s.Call(alice, "GET /cloud-accounts?limit=100", nil)).Items
}

func (s *fixture) listMembers(id, query string) []cloudorganisations.CloudOrganisationMember {
	s.Helper()
	return apitest.Data[rest.List[cloudorganisations.CloudOrganisationMember]](s.Call(alice,
		"GET /cloud-organisations/"+id+"/members?limit=100"+query, nil)).Items
}

// changeCloud replaces the connection's settings, as a cloud would change.
func (s *fixture) changeCloud(id string, c settings) {
	s.Helper()
	sealed, err := inventory.SealCredentials(s.Context(), s.Sealer, inventory.SecretPlace("org_a", id),
		cloudSettings(c)["credentials"].(settings))
	s.Must(err)
	s.Change(connection.OrganisationKey("org_a", id), table.Set("sealed", sealed))
}

func TestSync_EveryMemberBecomesAnAccount(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	if o.Status != "connected" || o.OrganisationID != "o-demo" || o.JobID != nil || o.LastSyncedAt == nil ||
		o.Members["connected"] != 12 {
		t.Errorf("%+v", o)
	}
	all := s.listAccounts()
	if len(all) != 12 {
		t.Fatalf("%d accounts", len(all))
	}
	for _, a := range all {
		if a.Status != "connected" || a.ResourceCount != 6 || *a.OrganisationID != o.ID ||
			a.PermissionLevel != "read_write" {
			t.Errorf("%+v; want it connected, with its 6 resources", a)
		}
	}
	m := s.listMembers(o.ID, "&search=prod")
	if len(m) != 4 || m[0].Unit != "Root/Prod" || m[0].Status != "connected" || m[0].AccountID == nil {
		t.Errorf("%+v", m)
	}
}

func TestSync_OnlyWhatIsIncludedAndNotExcluded(t *testing.T) {
	for name, tt := range map[string]struct {
		include, exclude fields
		want             []string
	}{
		"one id": {fields{"ids": []string{"200000000003"}}, fields{}, []string{"200000000003"}},
		"a unit by its name": {
			fields{"units": []string{"Dev"}},
			fields{},
			[]string{"200000000001", "200000000004", "200000000007", "200000000010"},
		},
		"a unit by its id, but for one": {
			fields{"units": []string{"ou-sim-dev"}},
			fields{"ids": []string{"200000000004"}},
			[]string{"200000000001", "200000000007", "200000000010"},
		},
		"the root, but for two units": {
			fields{"units": []string{"r-sim"}},
			fields{"units": []string{"Dev", "Sandbox"}},
			[]string{"200000000000", "200000000003", "200000000006", "200000000009"},
		},
		"a tag with a value": {fields{"tags": []string{"number=5"}}, fields{}, []string{"200000000005"}},
		"a tag with any value, not this": {
			fields{"tags": []string{"env"}},
			fields{"tags": []string{"env=Dev", "env=Prod"}},
			[]string{"200000000002", "200000000005", "200000000008", "200000000011"},
		},
		"nothing that there is": {fields{"ids": []string{"1"}}, fields{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			o := s.connectOrganisation(fields{"include": tt.include, "exclude": tt.exclude})
			var got []string
			for _, a := range s.listAccounts() {
				got = append(got, a.CloudAccountID)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) || o.Members["connected"] != len(tt.want) ||
				o.Members["excluded"] != 12-len(tt.want) {
				t.Errorf("connected are %v, %v; want %v", got, o.Members, tt.want)
			}
		})
	}
}

func TestSync_AMemberThatRefusesIsListedAndTheOthersConnect(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation(cloudSettings(settings{"refusingMembers": "2", "closedMembers": "1"}))
	if o.Status != "connected" || o.Members["connected"] != 9 || o.Members["refused"] != 2 || o.Members["closed"] != 1 {
		t.Errorf("%+v", o)
	}
	for _, m := range s.listMembers(o.ID, "&status=refused") {
		if m.AccountID != nil || m.Error == nil ||
			!strings.Contains(*m.Error, "The security token included in the request is invalid.") {
			t.Errorf("%+v; want the cloud's words", m)
		}
	}
	s.changeCloud(o.ID, settings{"closedMembers": "1"}) // they let us in now
	if o = s.synchronize(o.ID); o.Members["connected"] != 11 || o.Members["refused"] != 0 ||
		len(s.listAccounts()) != 11 {
		t.Errorf("%+v with %d accounts", o, len(s.listAccounts()))
	}
}

func TestSync_NewMembersComeAndClosedOnesGo(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	// 10 and 11 are closed, and so are the two that are new
	s.changeCloud(o.ID, settings{"members": "14", "closedMembers": "4"})
	s.synchronize(o.ID)
	s.nextDay(o.ID)
	o = s.confirm(o.ID)
	if o.Members["connected"] != 10 || o.Members["closed"] != 4 || len(s.livingAccounts()) != 10 {
		t.Errorf("%+v", o.Members)
	}
	s.changeCloud(o.ID, settings{"members": "11"}) // one is open again, the others have left
	o = s.synchronize(o.ID)
	if o.Members["connected"] != 11 || o.Members["left"] != 3 {
		t.Errorf("%+v", o.Members)
	}
	for _, a := range s.listAccounts() {
		_, err := s.Table.Get(s.Anywhere(), domaindiscovery.DueKey(a.ID))
		gone := a.CloudAccountID == "200000000011"
		if (a.Status == "disconnected") != gone || fault.Is(err, fault.NotFound) != gone || gone &&
			(a.Error == nil || !strings.Contains(*a.Error, "no more")) {
			t.Errorf("%s is %s, %v; its discoveries: %v", a.CloudAccountID, a.Status, a.Error, err)
		}
	}
}

// Two at once, and one after a run that died half-way, make each account once.
func TestSync_TwoAtOnceMakeEachAccountOnce(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation(fields{"include": fields{"ids": []string{"200000000000"}}})
	s.Change(connection.OrganisationKey("org_a", o.ID), table.Remove("include"))
	job, _, err := connection.StartSync(s.In("org_a"), s.stoppedPlatform(), "org_a", o.ID)
	s.Must(err)
	call, err := json.Marshal(workflow.Call{
		Task: "sync",
		Input: apitest.Value(json.Marshal(connection.SyncInput{
			Org: "org_a", OrganisationID: o.ID,
			JobID: job.JobID,
		}))(t),
	})
	s.Must(err)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = s.sync(s.Context(), call) })
	}
	wg.Wait()
	s.waitIdle()
	seen := map[string]int{}
	for _, a := range s.listAccounts() {
		seen[a.CloudAccountID]++
	}
	if len(seen) != 12 || len(s.listAccounts()) != 12 || slices.ContainsFunc(errs, func(err error) bool {
		return err != nil
	}) {
		t.Errorf("%v accounts, %v", seen, errs)
	}
	if o = s.getOrganisation(o.ID); o.Members["connected"] != 12 || o.JobID != nil {
		t.Errorf("%+v", o)
	}
}

// stoppedPlatform is the platform, with machines that never begin.
func (s *fixture) stoppedPlatform() *platform.Platform {
	p := s.Clone()
	p.Workflow = still{s.Workflow}
	return p
}

type still struct{ workflow.Engine }

func (still) Start(_ context.Context, _, _ string, _ any) error {
	return fault.New(fault.Unavailable, "still")
}

func TestSync_LeavesAccountsOfOthersAlone(t *testing.T) {
	s := newFixture(t)
	mine := apitest.Data[connection.Account](s.Call(alice, "POST /cloud-accounts", fields{
		"provider": "simulated", "cloudAccountID": "200000000004", "name": "Dev 001", "authMethod": "simulated",
		"permissionLevel": "read_only",
		"credentials":     settings{"size": "3", "regions": "1"},
	}))
	s.waitIdle()
	o := s.connectOrganisation()
	if o.Members["connected"] != 11 || o.Members["duplicate"] != 1 || len(s.listAccounts()) != 12 {
		t.Errorf("%+v with %d accounts", o, len(s.listAccounts()))
	}
	if m := s.listMembers(o.ID, "&status=duplicate"); len(m) != 1 || *m[0].AccountID != mine.ID ||
		!strings.Contains(*m[0].Error, "connected by hand before") {
		t.Errorf("the account that was connected by hand is listed as %+v", m)
	}
	for _, a := range s.listAccounts() {
		switch {
		case a.ID == mine.ID && (a.PermissionLevel != "read_only" || a.OrganisationID != nil || a.ResourceCount != 3):
			t.Errorf("the account that was connected by hand is %+v", a)
		case a.CloudAccountID == "200000000001" && a.Name != "Dev 001 (200000000001)":
			t.Errorf("the namesake is called %q", a.Name)
		}
	}
	s.changeCloud(o.ID, settings{"members": "1"})
	s.synchronize(o.ID)
	if a := s.listAccounts()[0]; a.ID != mine.ID || a.Status != "connected" {
		t.Errorf("when its member has left, it is %+v", a)
	}
}

func TestSync_AnAccountThatWasDeletedHereStaysSo(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	gone := s.listAccounts()[0]
	apitest.Data[rest.Deleted](s.Call(alice, "DELETE /cloud-accounts/"+gone.ID, nil))
	for range 2 {
		if o = s.synchronize(o.ID); o.Members["removed"] != 1 || o.Members["connected"] != 11 ||
			len(s.listAccounts()) != 11 {
			t.Errorf("%+v with %d accounts", o.Members, len(s.listAccounts()))
		}
	}
}

func TestSync_CredentialsThatAreRevokedDegradeTheOrganization(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	s.changeCloud(o.ID, settings{"refuse": "true"})
	o = s.synchronize(o.ID)
	if o.Status != "degraded" || o.Error == nil || !strings.Contains(*o.Error, "security token") ||
		len(s.listAccounts()) != 12 || s.listAccounts()[3].Status != "connected" {
		t.Errorf("%+v", o)
	}
	s.changeCloud(o.ID, nil)
	if o = s.synchronize(o.ID); o.Status != "connected" || o.Error != nil || o.Members["connected"] != 12 {
		t.Errorf("%+v", o)
	}
}

func TestSchedule_SynchronizesEachOrganizationAndForgetsThoseThatAreGone(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	s.Put(connection.OrganisationDueKey("corg_gone"),
		connection.OrganisationDue{Org: "org_a", OrganisationID: "corg_gone"})
	s.Put(connection.OrganisationDueKey("corg_ended"),
		connection.OrganisationDue{Org: "org_ended", OrganisationID: "corg_ended"})
	s.changeCloud(o.ID, settings{"members": "15"})
	out, err := s.sync(s.Context(), json.RawMessage(`{"source":"aws.scheduler"}`))
	if got, ok := out.(organisationsync.Started); err != nil || !ok || got.Organisations != 3 || got.Started != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	s.waitIdle()
	if o = s.getOrganisation(o.ID); o.Members["connected"] != 15 {
		t.Errorf("%+v", o)
	}
	for _, gone := range []string{"corg_gone", "corg_ended"} {
		if _, err := s.Table.Get(s.Anywhere(), connection.OrganisationDueKey(gone)); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s is still due: %v", gone, err)
		}
	}
}
