package organisationsync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	domaindiscovery "lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/apitest"
)

// An incomplete listing disconnects no member. The record names the missing members until a complete listing arrives.
func TestEnding_AShortListingDisconnectsNobody(t *testing.T) {
	for name, short := range map[string]settings{
		"half of the members are missing":   {"members": "6"},
		"all members are missing":           {"members": "0"},
		"all members are shown as closed":   {"closedMembers": "12"},
		"one is missing, another is closed": {"members": "11", "closedMembers": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			o := s.connectOrganisation()
			s.changeCloud(o.ID, short)
			o = s.synchronize(o.ID)
			missing := 12 - o.Members["connected"]
			if len(s.livingAccounts()) != 12 || o.Pending == nil || o.Pending.Members != missing || missing == 0 ||
				o.Pending.ConfirmationID != nil {
				t.Errorf("%d live, %v, pending %+v", len(s.livingAccounts()), o.Members, o.Pending)
			}
			for _, m := range s.listMembers(o.ID, "") {
				if gone := m.Status != "connected"; gone != (m.DisconnectsFrom != nil) || m.AccountID == nil ||
					m.AwaitsConfirmation {
					t.Errorf("%+v", m)
				}
			}
			s.time.skipTime(23 * time.Hour)
			if o = s.synchronize(o.ID); len(s.livingAccounts()) != 12 {
				t.Errorf("23 hours later %d live", len(s.livingAccounts()))
			}
			s.changeCloud(o.ID, nil)
			if o = s.synchronize(o.ID); o.Members["connected"] != 12 || o.Pending != nil ||
				len(s.livingAccounts()) != 12 {
				t.Errorf("after a whole listing: %v, pending %+v", o.Members, o.Pending)
			}
			s.changeCloud(o.ID, short) // missing anew: the day begins anew
			s.time.skipTime(2 * time.Hour)
			if o = s.synchronize(o.ID); len(s.livingAccounts()) != 12 || o.Pending.ConfirmationID != nil {
				t.Errorf("missing anew: %d live, pending %+v", len(s.livingAccounts()), o.Pending)
			}
		})
	}
}

// More than a tenth of the members wait for a person, who confirms those that wait and no others.
func TestEnding_MoreThanATenthWaitForAPerson(t *testing.T) {
	s := newFixture(t)
	s.addOwner("ada@example.com")
	o := s.connectOrganisation()
	s.changeCloud(o.ID, settings{"members": "10"})
	s.synchronize(o.ID)
	o = s.nextDay(o.ID)
	if len(s.livingAccounts()) != 12 || o.Pending == nil || o.Pending.AwaitingConfirmation != 2 ||
		o.Pending.ConfirmationID == nil || o.Members["left"] != 2 {
		t.Fatalf("%d live, %v, pending %+v", len(s.livingAccounts()), o.Members, o.Pending)
	}
	s.wantOneMail(o.ID)
	first := *o.Pending.ConfirmationID
	s.changeCloud(o.ID, settings{"members": "9"})
	s.synchronize(o.ID)
	if o = s.nextDay(o.ID); *o.Pending.ConfirmationID == first || o.Pending.AwaitingConfirmation != 3 ||
		len(s.livingAccounts()) != 12 {
		t.Errorf("with a third member: %+v", o.Pending)
	}
	path := "POST /cloud-organisations/" + o.ID + "/sync"
	s.Call(alice, path, fields{"confirmationID": first}).Want(409, "confirmationID", first,
		"read the cloud organisation again")
	s.Call(bob, path, fields{"confirmationID": *o.Pending.ConfirmationID}).Want(404)
	s.Call(viewer, path, fields{"confirmationID": *o.Pending.ConfirmationID}).Want(403)
	if len(s.livingAccounts()) != 12 {
		t.Errorf("after refused confirmations %d live", len(s.livingAccounts()))
	}
	if o = s.confirm(o.ID); len(s.livingAccounts()) != 9 || o.Pending != nil || o.Members["left"] != 3 {
		t.Errorf("after the confirmation: %d live, %v, pending %+v", len(s.livingAccounts()), o.Members, o.Pending)
	}
	s.changeCloud(o.ID, settings{"members": "8"}) // a confirmation is for those that waited, and is used up
	s.synchronize(o.ID)
	if o = s.nextDay(o.ID); len(s.livingAccounts()) != 9 || o.Pending.AwaitingConfirmation != 1 {
		t.Errorf("the next member: %d live, pending %+v", len(s.livingAccounts()), o.Pending)
	}
}

