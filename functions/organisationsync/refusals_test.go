package organisationsync_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestConnect_RefusesWhatCannotBe(t *testing.T) {
	s := newFixture(t)
	for name, tt := range map[string]struct {
		change fields
		says   string
	}{
		"a provider that is none": {fields{"provider": "acme"}, "acme"},
		"a provider without organizations here": {
			fields{"provider": "kubernetes"},
			"provider: kubernetes knows no organizations",
		},
		"credentials that are refused": {
			cloudSettings(settings{"refuse": "true"}),
			"The security token included in the request is invalid.",
		},
		"an account of no organization": {
			cloudSettings(settings{"organisation": ""}),
			"not a member of an organization",
		},
		"a management group that is not told": {
			fields{"provider": "azure"},
			"organisationID: is required for provider azure: the id of a management group",
		},
		"a management group that cannot be one": {
			fields{"provider": "azure", "organisationID": "a/b"},
			`organisationID: \"a/b\" is not the id of an organization of azure`,
		},
		"a project in place of an organization": {
			fields{"provider": "gcp", "organisationID": "projects/1"},
			`organisationID: \"projects/1\" is not the id of an organization of gcp: organizations/ or folders/`,
		},
		"another organization": {
			fields{"organisationID": "o-other"},
			"they list organization o-demo, not o-other",
		},
		"a selection of nothing": {fields{"include": fields{"tags": []string{"=x"}}}, "include.tags"},
		"no name":                {fields{"name": " "}, "name"},
		"a level that is none":   {fields{"permissionLevel": "root"}, "permissionLevel"},
		"a role that cannot be one": {fields{
			"provider": "aws", "authMethod": "static_keys",
			"memberRole": "a b", "credentials": settings{"accessKeyID": "a", "secretAccessKey": "b"},
		}, "memberRole"},
		"a provider that this process has not": {fields{
			"provider": "aws", "authMethod": "static_keys",
			"credentials": settings{"accessKeyID": "a", "secretAccessKey": "b"},
		}, "available: simulated"},
		"more than a selection can have": {
			fields{"exclude": fields{"ids": slices.Repeat([]string{"1"}, 501)}},
			"exclude",
		},
		"a region that is longer than one is":     {fields{"regions": []string{strings.Repeat("x", 65)}}, "regions"},
		"an endpoint that leads into our network": {fields{"endpointURL": "http://169.254.169.254"}, "endpointURL"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Call(alice, "POST /cloud-organisations", organisationBody(tt.change))
			if got.Status != 400 || !strings.Contains(got.Body, tt.says) {
				t.Errorf("%d %s; want 400 with %q", got.Status, got.Body, tt.says)
			}
		})
	}
	if all := apitest.Data[rest.List[cloudorganisations.CloudOrganisation]](s.Call(alice, "GET /cloud-organisations",
		nil)); all.Total != 0 {
		t.Errorf("%d are stored", all.Total)
	}
	s.connectOrganisation()
	if got := s.Call(alice, "POST /cloud-organisations", organisationBody()); got.Status != 409 ||
		!strings.Contains(got.Body, "o-demo") {
		t.Errorf("the same again: %d %s", got.Status, got.Body)
	}
}

func TestDelete_SaysThatItsMembersStay(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation(cloudSettings(settings{"refusingMembers": "2"}))
	got := apitest.Data[cloudorganisations.DeletedCloudOrganisation](s.Call(alice, "DELETE /cloud-organisations/"+o.ID,
		nil))
	if got.ID != o.ID || got.KeptAccounts != 10 {
		t.Errorf("%+v", got)
	}
	s.Call(alice, "GET /cloud-organisations/"+o.ID, nil).Want(404)
	s.Call(alice, "POST /cloud-organisations/"+o.ID+"/sync", nil).Want(404)
	all := s.listAccounts()
	if len(all) != 10 || all[0].Status != "connected" {
		t.Errorf("%d accounts", len(all))
	}
	for _, a := range all {
		if a.OrganisationID != nil {
			t.Errorf("%s still names %s, which is gone", a.ID, *a.OrganisationID)
		}
	}
	if _, err := s.Table.Get(s.Anywhere(), connection.OrganisationDueKey(o.ID)); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is still due: %v", err)
	}
	// it can be connected anew, with the accounts that there are
	if again := s.connectOrganisation(); again.Members["connected"] != 12 {
		t.Errorf("%+v", again)
	}
}

func TestOrganisations_AreOfTheirOrganizationAndForThoseWhoMay(t *testing.T) {
	s := newFixture(t)
	o := s.connectOrganisation()
	s.Call(bob, "PUT /cloud-organisations/"+o.ID, fields{"name": "Mine"}).Want(404)
	s.Call(viewer, "PUT /cloud-organisations/"+o.ID, fields{"name": "Mine"}).Want(403)
	for _, path := range []string{
		"GET /cloud-organisations/%s", "GET /cloud-organisations/%s/members",
		"DELETE /cloud-organisations/%s", "POST /cloud-organisations/%s/sync",
	} {
		s.Call(bob, fmt.Sprintf(path, o.ID), nil).Want(404)
		s.Call(alice, fmt.Sprintf(path, "corg_nothing"), nil).Want(404)
	}
	s.Call(viewer, "GET /cloud-organisations", nil).Want(200)
	s.Call(viewer, "POST /cloud-organisations", organisationBody()).Want(403)
	s.Call(viewer, "POST /cloud-organisations/"+o.ID+"/sync", nil).Want(403)
	s.Call(viewer, "DELETE /cloud-organisations/"+o.ID, nil).Want(403)
}
