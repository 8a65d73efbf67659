package organisationsync_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/organisationsync"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// whole is an organization of a cloud. root/prod/web has two members with the tag env=prod. root/prod has one that
// refuses. root/dev has one where the credentials may read nothing, and a closed one. The root has the
// organization's own account with resources.
type whole struct {
	body                        fields // connects it
	main, refuses, lacks, close string
	web                         []string
	prod, webUnit               string // ids of units
	root                        string // the name of the root
	says                        string // the cloud's words for a refusal
	add                         func(id string)
	change                      func(id string, closed bool)
}

func subscriptionID(n int) string { return fmt.Sprintf("20000000-0000-0000-0000-%012d", n) }

func azureOrganisation(t *testing.T) (*fixture, whole) {
	t.Helper()
	tw := &azuretwin.Cloud{Page: 2}
	tw.Fill("westeurope")
	tw.AddGroups(azuretwin.Group{ID: "acme", Name: "Acme"},
		azuretwin.Group{ID: "prod", Name: "Production", Parent: "acme"},
		azuretwin.Group{ID: "web", Name: "Web", Parent: "prod"},
		azuretwin.Group{ID: "dev", Name: "Dev", Parent: "acme"})
	tags := map[string]string{"env": "prod"}
	tw.AddMembers(azuretwin.Member{ID: azuretwin.Subscription, Name: "Main", Group: "acme"},
		azuretwin.Member{ID: subscriptionID(1), Name: "Vault", Group: "prod", Refuses: true},
		azuretwin.Member{ID: subscriptionID(2), Name: "Shop", Group: "web", Tags: tags},
		azuretwin.Member{ID: subscriptionID(3), Name: "Shop", Group: "web", Tags: tags},
		azuretwin.Member{ID: subscriptionID(4), Name: "Nothing", Group: "dev", Lacks: true},
		azuretwin.Member{ID: subscriptionID(5), Name: "Closed", Group: "dev", State: "Disabled"})
	s := newFixture(t,
		azure.New(azure.Options{
			Clock: clock.System{}, Transport: tw, Backoff: time.Millisecond,
			MaxBackoff: time.Millisecond, Limits: map[string]azure.Limit{"": {}},
		}))
	return s, whole{
		body: fields{
			"provider": "azure", "organisationID": "ACME", "name": "Acme", "authMethod": "service_principal",
			"permissionLevel": "read_write",
			"credentials": settings{
				"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
				"clientSecret": azuretwin.Secret,
			},
		},
		main: azuretwin.Subscription, refuses: subscriptionID(1), web: []string{subscriptionID(2), subscriptionID(3)},
		lacks: subscriptionID(4), close: subscriptionID(5),
		prod: "prod", webUnit: "web", root: "Acme", says: "does not have authorization to perform action",
		add: func(id string) { tw.AddMembers(azuretwin.Member{ID: id, Name: "New", Group: "web"}) },
		change: func(id string, closed bool) {
			tw.ChangeMember(id, func(m *azuretwin.Member) { m.State = map[bool]string{true: "Disabled"}[closed] })
		},
	}
}

func googleOrganisation(t *testing.T) (*fixture, whole) {
	t.Helper()
	tw := &gcptwin.Cloud{Page: 2}
	tw.Fill()
	tw.AddUnits(gcptwin.Unit{Name: "organizations/1", Title: "acme.example"},
		gcptwin.Unit{Name: "folders/2", Title: "Production", Parent: "organizations/1"},
		gcptwin.Unit{Name: "folders/3", Title: "Web", Parent: "folders/2"},
		gcptwin.Unit{Name: "folders/4", Title: "Dev", Parent: "organizations/1"})
	labels := map[string]string{"env": "prod"}
	tw.AddMembers(gcptwin.Member{ID: gcptwin.Project, Title: "Main", Parent: "organizations/1"},
		gcptwin.Member{ID: "vault-1", Title: "Vault", Parent: "folders/2", Refuses: true},
		gcptwin.Member{ID: "shop-a1", Title: "Shop", Parent: "folders/3", Labels: labels},
		gcptwin.Member{ID: "shop-b2", Title: "Shop", Parent: "folders/3", Labels: labels},
		gcptwin.Member{ID: "nothing-1", Title: "Nothing", Parent: "folders/4", Lacks: true},
		gcptwin.Member{ID: "closed-1", Title: "Closed", Parent: "folders/4", State: "DELETE_REQUESTED"})
	s := newFixture(t,
		gcp.New(gcp.Options{
			Clock: clock.System{}, Transport: tw, MaxBackoff: time.Millisecond,
			Limits: map[string]gcp.Limit{"": {}},
		}))
	key := map[string]string{}
	s.Must(json.Unmarshal([]byte(gcptwin.KeyFile()), &key))
	key["token_uri"] = "https://oauth2.googleapis.com/token"
	return s, whole{
		body: fields{
			"provider": "gcp", "organisationID": "organizations/1", "name": "Acme", "authMethod": "service_account",
			"permissionLevel": "read_write",
			"credentials":     key,
		},
		main: gcptwin.Project, refuses: "vault-1", web: []string{"shop-a1", "shop-b2"}, lacks: "nothing-1",
		close: "closed-1",
		prod:  "folders/2", webUnit: "folders/3", root: "acme.example", says: "The caller does not have permission",
		add: func(id string) { tw.AddMembers(gcptwin.Member{ID: id, Title: "New", Parent: "folders/3"}) },
		change: func(id string, closed bool) {
			tw.ChangeMember(id, func(m *gcptwin.Member) { m.State = map[bool]string{true: "DELETE_REQUESTED"}[closed] })
		},
	}
}