// A tenth goes by itself, after a day; a second one in the same day does not.
func TestEnding_ATenthADayGoesByItself(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	s.changeCloud(o.ID, settings{"members": "11"})
	s.synchronize(o.ID)
	s.time.skipTime(time.Hour)
	s.changeCloud(o.ID, settings{"members": "10"})
	s.synchronize(o.ID)
	s.time.skipTime(23*time.Hour + time.Minute)
	if o = s.synchronize(o.ID); len(s.livingAccounts()) != 11 || o.Pending.Members != 1 ||
		o.Pending.ConfirmationID != nil {
		t.Errorf("after a day of the first: %d live, pending %+v", len(s.livingAccounts()), o.Pending)
	}
	s.time.skipTime(time.Hour)
	if o = s.synchronize(o.ID); len(s.livingAccounts()) != 11 || o.Pending.AwaitingConfirmation != 1 {
		t.Errorf("after a day of the second: %d live, pending %+v", len(s.livingAccounts()), o.Pending)
	}
	if o = s.nextDay(o.ID); len(s.livingAccounts()) != 10 || o.Pending != nil {
		t.Errorf("a day after the first went: %d live, pending %+v", len(s.livingAccounts()), o.Pending)
	}
}

// Members that a person excludes are disconnected at once. Members that the cloud's units and tags exclude wait like
// missing ones.
func TestEnding_OnlyAPersonsSelectionActsAtOnce(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	// as if they had moved
	s.Change(connection.OrganisationKey("org_a", o.ID),
		table.Set("exclude", connection.MemberSelection{Units: []string{"Dev"}}))
	if o = s.synchronize(o.ID); len(s.livingAccounts()) != 12 || o.Members["excluded"] != 4 || o.Pending.Members != 4 {
		t.Errorf("%d live, %v, pending %+v", len(s.livingAccounts()), o.Members, o.Pending)
	}
	s.updateOrganisation(o.ID, fields{"exclude": fields{"units": []string{"Dev"}}})
	if o = s.synchronize(o.ID); len(s.livingAccounts()) != 8 || o.Members["excluded"] != 4 || o.Pending != nil {
		t.Errorf("after a person's change: %d live, %v, pending %+v", len(s.livingAccounts()), o.Members, o.Pending)
	}
}

// An account that a person deletes while its member is missing stays deleted when the member is listed again.
func TestEnding_AnAccountDeletedMeanwhileStaysDeleted(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	s.changeCloud(o.ID, settings{"members": "11"})
	s.synchronize(o.ID)
	for _, a := range s.listAccounts() {
		if a.CloudAccountID == "200000000011" {
			apitest.Data[rest.Deleted](s.Call(alice, "DELETE /cloud-accounts/"+a.ID, nil))
		}
	}
	s.waitIdle()
	s.synchronize(o.ID)
	s.changeCloud(o.ID, nil)
	if o = s.synchronize(o.ID); o.Members["removed"] != 1 || len(s.listAccounts()) != 11 || o.Pending != nil {
		t.Errorf("%v, %d accounts, pending %+v", o.Members, len(s.listAccounts()), o.Pending)
	}
}

// An account that its organization has disconnected is not shown as connected or opened again: neither by a discovery
// that ends later nor by a request.
func TestEnding_ADisconnectedMemberIsNotConnectedByItsDiscovery(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	one := s.listAccounts()[0]
	late, err := domaindiscovery.StartDiscovery(s.In("org_a"), s.stoppedPlatform(), "org_a", one.ID)
	s.Must(err)
	s.updateOrganisation(o.ID, fields{"exclude": fields{"ids": []string{one.CloudAccountID}}})
	s.synchronize(o.ID)
	domaindiscovery.StartMachine(s.In("org_a"), s.Platform, "org_a", late)
	s.waitIdle()
	path := "/cloud-accounts/" + one.ID
	s.Call(alice, "POST "+path+"/discover", nil).Want(409,
		"is disconnected: the organization's include and exclude leave it out", o.ID)
	s.Call(alice, "PUT "+path, fields{"regions": nil}).Want(409, "is disconnected")
	s.Call(alice, "POST /resources/refresh", nil).Want(202)
	s.waitIdle()
	if a := s.getAccount(one.ID); a.Status != "disconnected" || a.JobID != nil {
		t.Errorf("%+v; want it disconnected", a)
	}
	s.updateOrganisation(o.ID, fields{"exclude": nil})
	s.synchronize(o.ID)
	if a := s.getAccount(one.ID); a.Status != "connected" || a.ResourceCount != 6 {
		t.Errorf("when it is selected again: %+v", a)
	}
	s.Call(alice, "POST "+path+"/discover", nil).Want(202)
	s.waitIdle()
}

