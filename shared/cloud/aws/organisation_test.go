package aws_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// organisationTwin is an organization of Root/Prod/Web and Root/Dev, the management account in the root.
func organisationTwin() *awstwin.Cloud {
	tw := &awstwin.Cloud{Page: 2}
	tw.AddUnits(awstwin.Unit{ID: "r-1", Name: "Root"}, awstwin.Unit{ID: "ou-1-prod", Name: "Prod", Parent: "r-1"},
		awstwin.Unit{ID: "ou-1-web", Name: "Web", Parent: "ou-1-prod"},
		awstwin.Unit{ID: "ou-1-dev", Name: "Dev", Parent: "r-1"},
		awstwin.Unit{ID: "ou-1-none", Name: "Empty", Parent: "r-1"})
	tw.AddMembers(awstwin.Member{ID: awstwin.Account, Name: "management", Unit: "r-1"},
		awstwin.Member{ID: "200000000001", Name: "gone", Unit: "r-1", Status: "SUSPENDED"})
	for i := range 5 {
		tw.AddMembers(awstwin.Member{
			ID: fmt.Sprintf("30000000000%d", i), Name: fmt.Sprint("web ", i), Unit: "ou-1-web",
			Tags: map[string]string{"env": "prod"},
		})
	}
	return tw
}

func organisationAccount() cloud.Account {
	a := keys(awstwin.AccessKey)
	a.Credentials["memberRole"], a.Credentials["externalID"] = "lamplighter", "ext_1"
	return a
}

func TestOrganisation_ListsEveryMemberWithItsUnits(t *testing.T) {
	tw := organisationTwin()
	c := open(t, tw, organisationAccount()).(cloud.Organisations)
	if got, err := c.Organisation(t.Context()); got != "o-twintwintw" || err != nil {
		t.Errorf("Organisation = %q, %v", got, err)
	}
	tw.ThrottleCalls(2)
	got, err := c.Members(t.Context(), true)
	if err != nil || len(got) != 7 {
		t.Fatalf("%d members, %v; want all 7, of all pages", len(got), err)
	}
	for _, m := range got {
		switch {
		case m.NativeID == awstwin.Account && (m.AuthMethod != "" || m.Credentials != nil):
			t.Errorf("the management account is opened by %+v; want the connection's own credentials", m)
		case m.NativeID == "200000000001" && !m.Closed:
			t.Errorf("a suspended account is %+v", m)
		case strings.HasPrefix(m.NativeID, "3") &&
			(m.Closed || m.Tags["env"] != "prod" || m.AuthMethod != "assume_role" ||
				m.Credentials["roleArn"] != "arn:aws:iam::"+m.NativeID+":role/lamplighter" ||
				m.Credentials["externalID"] != "ext_1" ||
				!slices.Equal(m.Units,
					[]cloud.Unit{
						{ID: "ou-1-web", Name: "Web"},
						{ID: "ou-1-prod", Name: "Prod"},
						{ID: "r-1", Name: "Root"},
					})):
			t.Errorf("%+v", m)
		}
	}
	called := map[string]bool{}
	for _, call := range tw.Calls("") {
		if strings.HasPrefix(call.Op, "organizations:") {
			called[call.Op] = true
		}
	}
	for _, op := range aws.ListRequiredActions().Organisation {
		if !called[op] {
			t.Errorf("%s is needed, and was not called", op)
		}
		delete(called, op)
	}
	if len(called) > 0 {
		t.Errorf("%v are called, and not needed", called)
	}
	tw.ForgetCalls()
	if got, err = c.Members(t.Context(), false); err != nil || got[0].Tags != nil ||
		len(tw.Calls("organizations:ListTagsForResource")) != 0 {
		t.Errorf("tags that nobody asked for: %+v, %v", got[0], err)
	}
}

