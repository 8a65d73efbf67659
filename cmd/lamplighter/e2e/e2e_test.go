// Package e2e tests the whole service as its users use it.
package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/testkit/tabletest"
)

// ways maps each way to use the service, from one end to the other, to its test. Each test starts a service of its
// own.
var ways = map[string]func(*testing.T, testenv.Setup){
	"a newcomer signs up and works":       newcomer,
	"a newcomer signs in at a provider":   welcomed,
	"somebody is invited, works, leaves":  joined,
	"a team operates what it owns":        teamed,
	"a cloud is connected and discovered": discovered,
	"a resource is stopped and started":   stopped,
	"a group is stopped in reverse order": grouped,
	"nobody sees what belongs to another": apart,
	"what is refused says why":            refused,
}

// TestEndToEnd runs all ways on the embedded store.
func TestEndToEnd(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way(t, testenv.Setup{})
		})
	}
}

// newcomer goes from the sign-up to the log-out, as a person with curl does.
func newcomer(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	const email = "ada@example.com"
	c := e.NewClient()
	person := map[string]string{"email": email, "password": testenv.Password, "name": "Ada"}
	c.Call(http.MethodPost, "/auth/signup", person, nil)
	c.CallRefused(http.StatusForbidden, http.MethodPost, "/auth/login", person)
	c.Call(http.MethodPatch, "/auth/otp/validate", map[string]string{"email": email, "otp": e.WaitForCode(email)}, nil)
	c.LogIn(email, "")
	var org struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/organisations", map[string]string{"name": "Engines"}, &org)
	c.LogIn(email, org.ID)
	var orgs []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	c.Call(http.MethodGet, "/organisations", nil, &orgs)
	if len(orgs) != 1 || orgs[0].ID != org.ID || orgs[0].Name != "Engines" {
		t.Errorf("organizations: %+v", orgs)
	}
	c.Call(http.MethodPost, "/auth/logout", map[string]string{}, nil)
	c.CallRefused(http.StatusUnauthorized, http.MethodGet, "/organisations", nil)
}

// discovered connects a cloud, and reads the same resources after a restart.
func discovered(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	c := e.NewOwner("grace@example.com")
	id := c.ConnectAccount("111122223333", testenv.FastCloud(200))
	e.Restart()
	c = c.Reconnect()
	var account struct {
		Status        string `json:"status"`
		ResourceCount int    `json:"resourceCount"`
	}
	c.Call(http.MethodGet, "/cloud-accounts/"+id, nil, &account)
	if account.Status != "connected" || account.ResourceCount != 200 {
		t.Errorf("after a restart: %+v", account)
	}
}

// stopped stops an instance, follows the action, reads its records, and starts the instance again.
func stopped(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	c := e.NewOwner("alan@example.com")
	c.ConnectAccount("111122223333", testenv.FastCloud(200))
	r := testenv.RunningInstances(t, c, 1)[0]
	first := testenv.SubmitAction(c, r, "stop")
	if again := testenv.SubmitAction(c, r, "stop"); again != first {
		t.Errorf("the same stop while one is under way made another action: %s, %s", first, again)
	}
	e.WaitSettled()
	testenv.WantActionStatus(t, c, first, "succeeded")
	c.Call(http.MethodGet, "/resources/"+r.ID, nil, &r)
	if r.Status != "stopped" {
		t.Errorf("after the stop the resource is %s", r.Status)
	}
	changes := testenv.StateHistory(c, r.UID)
	if len(changes) != 1 || changes[0].State != "stopped" || changes[0].ChangedBy != "manual:alan@example.com" {
		t.Errorf("state history: %+v", changes)
	}
	e.Restart()
	c = c.Reconnect()
	third := testenv.SubmitAction(c, r, "start")
	e.WaitSettled()
	testenv.WantActionStatus(t, c, third, "succeeded")
	c.Call(http.MethodGet, "/resources/"+r.ID, nil, &r)
	if r.Status != "running" {
		t.Errorf("after the start the resource is %s", r.Status)
	}
}

