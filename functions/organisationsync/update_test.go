package organisationsync_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/testkit/apitest"
)

func (s *fixture) updateOrganisation(id string, body fields) cloudorganisations.CloudOrganisation {
	s.Helper()
	return apitest.Data[cloudorganisations.CloudOrganisation](s.Call(alice, "PUT /cloud-organisations/"+id, body))
}

// livingAccounts are the native ids of the accounts that are not disconnected.
func (s *fixture) livingAccounts() []string {
	s.Helper()
	var out []string
	for _, a := range s.listAccounts() {
		if a.Status != "disconnected" {
			out = append(out, a.CloudAccountID)
		}
	}
	slices.Sort(out)
	return out
}

func TestUpdate_ASelectionTakesEffectWithTheNextSynchronization(t *testing.T) {
	for name, tt := range map[string]struct {
		change fields
		lives  int
	}{
		"without a unit":   {fields{"exclude": fields{"units": []string{"Dev"}}}, 8},
		"without an id":    {fields{"exclude": fields{"ids": []string{"200000000003"}}}, 11},
		"one tag alone":    {fields{"include": fields{"tags": []string{"env=Prod"}}}, 4},
		"one unit, by id":  {fields{"include": fields{"units": []string{"ou-sim-sandbox"}}}, 4},
		"nothing there is": {fields{"include": fields{"ids": []string{"1"}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			o := s.connectOrganisation()
			before := s.listAccounts()
			s.updateOrganisation(o.ID, tt.change)
			if got := s.livingAccounts(); len(got) != 12 {
				t.Errorf("at once, without a synchronization, %d live", len(got))
			}
			o = s.synchronize(o.ID)
			if got := s.livingAccounts(); len(got) != tt.lives || o.Members["connected"] != tt.lives ||
				o.Members["excluded"] != 12-tt.lives || len(s.listAccounts()) != 12 {
				t.Errorf("%v live, of %d; %v", got, len(s.listAccounts()), o.Members)
			}
			for _, a := range s.listAccounts() {
				if a.Status == "disconnected" &&
					(a.Error == nil || !strings.Contains(*a.Error, "leave it out") || s.countResources(a.ID) != 6) {
					t.Errorf("%s is out, %v, with %d resources", a.CloudAccountID, a.Error, s.countResources(a.ID))
				}
			}
			s.updateOrganisation(o.ID, fields{"include": nil, "exclude": nil})
			o = s.synchronize(o.ID)
			after := s.listAccounts()
			if len(s.livingAccounts()) != 12 || o.Members["connected"] != 12 || len(after) != len(before) {
				t.Errorf("when they are wanted again, %v live; %v", s.livingAccounts(), o.Members)
			}
			for i := range after {
				if after[i].ID != before[i].ID || after[i].Status != "connected" || after[i].ResourceCount != 6 {
					t.Errorf("%+v was %+v", after[i], before[i])
				}
			}
		})
	}
}

// countResources counts the known resources of an account.
func (s *fixture) countResources(accountID string) int {
	s.Helper()
	return len(apitest.Data[[]fields](s.Call(alice, "GET /resources?limit=100&cloud_account_id="+accountID, nil)))
}

func TestUpdate_WhatMembersTakeOverReachesThem(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	got := s.updateOrganisation(o.ID,
		fields{"permissionLevel": "read_only", "regions": []string{"us-east-1"}, "name": "All"})
	if got.PermissionLevel != "read_only" || got.Name != "All" || got.Include.IDs == nil {
		t.Errorf("%+v", got)
	}
	s.synchronize(o.ID)
	for _, a := range s.listAccounts() {
		if a.PermissionLevel != "read_only" || !slices.Equal(a.Regions, []string{"us-east-1"}) ||
			a.Status != "connected" {
			t.Errorf("%+v", a)
		}
	}
	one := s.listAccounts()[0]
	apitest.Data[connection.Account](s.Call(alice, "PUT /cloud-accounts/"+one.ID,
		fields{"permissionLevel": "read_write"}))
	s.updateOrganisation(o.ID, fields{"name": "Everything"})
	if s.synchronize(o.ID); s.listAccounts()[0].PermissionLevel != "read_write" {
		t.Error("a synchronization has undone what was chosen for one account")
	}
	got = s.updateOrganisation(o.ID, cloudSettings(settings{"size": "9"}))
	s.synchronize(got.ID)
	for _, a := range s.listAccounts() {
		if a.ResourceCount != 9 {
			t.Errorf("%s has %d resources; want what the new credentials show", a.CloudAccountID, a.ResourceCount)
		}
	}
}

func TestUpdate_RefusesWhatCannotBe(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	for name, tt := range map[string]struct {
		change fields
		says   string
	}{
		"no name":                      {fields{"name": nil}, "name: cannot be null"},
		"a level that is none":         {fields{"permissionLevel": "root"}, "permissionLevel"},
		"no credentials":               {fields{"credentials": nil}, "credentials: cannot be null"},
		"a method without credentials": {fields{"authMethod": "simulated"}, "credentials: are required"},
		"a tag that is none":           {fields{"exclude": fields{"tags": []string{"=x"}}}, "exclude.tags"},
		"an id that is empty":          {fields{"include": fields{"ids": []string{""}}}, "include.ids"},
		"credentials that are refused": {
			cloudSettings(settings{"refuse": "true"}),
			"The security token included in the request is invalid.",
		},
		"those of another organization": {
			cloudSettings(settings{"organisation": "o-other"}),
			"they list organization o-other, not o-demo",
		},
		"a region longer than one is": {fields{"regions": []string{strings.Repeat("x", 65)}}, "regions"},
		"more than a selection can have": {
			fields{"include": fields{"ids": slices.Repeat([]string{"1"}, 501)}},
			"include",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Call(alice, "PUT /cloud-organisations/"+o.ID, tt.change); got.Status != 400 ||
				!strings.Contains(got.Body, tt.says) {
				t.Errorf("%d %s; want 400 with %q", got.Status, got.Body, tt.says)
			}
		})
	}
	if now := s.getOrganisation(o.ID); !now.UpdatedAt.Equal(o.UpdatedAt) {
		t.Errorf("it was changed: %+v", now)
	}
	s.Call(alice, "PUT /cloud-organisations/corg_nothing", fields{"name": "x"}).Want(404)
}