// The credentials of the organization are sent to the organization's endpoint, even if a member's account was changed
// to another one.
func TestEnding_AReturningMemberIsOpenedAtTheOrganizationsEndpoint(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	one := s.listAccounts()[0]
	apitest.Data[connection.Account](s.Call(alice, "PUT /cloud-accounts/"+one.ID, fields{
		"endpointURL": "https://thief.example.com", "credentials": settings{"size": "1", "regions": "1"},
	}))
	s.waitIdle()
	s.updateOrganisation(o.ID, fields{"exclude": fields{"ids": []string{one.CloudAccountID}}})
	s.synchronize(o.ID)
	s.updateOrganisation(o.ID, fields{"exclude": nil})
	s.synchronize(o.ID)
	if a := s.getAccount(one.ID); a.EndpointURL != nil || a.Status != "connected" || a.ResourceCount != 6 {
		t.Errorf("%+v at %v; want the organization's credentials and endpoint", a, a.EndpointURL)
	}
}

// Members that take long to refuse do not keep the members after them from being tried, in this synchronization and
// in the next.
func TestSync_SlowRefusalsDoNotStarveOthers(t *testing.T) {
	slow := &slowCloud{refuses: func(native string) bool { return native < "200000000008" }}
	s := newFixture(t, slow)
	slow.Provider, slow.time = simulated.New(s.Table, s.Platform.Clock), s.time
	o := apitest.Data[cloudorganisations.CloudOrganisation](s.Call(alice, "POST /cloud-organisations",
		organisationBody(fields{"include": fields{"ids": []string{"none"}}})))
	s.waitIdle()
	slow.on = true
	slow.gate.Add(8)
	s.Change(connection.OrganisationKey("org_a", o.ID), table.Remove("include"))
	s.synchronizeTimes(o.ID, 2)
	if got := s.livingAccounts(); !slices.Equal(got,
		[]string{"200000000008", "200000000009", "200000000010", "200000000011"}) {
		t.Errorf("after two runs %v live", got)
	}
	slow.refuses, slow.tried = func(string) bool { return true }, nil
	slow.gate.Add(8)
	s.changeCloud(o.ID, settings{"members": "24"})
	s.synchronizeTimes(o.ID, 1) // abandoned after one run: it tried eight
	tried := slow.tried
	slow.tried = nil
	slow.gate.Add(8)
	s.synchronizeTimes(o.ID, 1)
	for _, native := range slow.tried {
		if slices.Contains(tried, native) {
			t.Errorf("%s is tried again before all were: %v, then %v", native, tried, slow.tried)
		}
	}
	if len(tried) != 8 || len(slow.tried) != 8 {
		t.Errorf("tried %v, then %v; want eight each", tried, slow.tried)
	}
}

// synchronizeTimes begins a synchronization anew and has the worker run n times, without the machine that would go on.
func (s *fixture) synchronizeTimes(id string, n int) {
	s.Helper()
	s.time.skipTime(4 * time.Hour) // one under way counts as lost
	job, _, err := connection.StartSync(s.In("org_a"), s.stoppedPlatform(), "org_a", id)
	s.Must(err)
	in := connection.SyncInput{Org: "org_a", OrganisationID: id, JobID: job.JobID}
	call := apitest.Value(json.Marshal(workflow.Call{Task: "sync", Input: apitest.Value(json.Marshal(in))(s)}))(s)
	for range n {
		_, err := s.sync(s.Context(), call)
		s.Must(err)
	}
	s.waitIdle()
}

// slowCloud is the simulated cloud with one difference: a refused member takes minutes to answer.
type slowCloud struct {
	cloud.Provider
	time    shifted
	on      bool
	refuses func(native string) bool
	mu      sync.Mutex
	tried   []string
	gate    sync.WaitGroup // until eight are being opened at once, which is as many as there are
}

func (*slowCloud) Name() string { return simulated.Name }

func (c *slowCloud) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	if !c.on || !strings.HasPrefix(a.ID, "ca_") || !c.refuses(a.NativeID) {
		return c.Provider.Connect(ctx, a)
	}
	c.mu.Lock()
	c.tried = append(c.tried, a.NativeID)
	c.mu.Unlock()
	c.gate.Done()
	c.gate.Wait()
	c.time.skipTime(9 * time.Minute)
	return nil, &cloud.Error{
		Class: cloud.Denied, Op: "sts:AssumeRole", Code: "AccessDenied", Message: fmt.Sprint("not in ", a.NativeID),
	}
}

// addOwner makes somebody an owner of org_a.
func (s *fixture) addOwner(email string) {
	s.Helper()
	s.Put(identity.MemberKey("org_a", "usr_owner"),
		identity.Member{
			User: "usr_owner", Email: email,
			Grants: []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}},
		})
}

func (s *fixture) wantOneMail(id string) {
	s.Helper()
	all := s.Mails()
	if len(all) != 1 || all[0].Template != mail.DisconnectionsWaiting || all[0].To != "ada@example.com" ||
		all[0].Data["id"] != id || all[0].Data["waiting"] != "2" {
		s.Errorf("%+v; want one mail to the owner", all)
	}
}