var clouds = map[string]func(*testing.T) (*fixture, whole){"azure": azureOrganisation, "gcp": googleOrganisation}

// inEachCloud runs a test over the organization of each cloud that one set of credentials opens.
func inEachCloud(t *testing.T, test func(t *testing.T, s *fixture, w whole)) {
	t.Helper()
	for name, open := range clouds {
		t.Run(name, func(t *testing.T) {
			s, w := open(t)
			test(t, s, w)
		})
	}
}

// connectWhole connects the organization.
func (s *fixture) connectWhole(w whole) string {
	s.Helper()
	got := s.Call(alice, "POST /cloud-organisations", w.body)
	if got.Status != http.StatusOK {
		s.Fatalf("%d %s", got.Status, got.Body)
	}
	s.waitIdle()
	var out struct{ Data struct{ ID string } }
	s.Must(json.Unmarshal([]byte(got.Body), &out))
	return out.Data.ID
}

// asSettings tells of members by their native ids.
func (s *fixture) asSettings(id string) map[string]string {
	s.Helper()
	out := map[string]string{}
	for _, m := range s.listMembers(id, "") {
		out[m.NativeID] = m.Status
	}
	return out
}

func TestClouds_OneSetOfCredentialsConnectsEveryMemberThatLetsItIn(t *testing.T) {
	inEachCloud(t, func(t *testing.T, s *fixture, w whole) {
		t.Helper()
		o := s.getOrganisation(s.connectWhole(w))
		if o.Status != "connected" || o.Members["connected"] != 3 || o.Members["refused"] != 2 ||
			o.Members["closed"] != 1 || o.MemberRole != nil {
			t.Fatalf("%+v", o)
		}
		for _, m := range s.listMembers(o.ID, "") {
			switch m.NativeID {
			case w.refuses:
				if m.Status != "refused" || m.Error == nil || !strings.Contains(*m.Error, w.says) {
					t.Errorf("%+v; want the cloud's words", m)
				}
			case w.lacks:
				if m.Status != "refused" || m.Error == nil || !strings.Contains(*m.Error, "may read nothing in it") {
					t.Errorf("%+v; want what the probe says", m)
				}
			case w.web[0]:
				if m.Unit != w.root+"/Production/Web" {
					t.Errorf("%+v", m)
				}
			}
		}
		for _, a := range s.listAccounts() {
			if a.Status != "connected" || *a.OrganisationID != o.ID ||
				(a.ResourceCount > 0) != (a.CloudAccountID == w.main) {
				t.Errorf("%+v", a)
			}
		}
	})
}

func TestClouds_SelectByIDUnitAndTag(t *testing.T) {
	inEachCloud(t, func(t *testing.T, s *fixture, w whole) {
		t.Helper()
		id := s.connectWhole(w)
		for name, tt := range map[string]struct {
			change fields
			want   []string
		}{
			"a unit, and the unit in it": {
				fields{"include": fields{"units": []string{w.prod}}, "exclude": nil},
				w.web,
			},
			"a unit by its name": {
				fields{"include": fields{"units": []string{"Web"}}, "exclude": nil},
				w.web,
			},
			"a unit, without the one in it": {fields{
				"include": fields{"units": []string{w.prod}},
				"exclude": fields{"units": []string{w.webUnit}},
			}, nil},
			"a tag": {fields{
				"include": fields{"tags": []string{"env=prod"}},
				"exclude": nil,
			}, w.web},
			"all, without an id and without a": {fields{
				"include": nil,
				"exclude": fields{"ids": []string{strings.ToUpper(w.main)}, "tags": []string{"env"}},
			}, nil},
			"an id": {
				fields{"include": fields{"ids": []string{w.web[1]}}, "exclude": nil},
				w.web[1:],
			},
		} {
			s.updateOrganisation(id, tt.change)
			s.synchronize(id)
			if got := s.livingAccounts(); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v live; want %v", name, got, tt.want)
			}
		}
	})
}