// Of several changes at once none is lost without a word.
func TestUpdate_TwoAtOnceDoNotOverwriteEachOther(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	var wg sync.WaitGroup
	got := make([]apitest.Answer, 8)
	for i := range got {
		wg.Go(func() {
			body := fields{"include": fields{"ids": []string{"200000000001"}}}
			if i%2 == 1 {
				body = fields{"exclude": fields{"ids": []string{"200000000002"}}}
			}
			got[i] = s.Call(alice, "PUT /cloud-organisations/"+o.ID, body)
		})
	}
	wg.Wait()
	changed := map[bool]bool{}
	for i, a := range got {
		if a.Status != 200 && a.Status != 409 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		changed[i%2 == 1] = changed[i%2 == 1] || a.Status == 200
	}
	if now := s.getOrganisation(o.ID); changed[false] != (len(now.Include.IDs) == 1) ||
		changed[true] != (len(now.Exclude.IDs) == 1) {
		t.Errorf("%v were accepted, and it is %+v", changed, now)
	}
}

// An account that was connected by hand is never duplicated, and the organization never ends it. When it is deleted,
// the organization connects its member.
func TestDuplicates_AreListedAndLeftAlone(t *testing.T) {
	s := newFixture(t)
	mine := apitest.Data[connection.Account](s.Call(alice, "POST /cloud-accounts", fields{
		"provider": "simulated", "cloudAccountID": "200000000004", "name": "Mine", "authMethod": "simulated",
		"permissionLevel": "read_only",
		"credentials":     settings{"size": "3", "regions": "1"},
	}))
	o := s.connectOrganisation()
	s.updateOrganisation(o.ID,
		fields{"permissionLevel": "read_write", "exclude": fields{"ids": []string{"200000000004"}}})
	s.synchronize(o.ID)
	if a := s.getAccount(mine.ID); a.Status != "connected" || a.PermissionLevel != "read_only" ||
		a.OrganisationID != nil {
		t.Errorf("after it was left out, it is %+v", a)
	}
	s.updateOrganisation(o.ID, fields{"exclude": nil})
	s.synchronize(o.ID)
	s.changeCloud(o.ID, settings{"refusingMembers": "8"})
	apitest.Data[rest.Deleted](s.Call(alice, "DELETE /cloud-accounts/"+mine.ID, nil))
	s.waitIdle()
	s.synchronize(o.ID)
	if m := s.listMembers(o.ID, "&status=refused"); len(m) != 1 || m[0].NativeID != "200000000004" ||
		m[0].AccountID != nil {
		t.Errorf("when it was deleted, and refuses: %+v", m)
	}
	s.changeCloud(o.ID, nil)
	if o = s.synchronize(o.ID); o.Members["connected"] != 12 || o.Members["duplicate"] != 0 ||
		len(s.listAccounts()) != 12 {
		t.Errorf("when it was deleted: %v, %d accounts", o.Members, len(s.listAccounts()))
	}
}

func (s *fixture) getAccount(id string) connection.Account {
	s.Helper()
	return apitest.Data[connection.Account](s.Call(alice, "GET /cloud-accounts/"+id, nil))
}

// A member of two connected organizations is an account of the first one until that releases it. An account whose
// organization is no longer connected is taken over.
func TestDuplicates_OfAnotherOrganizationAreTakenOverWhenItLetsGo(t *testing.T) {
	s := newFixture(t)
	first := s.connectOrganisation()
	second := s.connectOrganisation(cloudSettings(settings{"organisation": "o-second"}), fields{"name": "Second"})
	if m := s.listMembers(second.ID, "&status=duplicate"); len(m) != 12 ||
		!strings.Contains(*m[0].Error, "it is connected through "+first.ID) {
		t.Fatalf("%+v", m)
	}
	s.updateOrganisation(first.ID, fields{"exclude": fields{"ids": []string{"200000000003"}}})
	s.synchronize(first.ID)
	if second = s.synchronize(second.ID); second.Members["connected"] != 1 || second.Members["duplicate"] != 11 ||
		len(s.livingAccounts()) != 12 {
		t.Errorf("after one was left out in the first: %v, %v live", second.Members, s.livingAccounts())
	}
	s.synchronize(first.ID)
	if len(s.livingAccounts()) != 12 {
		t.Errorf("the first ends what is the second's: %v live", s.livingAccounts())
	}
	apitest.Data[cloudorganisations.DeletedCloudOrganisation](s.Call(alice, "DELETE /cloud-organisations/"+first.ID,
		nil))
	if second = s.synchronize(second.ID); second.Members["connected"] != 12 || len(s.listAccounts()) != 12 {
		t.Errorf("after the first was deleted: %v, %d accounts", second.Members, len(s.listAccounts()))
	}
	for _, a := range s.listAccounts() {
		if *a.OrganisationID != second.ID || a.Status != "connected" {
			t.Errorf("%+v", a)
		}
	}
}
