package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// account returns the body that connects moto's account. Its bills come from Cost Explorer, because moto has no Data
// Exports, and calls that get no answer are retried for a long time.
func (m moto) account(regions ...string) map[string]any {
	return map[string]any{
		"provider": "aws", "authMethod": "static_keys", "cloudAccountID": motoNumber, "name": "Emulated",
		"permissionLevel": "read_write",
		"regions":         regions, "endpointURL": m.url, "billing": map[string]string{"source": "cost_explorer"},
		"credentials": map[string]string{"accessKeyID": "testing", "secretAccessKey": "testing"},
	}
}

// connect connects moto's account, waits for its discovery and returns its id.
func (m moto) connect(c *testenv.Client, regions ...string) string {
	m.t.Helper()
	var account struct {
		ID    string `json:"id"`
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/cloud-accounts", m.account(regions...), &account)
	c.WaitDiscovered(account.ID, account.JobID)
	return account.ID
}

// three returns the database, the instance and the Auto Scaling group in us-east-1 that can be acted on.
func (m moto) three(c *testenv.Client) []testenv.Resource {
	m.t.Helper()
	var out []testenv.Resource
	for _, kind := range []string{"aws-rds", "aws-ec2", "aws-asg"} {
		var found []testenv.Resource
		c.Call(http.MethodGet, "/resources?provider=aws&region=us-east-1&schedulable=true&type="+kind, nil, &found)
		if len(found) != 1 || found[0].Status != "running" {
			m.t.Fatalf("discovered of %s: %+v", kind, found)
		}
		out = append(out, found...)
	}
	return out
}

// Two regions are discovered; an instance, a database and an Auto Scaling group are stopped, and started after a
// restart. (moto has a thousand snapshots in each of its regions.)
func TestResourcesOnMotoAreStoppedAndStarted(t *testing.T) {
	t.Parallel()
	m, e := furnish(t), testenv.Start(t, testenv.Setup{})
	c := e.NewOwner("margaret@example.com")
	id := m.connect(c, "us-east-1", "eu-west-1")
	var all []testenv.Resource
	if c.Call(http.MethodGet, "/resources?provider=aws&type=aws-ec2,aws-asg,aws-rds", nil, &all); len(all) != 6 {
		t.Errorf("discovered %d resources, want an instance, two members of a group, the group and two databases: %+v",
			len(all), all)
	}
	rs := m.three(c)
	m.refusesMembers(c)
	m.actOn(e, c, "stop", rs)
	m.holds(c, "stopped", unlit, rs)
	e.Restart()
	c = c.Reconnect()
	m.actOn(e, c, "stop", rs) // RDS refuses a second stop, so it must not get there
	m.holds(c, "stopped", unlit, rs)
	m.actOn(e, c, "start", rs)
	m.holds(c, "running", lit, rs)
	for _, r := range rs {
		h := testenv.StateHistory(c, r.UID)
		if len(h) != 2 || h[0].State != "running" || h[1].State != "stopped" ||
			h[0].ChangedBy != "manual:margaret@example.com" {
			t.Errorf("state history of %s: %+v", r.UID, h)
		}
	}
	m.vanishes(c, id)
}

// actOn stops or starts each resource, and waits until all actions have ended.
func (m moto) actOn(e *testenv.Env, c *testenv.Client, verb string, rs []testenv.Resource) {
	m.t.Helper()
	var ids []string
	for _, r := range rs {
		ids = append(ids, testenv.SubmitAction(c, r, verb))
	}
	e.WaitSettled()
	for _, id := range ids {
		testenv.WantActionStatus(m.t, c, id, "succeeded")
	}
}

// refusesMembers checks that the service refuses to stop members of the Auto Scaling group, because the group would
// replace them.
func (m moto) refusesMembers(c *testenv.Client) {
	m.t.Helper()
	var members []testenv.Resource
	if c.Call(http.MethodGet, "/resources?type=aws-ec2&schedulable=false", nil, &members); len(members) != 2 {
		m.t.Fatalf("members of the Auto Scaling group: %+v", members)
	}
	if why := c.CallRefused(http.StatusBadRequest, http.MethodPost, "/actions",
		members[0].Order("stop")); !strings.Contains(why, "Auto Scaling group web") {
		m.t.Errorf("the refusal does not name the group: %s", why)
	}
}

// vanishes deletes the database in eu-west-1 behind the service's back and discovers again.
func (m moto) vanishes(c *testenv.Client, account string) {
	m.t.Helper()
	var found []testenv.Resource
	if c.Call(http.MethodGet, "/resources?region=eu-west-1&type=aws-rds", nil, &found); len(found) != 1 ||
		found[0].Status != "running" {
		m.t.Fatalf("discovered in eu-west-1: %+v", found)
	}
	m.call("rds", "eu-west-1", "Action=DeleteDBInstance&SkipFinalSnapshot=true&DBInstanceIdentifier=reports")
	var job struct {
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/cloud-accounts/"+account+"/discover", map[string]any{}, &job)
	c.WaitDiscovered(account, job.JobID)
	var gone testenv.Resource
	if c.Call(http.MethodGet, "/resources/"+found[0].ID, nil, &gone); gone.Status != "terminated" {
		m.t.Errorf("the deleted database is %s", gone.Status)
	}
}

// The database is in the first tier of the group, the instance and the Auto Scaling group in the second.
func TestAGroupOnMotoIsStoppedAndStartedByTiers(t *testing.T) {
	t.Parallel()
	m, e := furnish(t), testenv.Start(t, testenv.Setup{})
	c := e.NewOwner("katherine@example.com")
	m.connect(c, "us-east-1")
	rs := m.three(c)
	group := map[string]any{"name": "Shop", "members": []map[string]any{
		{"resourceID": rs[0].ID, "tier": 1, "order": 1},
		{"resourceID": rs[1].ID, "tier": 2, "order": 1},
		{"resourceID": rs[2].ID, "tier": 2, "order": 2},
	}}
	var made struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/resource-groups", group, &made)
	at := m.wholeGroup(e, c, made.ID, "stop", rs)
	m.holds(c, "stopped", unlit, rs)
	if !at[2].Before(at[1]) || !at[1].Before(at[0]) {
		t.Errorf("a stop goes from the last to the first: database, instance, group at %v", at)
	}
	at = m.wholeGroup(e, c, made.ID, "start", rs)
	m.holds(c, "running", lit, rs)
	if !at[0].Before(at[1]) || !at[1].Before(at[2]) {
		t.Errorf("a start goes from the first to the last: database, instance, group at %v", at)
	}
}

// wholeGroup runs a bulk action to its end, and returns the time of each resource's change.
func (m moto) wholeGroup(e *testenv.Env, c *testenv.Client, group, verb string, rs []testenv.Resource) []time.Time {
	m.t.Helper()
	var bulk struct {
		ID                string `json:"bulkActionID"`
		Status            string `json:"status"`
		Completed, Failed int
	}
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": verb, "groupID": group}, &bulk)
	by := "bulk:katherine@example.com:" + bulk.ID
	e.WaitSettled()
	if c.Call(http.MethodGet, "/actions/bulk/latest", nil, &bulk); bulk.Status != "completed" || bulk.Completed != 3 ||
		bulk.Failed != 0 {
		m.t.Errorf("the %s ended: %+v", verb, bulk)
	}
	var at []time.Time
	for _, r := range rs {
		h := testenv.StateHistory(c, r.UID)
		if len(h) == 0 || h[0].ChangedBy != by {
			m.t.Fatalf("state history of %s: %+v, want the newest by %s", r.UID, h, by)
		}
		at = append(at, h[0].ChangedAt)
	}
	return at
}

// The service stores neither an account under another account's number nor one behind an address where no server
// listens. moto accepts any keys; shared/cloud/aws tests refused keys against the twin.
func TestAnAccountThatMotoDoesNotOpenIsNotStored(t *testing.T) {
	t.Parallel()
	m, e := newMoto(t), testenv.Start(t, testenv.Setup{})
	c := e.NewOwner("dorothy@example.com")
	other := m.account("us-east-1")
	other["cloudAccountID"] = "210987654321"
	if why := c.CallRefused(http.StatusBadRequest, http.MethodPost, "/cloud-accounts", other); !strings.Contains(why,
		motoNumber) {
		t.Errorf("the refusal does not name the account that the keys open: %s", why)
	}
	nobody := moto{t, "http://127.0.0.1:1"}
	why := c.CallRefused(http.StatusBadRequest, http.MethodPost, "/cloud-accounts", nobody.account("us-east-1"))
	if !strings.Contains(why, "endpointURL: no cloud answers at "+nobody.url) ||
		!strings.Contains(why, "connection refused") {
		t.Errorf("it does not say who did not answer: %s", why)
	}
	var accounts struct{ Total int }
	if c.Call(http.MethodGet, "/cloud-accounts", nil, &accounts); accounts.Total != 0 {
		t.Errorf("%d accounts are stored that could not be opened", accounts.Total)
	}
}

// TestTheWalkOfTheReadmeOnAWSWorks runs the commands of the tour's page on AWS, with moto.
func TestTheWalkOfTheReadmeOnAWSWorks(t *testing.T) {
	needShell(t)
	m, s := newMoto(t).url, serveIn(t, t.TempDir())
	walk := section(t, "MOTO=http://127.0.0.1:5000\n", "```")
	out := s.pasteWalk(t, "MOTO="+m, walk+
		"\nfor t in aws-ec2 aws-asg aws-rds; do echo $t: $(get \"/resources?provider=aws&type=$t\" | grep -o "+
		"'\"uid\":' | wc -l); done\n")
	made := []string{"aws-ec2: 3\n", "aws-asg: 1\n", "aws-rds: 1\n"} // two instances are members of the group
	for _, want := range append(made, `"status":"completed","total":3,"completed":3`, `"state":"stopped"`) {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}

// pasteFirst is the sentence before the block of a page of the tour, and the beginning of the block.
const pasteFirst = "Paste the first block of [first-steps.md](first-steps.md) before this one.\n\n```sh\n"

// section returns the text of the tour between two marks.
func section(t *testing.T, from, to string) string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/tour/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("the tour has no pages: %v", err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, text, begun := strings.Cut(string(b), from)
		text, _, ended := strings.Cut(text, to)
		if begun && ended {
			return text
		}
	}
	t.Fatalf("no page of the tour has a text between %q and %q", from, to)
	return ""
}
