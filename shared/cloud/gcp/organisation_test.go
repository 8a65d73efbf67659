package gcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// organisationTwin is an organization with the folders Production, in it Web shop, and Dev, with pages of two.
func organisationTwin() *gcptwin.Cloud {
	tw := &gcptwin.Cloud{Page: 2}
	tw.AddUnits(gcptwin.Unit{Name: "organizations/1", Title: "acme.example"},
		gcptwin.Unit{Name: "folders/2", Title: "Production", Parent: "organizations/1"},
		gcptwin.Unit{Name: "folders/3", Title: "Web shop", Parent: "folders/2"},
		gcptwin.Unit{Name: "folders/4", Title: "Dev", Parent: "organizations/1"},
		gcptwin.Unit{Name: "folders/5", Title: "Empty", Parent: "organizations/1"},
		gcptwin.Unit{Name: "organizations/9", Title: "theirs.example"})
	tw.AddMembers(gcptwin.Member{ID: gcptwin.Project, Title: "Acme", Parent: "organizations/1"},
		gcptwin.Member{ID: "vault-1234", Title: "Vault", Parent: "folders/2", Refuses: true},
		gcptwin.Member{ID: "gone-1234", Title: "Gone", Parent: "folders/4", State: "DELETE_REQUESTED"},
		gcptwin.Member{ID: "theirs-1234", Title: "Theirs", Parent: "organizations/9"})
	for i := range 5 {
		tw.AddMembers(gcptwin.Member{
			ID: fmt.Sprint("web-shop-", i), Title: fmt.Sprint("Web ", i), Parent: "folders/3",
			Labels: map[string]string{"env": "prod"},
		})
	}
	return tw
}

// ofParent is a connection to a whole organization, or to a folder.
func ofParent(name string) cloud.Account {
	a := keyAccount(gcptwin.KeyFile())
	a.Organisation = name
	return a
}

func TestAnOrganizationListsEveryProjectWithItsFolders(t *testing.T) {
	tw := organisationTwin()
	c := open(t, tw, ofParent("organizations/1")).(cloud.Organisations)
	if got, err := c.Organisation(t.Context()); got != "organizations/1" || err != nil {
		t.Errorf("Organisation = %q, %v", got, err)
	}
	tw.ThrottleCalls(2)
	got, err := c.Members(t.Context(), true)
	if err != nil || len(got) != 8 {
		t.Fatalf("%d members, %v; want all 8, of all pages and folders", len(got), err)
	}
	for _, m := range got {
		switch {
		case m.AuthMethod != "" || m.Credentials != nil:
			t.Errorf("%s is opened by %q; want the credentials of the connection", m.Name, m.AuthMethod)
		case m.Closed != (m.NativeID == "gone-1234"):
			t.Errorf("%s: closed is %t", m.Name, m.Closed)
		case strings.HasPrefix(m.NativeID, "web") && (m.Tags["env"] != "prod" || !slices.Equal(m.Units, []cloud.Unit{
			{ID: "folders/3", Name: "Web shop"},
			{ID: "folders/2", Name: "Production"},
			{ID: "organizations/1", Name: "acme.example"},
		})):
			t.Errorf("%+v", m)
		}
	}
	in, err := open(t, tw, ofParent("folders/2")).(cloud.Organisations).Members(t.Context(), false)
	if err != nil || len(in) != 6 || in[0].NativeID != "vault-1234" {
		t.Errorf("of a folder: %+v, %v; want the 6 in it, and in the folder in it", in, err)
	}
	_, err = open(t, tw, ofParent("folders/2")).(cloud.Organisations).Organisation(t.Context())
	wantCalled(t, tw, err)
}

// wantCalled compares the permissions that customers are told to grant with the calls that were made.
func wantCalled(t *testing.T, tw *gcptwin.Cloud, err error) {
	t.Helper()
	need, called := gcp.ListRequiredPermissions(), map[string]bool{}
	for _, call := range tw.Calls("") {
		called[call.Op] = true
	}
	for _, op := range need.Organisation {
		if !called[op] {
			t.Errorf("%s is needed, and was not called (%v)", op, err)
		}
		delete(called, op)
	}
	for op := range called {
		if strings.HasPrefix(op, "resourcemanager.") && !slices.Contains(need.Discover, op) {
			t.Errorf("%s is called, and not needed", op)
		}
	}
}

