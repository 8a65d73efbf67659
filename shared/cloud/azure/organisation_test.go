package azure_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const (
	refusing = "20000000-0000-0000-0000-000000000000"
	overdue  = "20000000-0000-0000-0000-000000000001"
	disabled = "20000000-0000-0000-0000-000000000002"
	deleted  = "20000000-0000-0000-0000-000000000003"
)

// organisationTwin is a management group acme of acme/prod/web and acme/dev, with pages of two.
func organisationTwin() *azuretwin.Cloud {
	tw := &azuretwin.Cloud{Page: 2}
	tw.AddGroups(azuretwin.Group{ID: "acme", Name: "Acme"},
		azuretwin.Group{ID: "prod", Name: "Production", Parent: "acme"},
		azuretwin.Group{ID: "web", Name: "Web shop", Parent: "prod"},
		azuretwin.Group{ID: "dev", Name: "Dev", Parent: "acme"},
		azuretwin.Group{ID: "other", Name: "Not ours"})
	tw.AddMembers(azuretwin.Member{ID: azuretwin.Subscription, Name: "Main", Group: "acme"},
		azuretwin.Member{ID: refusing, Name: "Vault", Group: "prod", Refuses: true},
		azuretwin.Member{ID: overdue, Name: "Late", Group: "dev", State: "PastDue"},
		azuretwin.Member{ID: disabled, Name: "Asleep", Group: "dev", State: "Disabled"},
		azuretwin.Member{ID: deleted, Name: "Gone", Group: "dev", State: "Deleted"},
		azuretwin.Member{ID: strings.Replace(deleted, "2", "9", 1), Name: "Theirs", Group: "other"})
	for i := range 5 {
		tw.AddMembers(azuretwin.Member{
			ID:   fmt.Sprintf("A0000000-0000-0000-0000-00000000000%d", i),
			Name: fmt.Sprint("Web ", i), Group: "web", Tags: map[string]string{"env": "prod"},
		})
	}
	return tw
}

// ofGroup is a connection to a whole management group.
func ofGroup(group string) cloud.Account {
	a := principal(azuretwin.Secret)
	a.NativeID, a.Organisation = "", group
	return a
}

func TestOrganisation_ListsEverySubscriptionWithItsGroups(t *testing.T) {
	tw := organisationTwin()
	need := azure.ListRequiredActions()
	tw.SetRoles(azuretwin.Role{Actions: slices.Concat(need.Discover, need.Organisation)})
	c := open(t, tw, ofGroup("acme")).(cloud.Organisations)
	if got, err := c.Organisation(t.Context()); got != "acme" || err != nil {
		t.Errorf("Organisation = %q, %v", got, err)
	}
	tw.ThrottleCalls(2)
	got, err := c.Members(t.Context(), true)
	if err != nil || len(got) != 10 {
		t.Fatalf("%d members, %v; want all 10, of all pages and groups", len(got), err)
	}
	for _, m := range got {
		web := strings.HasPrefix(m.NativeID, "a")
		switch {
		case m.AuthMethod != "" || m.Credentials != nil:
			t.Errorf("%s is opened by %q; want the credentials of the connection", m.Name, m.AuthMethod)
		case m.Closed != (m.NativeID == disabled || m.NativeID == deleted):
			t.Errorf("%s: closed is %t", m.Name, m.Closed)
		case web && (m.Tags["env"] != "prod" || !slices.Equal(
			m.Units, []cloud.Unit{
				{ID: "web", Name: "Web shop"},
				{ID: "prod", Name: "Production"},
				{ID: "acme", Name: "Acme"},
			})):
			t.Errorf("%+v", m)
		case m.NativeID == refusing && (m.Name != "Vault" || m.Units[0].ID != "prod"):
			t.Errorf("one that the application does not see is %+v", m)
		}
	}
	called := map[string]bool{}
	for _, call := range tw.Calls("") {
		called[call.Op] = true
	}
	for _, op := range need.Organisation {
		if !called[op] {
			t.Errorf("%s is needed, and was not called", op)
		}
	}
}

func TestOrganisation_ManyPagesAreAllRead(t *testing.T) {
	const many = 1100
	tw := &azuretwin.Cloud{Page: 10}
	tw.AddGroups(azuretwin.Group{ID: "acme", Name: "Acme"})
	for i := range many {
		tw.AddMembers(azuretwin.Member{
			ID: fmt.Sprintf("20000000-0000-0000-0000-%012d", i), Name: "Many",
			Group: "acme",
		})
	}
	got, err := open(t, tw, ofGroup("acme")).(cloud.Organisations).Members(t.Context(), false)
	if err != nil || len(got) != many {
		t.Errorf("%d members, %v; want %d", len(got), err, many)
	}
}

func TestOrganisation_AMemberIsOpenedOrSaysWhyNot(t *testing.T) {
	tw := organisationTwin()
	ask := func(id string) (string, error) {
		a := principal(azuretwin.Secret)
		a.NativeID = id
		return open(t, tw, a).Identify(t.Context())
	}
	if got, err := ask(overdue); got != overdue || err != nil {
		t.Errorf("Identify = %q, %v", got, err)
	}
	_, err := ask(refusing)
	wantClass(t, "Identify of one that refuses", err, cloud.Denied)
	if err == nil || !strings.Contains(err.Error(), "does not have authorization to perform action "+
		"'Microsoft.Resources/subscriptions/read'") {
		t.Errorf("%v does not say why in Azure's words", err)
	}
}

func TestOrganisation_FailuresAreAzures(t *testing.T) {
	tests := map[string]struct {
		group string
		fails string
		class cloud.Class
		says  string
	}{
		"a group that is not there": {"nothing", "", cloud.Denied, "AuthorizationFailed"},
		"a group that cannot be one": {
			"a/../b", "", cloud.Invalid,
			`"a/../b" is not the id of a management group`,
		},
		"none": {"", "", cloud.Invalid, `"" is not the id of a management group`},
		"a group whose members are not listed": {
			"acme", "Microsoft.Management/managementGroups/descendants/read",
			cloud.Denied, "descendants/read",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tw := organisationTwin()
			tw.SetRoles(azuretwin.Role{Actions: []string{"*"}, NotActions: []string{tt.fails}})
			c := open(t, tw, ofGroup(tt.group)).(cloud.Organisations)
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

func TestOrganisation_FederationOpensItForOneOfOurs(t *testing.T) {
	tw := organisationTwin()
	tw.Assertion = "signed for api://AzureADTokenExchange/org_1"
	o := options(tw)
	o.Identity = identity{}
	a := federated()
	a.NativeID, a.Organisation = "", "acme"
	c, err := azure.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.(cloud.Organisations).Organisation(t.Context()); got != "acme" || err != nil {
		t.Errorf("Organisation = %q, %v", got, err)
	}
	if all, err := c.(cloud.Organisations).Members(t.Context(), false); len(all) != 10 || err != nil {
		t.Errorf("%d members, %v", len(all), err)
	}
}

// An application that accepts any token of this installation would open the group to everyone who names it.
func TestOrganisation_AnApplicationThatTakesAnyTokenIsRefused(t *testing.T) {
	o := options(&azuretwin.Cloud{Assertion: "signed for api://AzureADTokenExchange"})
	o.Identity = identity{}
	a := federated()
	a.NativeID, a.Organisation = "", "acme"
	c, err := azure.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.(cloud.Organisations).Organisation(t.Context())
	wantClass(t, "Organisation by an unsafe application", err, cloud.Refused)
}