// grouped stops a group of two tiers: the second tier first.
func grouped(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	c := e.NewOwner("edsger@example.com")
	c.ConnectAccount("111122223333", testenv.FastCloud(300))
	members := testenv.RunningInstances(t, c, 4)
	var group struct {
		ID string `json:"id"`
	}
	var body []map[string]any
	for i, r := range members {
		body = append(body, map[string]any{"resourceID": r.ID, "tier": 1 + i/2, "order": 1 + i%2})
	}
	c.Call(http.MethodPost, "/resource-groups", map[string]any{"name": "Shop", "members": body}, &group)
	var bulk struct {
		ID        string `json:"bulkActionID"`
		Total     int    `json:"total"`
		Status    string `json:"status"`
		Completed int    `json:"completed"`
		Failed    int    `json:"failed"`
	}
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "stop", "groupID": group.ID}, &bulk)
	if bulk.Total != 4 || bulk.Status != "queued" {
		t.Errorf("submitted: %+v", bulk)
	}
	id := bulk.ID
	e.WaitSettled()
	c.Call(http.MethodGet, "/actions/bulk/latest", nil, &bulk)
	if bulk.Status != "completed" || bulk.Completed != 4 || bulk.Failed != 0 {
		t.Errorf("ended: %+v", bulk)
	}
	at := make([]time.Time, len(members))
	for i, r := range members {
		h := testenv.StateHistory(c, r.UID)
		if len(h) != 1 || h[0].State != "stopped" || h[0].ChangedBy != "bulk:edsger@example.com:"+id {
			t.Fatalf("history of member %d: %+v", i, h)
		}
		at[i] = h[0].ChangedAt
	}
	if !slices.MaxFunc(at[2:], time.Time.Compare).Before(slices.MinFunc(at[:2], time.Time.Compare)) {
		t.Errorf("tier 2 must be stopped before tier 1: %v", at)
	}
}

// apart reads the records of one organization as a user of another.
func apart(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	mine, theirs := e.NewOwner("mine@example.com"), e.NewOwner("theirs@example.com")
	account := mine.ConnectAccount("111122223333", testenv.FastCloud(50))
	r := testenv.RunningInstances(t, mine, 1)[0]
	for _, path := range []string{"/cloud-accounts/" + account, "/resources/" + r.ID} {
		theirs.CallRefused(http.StatusNotFound, http.MethodGet, path, nil)
	}
	theirs.CallRefused(http.StatusNotFound, http.MethodPost, "/actions", r.Order("stop"))
	var none []testenv.Resource
	theirs.Call(http.MethodGet, "/resources", nil, &none)
	if len(none) != 0 {
		t.Errorf("another organization lists %d resources", len(none))
	}
}

// refused tries requests that the service refuses.
func refused(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	c := e.NewOwner("kurt@example.com")
	connect := map[string]any{
		"provider": "simulated", "authMethod": "simulated", "cloudAccountID": "444455556666", "name": "Refused",
		"permissionLevel": "read_write", "credentials": testenv.FastCloud(10).WithSetting("refuse", "true"),
	}
	c.CallRefused(http.StatusBadRequest, http.MethodPost, "/cloud-accounts", connect)
	var accounts struct {
		Total int `json:"total"`
	}
	if c.Call(http.MethodGet, "/cloud-accounts", nil, &accounts); accounts.Total != 0 {
		t.Errorf("an account whose credentials were refused is stored: %d", accounts.Total)
	}
	unknown := testenv.Resource{
		UID: "i-nothing", Type: "aws-ec2", Provider: "simulated", CloudAccountID: "ca_nothing",
		Region: "us-east-1",
	}
	body := c.CallRefused(http.StatusNotFound, http.MethodPost, "/actions", unknown.Order("stop"))
	if !strings.Contains(body, "nothing") {
		t.Errorf("the refusal does not name what is unknown: %s", body)
	}
	c.CallRefused(http.StatusNotFound, http.MethodGet, "/actions/bulk/latest", nil)
	e.NewClient().CallRefused(http.StatusUnauthorized, http.MethodGet, "/resources", nil)
}

// TestOnDynamoDB runs the same ways on another maker's DynamoDB.
func TestOnDynamoDB(t *testing.T) {
	endpoint := tabletest.StartDynoxide(t)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			way(t, testenv.Setup{Remote: tabletest.NewTable(t, endpoint)})
		})
	}
}