func TestAProjectOfAnOrganizationIsOpenedOrSaysWhyNot(t *testing.T) {
	tw := organisationTwin()
	ask := func(id string) (cloud.Conn, string, error) {
		a := keyAccount(gcptwin.KeyFile())
		a.NativeID = id
		c := open(t, tw, a)
		got, err := c.Identify(t.Context())
		return c, got, err
	}
	c, got, err := ask("web-shop-1")
	if got != "web-shop-1" || err != nil {
		t.Errorf("Identify = %q, %v", got, err)
	}
	for _, k := range gcp.New(options(tw)).Kinds() {
		if page, err := c.List(t.Context(), k.Type, region, ""); err != nil || len(page.Resources) > 0 {
			t.Errorf("%s in a project without any: %d, %v", k.Type, len(page.Resources), err)
		}
	}
	_, _, err = ask("vault-1234")
	wantClass(t, "Identify of one that refuses", err, cloud.Denied)
	if err == nil || !strings.Contains(err.Error(), "The caller does not have permission") {
		t.Errorf("%v does not say why in Google's words", err)
	}
}

func TestFailuresOfOrganizationsAreGoogles(t *testing.T) {
	tests := map[string]struct {
		name, fails string
		class       cloud.Class
		says        string
	}{
		"an organization that is not there": {
			"organizations/7", "", cloud.Denied,
			"The caller does not have permission",
		},
		"a folder that is not there": {"folders/7", "", cloud.Denied, "resourcemanager.folders.get"},
		"a project": {
			"projects/acme-prod", "", cloud.Invalid,
			`"projects/acme-prod" is neither`,
		},
		"none": {"", "", cloud.Invalid, `"" is neither`},
		"projects that are not listed": {
			"organizations/1", "resourcemanager.projects.list", cloud.Denied,
			"is missing",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tw := organisationTwin()
			tw.AddFault(gcptwin.Fault{
				Op: tt.fails, Reason: "PERMISSION_DENIED",
				Message: "Required permission is missing",
				Status:  403, Times: -1,
			})
			c := open(t, tw, ofParent(tt.name)).(cloud.Organisations)
			for what, ask := range map[string]func(context.Context) error{
				"Organisation": func(ctx context.Context) error { _, err := c.Organisation(ctx); return err },
				"Members":      func(ctx context.Context) error { _, err := c.Members(ctx, false); return err },
			} {
				err := ask(t.Context())
				wantClass(t, what, err, tt.class)
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s = %v; want it to say %q", what, err, tt.says)
				}
			}
		})
	}
}

func TestAnOrganizationWithoutEndIsRefused(t *testing.T) {
	tw := &gcptwin.Cloud{}
	tw.AddUnits(gcptwin.Unit{Name: "organizations/1", Title: "acme.example"})
	for i := range cloud.MaxMembers + 1 {
		tw.AddMembers(gcptwin.Member{ID: fmt.Sprint("project-", i), Parent: "organizations/1"})
	}
	_, err := open(t, tw, ofParent("organizations/1")).(cloud.Organisations).Members(t.Context(), false)
	wantClass(t, "Members of one with too many", err, cloud.Unsupported)
}

func TestFederationOpensAnOrganizationForOneOfOurs(t *testing.T) {
	tw := organisationTwin()
	tw.AddWorkloadPool(workloadProvider, gcp.Audience("org_1"), gcptwin.Email)
	a := federated()
	a.Organisation = "organizations/1"
	c := open(t, tw, a).(cloud.Organisations)
	if got, err := c.Organisation(t.Context()); got != "organizations/1" || err != nil {
		t.Errorf("Organisation = %q, %v", got, err)
	}
	if all, err := c.Members(t.Context(), false); len(all) != 8 || err != nil {
		t.Errorf("%d members, %v", len(all), err)
	}
}

// The name of a customer's provider alone must not open a whole organization through this service.
func TestAnOrganizationWhoseProviderTakesAnyAudienceIsRefused(t *testing.T) {
	tw := organisationTwin()
	tw.AddWorkloadPool(workloadProvider, "", gcptwin.Email)
	a := federated()
	a.Organisation = "organizations/1"
	_, err := open(t, tw, a).(cloud.Organisations).Organisation(t.Context())
	wantClass(t, "Organisation", err, cloud.Refused)
}