// The hourly schedule finds new members, closed members, and members that are open again.
func TestClouds_EachHourFindsWhatIsNewAndWhatIsClosed(t *testing.T) {
	if organisationsync.Declaration.Schedule != "rate(1 hour)" {
		t.Errorf("members are looked for at %s", organisationsync.Declaration.Schedule)
	}
	inEachCloud(t, func(t *testing.T, s *fixture, w whole) {
		t.Helper()
		id := s.connectWhole(w)
		hour := func() {
			t.Helper()
			if _, err := s.sync(s.Context(), json.RawMessage(`{"source":"aws.scheduler"}`)); err != nil {
				t.Fatal(err)
			}
			s.waitIdle()
		}
		added := strings.Replace(w.web[0], "2", "7", 1) // 70000000-…, or one of another name
		if added == w.web[0] {
			added = "added-1"
		}
		w.add(added)
		w.change(w.web[0], true)
		hour()
		if got := s.asSettings(id); got[added] != "connected" || got[w.web[0]] != "closed" ||
			got[w.web[1]] != "connected" {
			t.Errorf("%v", got)
		}
		if got := s.livingAccounts(); !slices.Contains(got, w.web[0]) || !slices.Contains(got, added) {
			t.Errorf("%v live; want the closed one too, until a listing of the next day agrees", got)
		}
		s.nextDay(id)
		s.confirm(id)
		if got := s.livingAccounts(); slices.Contains(got, w.web[0]) || !slices.Contains(got, added) {
			t.Errorf("%v live", got)
		}
		w.change(w.web[0], false)
		hour()
		if got := s.asSettings(id); got[w.web[0]] != "connected" || !slices.Contains(s.livingAccounts(), w.web[0]) {
			t.Errorf("when it is open again: %v", got)
		}
	})
}

func TestClouds_CredentialsAreVerifiedBeforeAnythingIsStored(t *testing.T) {
	inEachCloud(t, func(t *testing.T, s *fixture, w whole) {
		t.Helper()
		secret := map[string]fields{
			"azure": {"credentials": settings{
				"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
				"clientSecret": "wrong",
			}},
			"gcp": {"credentials": settings{"serviceAccountKey": gcptwin.StrangersKeyFile()}},
		}[w.body["provider"].(string)]
		nowhere := map[string]string{"azure": "elsewhere", "gcp": "folders/99"}[w.body["provider"].(string)]
		for name, tt := range map[string]struct {
			change fields
			says   []string
		}{
			"a secret that is refused": {secret, []string{"Invalid client secret", "not Google's"}},
			"an organization that they do not see": {
				fields{"organisationID": nowhere},
				[]string{"the cloud refused the credentials: ", w.says},
			},
			"a method of one account": {fields{"authMethod": "oauth"}, []string{"authMethod"}},
			"no credentials": {
				fields{"credentials": nil},
				[]string{"credentials.tenantID", "credentials.serviceAccountKey"},
			},
		} {
			all := maps.Clone(w.body)
			maps.Copy(all, tt.change)
			got := s.Call(alice, "POST /cloud-organisations", all)
			if got.Status != 400 || !slices.ContainsFunc(tt.says, func(w string) bool {
				return strings.Contains(got.Body, w)
			}) {
				t.Errorf("%s: %d %s; want one of %q", name, got.Status, got.Body, tt.says)
			}
		}
		if got := s.Call(alice, "GET /cloud-organisations", nil); !strings.Contains(got.Body, `"total":0`) {
			t.Errorf("something is stored: %s", got.Body)
		}
	})
}

// A member that somebody connected by hand is listed as that, and outlives the organization with all the others.
func TestClouds_AnAccountOfBeforeIsADuplicateAndNoneIsDeletedWithTheOrganization(t *testing.T) {
	inEachCloud(t, func(t *testing.T, s *fixture, w whole) {
		t.Helper()
		s.Call(alice, "POST /cloud-accounts", fields{
			"provider": w.body["provider"], "cloudAccountID": w.main, "name": "By hand",
			"authMethod": w.body["authMethod"], "permissionLevel": "read_only",
			"credentials": w.body["credentials"],
		}).Want(200)
		s.waitIdle()
		id := s.connectWhole(w)
		if got := s.asSettings(id); got[w.main] != "duplicate" || len(s.listAccounts()) != 3 {
			t.Errorf("%v, %d accounts", got, len(s.listAccounts()))
		}
		s.Call(alice, "DELETE /cloud-organisations/"+id, nil).Want(200)
		if got := s.livingAccounts(); len(got) != 3 || !slices.Contains(got, w.main) {
			t.Errorf("%v live after the organization", got)
		}
	})
}