// AWS removes the field Status of an account on 9 September 2026; the field State remains.
func TestOrganisation_AnAccountIsClosedByItsStateThenByItsStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		state, status string
		closed        bool
	}{
		"neither of them":                     {"", "", false},
		"active by its state alone":           {"ACTIVE", "", false},
		"active by both":                      {"ACTIVE", "ACTIVE", false},
		"active by its status alone":          {"", "ACTIVE", false},
		"suspended by its state alone":        {"SUSPENDED", "", true},
		"pending closure by its state alone":  {"PENDING_CLOSURE", "", true},
		"closed by its state alone":           {"CLOSED", "", true},
		"suspended by its status alone":       {"", "SUSPENDED", true},
		"pending closure by its status alone": {"", "PENDING_CLOSURE", true},
		"being activated":                     {"PENDING_ACTIVATION", "", false},
		"a state that is not known here":      {"HIBERNATED", "", false},
		"its state counts before its status":  {"ACTIVE", "SUSPENDED", false},
		"its state counts, closed, before it": {"CLOSED", "ACTIVE", true},
	} {
		t.Run(name, func(t *testing.T) {
			tw := &awstwin.Cloud{Page: 2}
			tw.AddUnits(awstwin.Unit{ID: "r-1", Name: "Root"})
			tw.AddMembers(awstwin.Member{
				ID: "200000000001", Name: "one", Unit: "r-1", State: tt.state,
				Status: tt.status,
			})
			got, err := open(t, tw, organisationAccount()).(cloud.Organisations).Members(t.Context(), false)
			if err != nil || len(got) != 1 || got[0].Closed != tt.closed {
				t.Errorf("%+v, %v; want closed %t", got, err, tt.closed)
			}
		})
	}
}

func TestOrganisation_FailuresAreAWSs(t *testing.T) {
	_, err := open(t, &awstwin.Cloud{}, organisationAccount()).(cloud.Organisations).Organisation(t.Context())
	wantClass(t, "Organisation of an account that belongs to none", err, cloud.Invalid)
	tw := organisationTwin()
	tw.AddFault(awstwin.Fault{
		Op: "organizations:ListAccountsForParent", Code: "AccessDeniedException",
		Message: "You don't have permissions to access this resource.", Status: 400, Times: -1,
	})
	got, err := open(t, tw, organisationAccount()).(cloud.Organisations).Members(t.Context(), false)
	wantClass(t, "Members that may not be listed", err, cloud.Denied)
	if got != nil || !strings.Contains(err.Error(), "organizations:ListAccountsForParent: AccessDeniedException") {
		t.Errorf("%d members, %v", len(got), err)
	}
}

// moto is an independent implementation of AWS Organizations, with its own pages, units, statuses and tags.
func TestMotoOrganisation_ListsEveryMemberWithItsUnits(t *testing.T) {
	url := moto(t)
	s, ctx := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}, t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	call := func(op string, in object) answer { return s.json("organizations", "AWSOrganizationsV20161128."+op, in) }
	made := call("CreateOrganization", object{"FeatureSet": "ALL"}).text(s, "Id")
	root := call("ListRoots", object{}).text(s, "Id")
	unit := call("CreateOrganizationalUnit", object{"ParentId": root, "Name": "Prod"}).text(s, "Id")
	for i := range 25 {
		account := call("CreateAccount", object{
			"AccountName": fmt.Sprint("team ", i),
			"Email":       fmt.Sprintf("team%d@example.com", i),
			"Tags":        []object{{"Key": "n", "Value": strconv.Itoa(i)}},
		}).text(s, "AccountId")
		if i%2 == 0 {
			call("MoveAccount",
				object{"AccountId": account, "SourceParentId": root, "DestinationParentId": unit})
		}
	}
	a := motoKeys(url)
	a.Credentials["memberRole"], a.Credentials["externalID"] = "lamplighter", "ext_1"
	conn, err := aws.New(motoOptions()).Connect(ctx, a)
	must(err)
	if got, err := conn.(cloud.Organisations).Organisation(ctx); got != made || err != nil {
		t.Errorf("Organisation = %q, %v; want %s", got, err, made)
	}
	got, err := conn.(cloud.Organisations).Members(ctx, true)
	must(err)
	prod, tagged := 0, 0
	for _, m := range got {
		if m.Units[0].Name == "Prod" && m.Units[1].ID == root {
			prod++
		}
		if m.Tags["n"] != "" {
			tagged++
		}
	}
	if len(got) != 26 || prod != 13 || tagged != 25 {
		t.Errorf("%d members, %d in Prod, %d with a tag; want 26, 13, 25", len(got), prod, tagged)
	}
}
