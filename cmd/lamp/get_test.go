package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const twoResources = `[
	{"id":"res_1","uid":"i-1","name":"web","status":"running","type":"aws-ec2","region":"eu-west-1","instanceType":"m5",
	 "rackRateUSD":{"monthly":"70.08"},"tags":{"team":"a.b"},"cloudAccountName":"Main"},
	{"id":"res_2","uid":"i-2","name":"=cmd()","status":"stopped","type":"aws-ec2","region":"us-east-1",
	 "instanceType":"","rackRateUSD":null,"tags":{},"cloudAccountName":"Main"}]`

func TestGet_PrintsEachFormat(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"a table", "-o table", "NAME    STATUS   TYPE     REGION     SIZE  USD/MONTH\n" +
			"web     running  aws-ec2  eu-west-1  m5        70.08\n" +
			"=cmd()  stopped  aws-ec2  us-east-1  -             -\n"},
		{"a wide table of two members", "-o wide --fields name,tags.team", "NAME    TAGS.TEAM\n" +
			"web     a.b\n=cmd()  -\n"},
		{"CSV without a formula", "-o csv --fields name,rackRateUSD.monthly", "name,rackRateUSD.monthly\n" +
			"web,70.08\n'=cmd(),\n"},
		{"names", "-o name", "web\n=cmd()\n"},
		{"JSON lines", "-o ndjson", `{"id":"res_1","uid":"i-1","name":"web","status":"running","type":"aws-ec2",` +
			`"region":"eu-west-1","instanceType":"m5","rackRateUSD":{"monthly":"70.08"},"tags":{"team":"a.b"},` +
			`"cloudAccountName":"Main"}` + "\n" + `{"id":"res_2","uid":"i-2","name":"=cmd()","status":"stopped",` +
			`"type":"aws-ec2","region":"us-east-1","instanceType":"","rackRateUSD":null,"tags":{},` +
			`"cloudAccountName":"Main"}` + "\n"},
		{"YAML with the same digits and order", "-o yaml", "- id: res_1\n  uid: i-1\n  name: web\n  status: running\n" +
			"  type: aws-ec2\n  region: eu-west-1\n  instanceType: m5\n  rackRateUSD:\n    monthly: \"70.08\"\n" +
			"  tags:\n    team: a.b\n  cloudAccountName: Main\n" +
			"- id: res_2\n  uid: i-2\n  name: =cmd()\n  status: stopped\n  type: aws-ec2\n  region: us-east-1\n" +
			"  instanceType: \"\"\n  rackRateUSD: null\n  tags: {}\n  cloudAccountName: Main\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.answer("GET /resources", twoResources)
			r := d.run(append([]string{"get", "resources"}, strings.Fields(c.args)...)...)
			if d.want(r, 0); r.out != c.want || r.err != "" {
				t.Errorf("got\n%s%s\nwant\n%s", r.out, r.err, c.want)
			}
		})
	}
}

func TestGet_JSONIsTheServicesData(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", twoResources)
	r := d.run("get", "resources", "-o", "json")
	var got, want any
	err := errors.Join(json.Unmarshal([]byte(r.out), &got), json.Unmarshal([]byte(twoResources), &want))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got %s, want %s", a, b)
	}
}

func TestGet_AnEmptyListIsAListInEachFormat(t *testing.T) {
	for format, want := range map[string]string{
		"json": "[]\n", "csv": "name,memberCount,failurePolicy,description,id\n", "ndjson": "", "yaml": "", "name": "",
		"table": "NAME  MEMBERS  ON FAILURE  DESCRIPTION\n",
	} {
		d := newDesk(t)
		d.answer("GET /resource-groups", `{"items":[],"total":0}`)
		if r := d.run("get", "groups", "-o", format); r.out != want || r.code != 0 {
			t.Errorf("%s: %d %q, want %q", format, r.code, r.out, want)
		}
	}
}

func TestGet_AnUnknownFieldIsRefused(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", twoResources)
	d.want(d.run("get", "resources", "--fields", "nam"), exitMisused, `no member "nam"`, "cloudAccountName, id")
	d.want(d.run("get", "resources", "--fields", "name,tags.nosuch"), 0)
}

func TestGet_SendsTheFilters(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", `[]`)
	d.want(d.run("get", "resources", "--status", "running,pending", "--group-id", "grp_1", "--tag", "env=a", "--tag",
		"x=y"), 0)
	want := "GET /resources?group_id=grp_1&limit=100&page=1&status=running%2Cpending&tag=env%3Da&tag=x%3Dy"
	if got := d.sent("GET /resources"); len(got) != 1 || got[0] != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestGet_SaysThatThereAreMore(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", twoResources)
	d.want(d.run("get", "resources", "--limit", "1", "-o", "name"), 0, "web\n", "1 are shown, and there may be more")
	if r := d.run("get", "resources", "--limit", "3", "-o", "name"); r.err != "" {
		t.Error(r.err)
	}
	if got := d.sent("GET /resources"); len(got) != 2 {
		t.Errorf("sent %q", got)
	}
}

func TestGet_AListThatBreaksOffKeepsItsBeginning(t *testing.T) {
	d := newDesk(t)
	d.answers["GET /resources"] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Write([]byte(`{"data":[` + strings.TrimSuffix(strings.Repeat(`{"name":"web"},`, 100), ",") + `]}`))
	}
	r := d.run("get", "resources", "--limit", "0", "-o", "name")
	if d.want(r, exitFailed, "after 100 resources: Internal Server Error"); strings.Count(r.out, "web\n") != 100 {
		t.Errorf("printed %q", r.out)
	}
}

func TestGet_NoTextFromTheCloudControlsTheTerminal(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", `[{"id":"res_1","name":"a\u001b[2Jb\u202ec\nd","status":"running"}]`)
	for _, format := range []string{"table", "wide", "name"} {
		if r := d.run("get", "resources", "-o", format); !strings.Contains(r.out, "a·[2Jb·c d") {
			t.Errorf("%s: %q", format, r.out)
		}
	}
	d.refuse("GET /resources", 400, "bad \u001b[31m")
	d.want(d.run("get", "resources"), 1, "bad ·[31m")
}

func TestGet_ATableFitsTheTerminal(t *testing.T) {
	d := newDesk(t)
	d.width = 60
	d.answer("GET /resources", `[{"name":"`+strings.Repeat("long-name-", 12)+`",`+
		`"status":"running","region":"eu-west-1"}]`)
	for line := range strings.Lines(d.run("get", "resources").out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestGet_ByName(t *testing.T) {
	const groups = `{"items":[{"id":"grp_1","name":"Staging"},{"id":"grp_2","name":"staging-eu"}],"total":2}`
	for _, c := range []struct {
		name, arg string
		code      int
		text      string
	}{
		{"an exact name, without regard to case", "staging", 0, "Staging"},
		{"an id", "grp_2", 0, "staging-eu"},
		{"an unknown name with similar ones", "stag", exitNotFound, "similar ones are Staging, staging-eu"},
		{"an unknown name", "prod", exitNotFound, "lamp get groups lists them"},
		{"an unknown id", "grp_9", exitNotFound, "lamp get groups lists them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.answer("GET /resource-groups", groups)
			d.answer("GET /resource-groups/grp_2", `{"id":"grp_2","name":"staging-eu"}`)
			d.want(d.run("get", "groups", c.arg), c.code, c.text)
		})
	}
}

func TestDescribe_AnAmbiguousNameListsTheIDs(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", `[{"id":"res_1","name":"web","type":"aws-ec2"},`+
		`{"id":"res_2","name":"WEB","type":"aws-rds"}]`)
	d.want(d.run("describe", "resource", "web"), exitMisused, "2 resources are named", "res_1", "aws-rds")
}

func TestDescribe_ShowsAllMembers(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources/res_1", `{"id":"res_1","name":"web","facts":{"zone":"a"}}`)
	d.want(d.run("describe", "resource", "res_1"), 0, "facts:\n  zone: a\n")
	d.want(d.run("describe", "resource", "res_1", "-o", "json"), 0, `"zone": "a"`)
}

func TestRun_ExitCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		args   string
		code   int
		text   string
	}{
		{
			"a refusal has the message and the request", 403, "get teams", exitFailed,
			"no (GET /teams: 403, request req-1)",
		},
		{"an error of the service", 500, "get teams", exitFailed, "500"},
		{"an ended session", 401, "get teams", exitSignedOut, "the session has ended"},
		{"a missing thing", 404, "api GET /teams", exitNotFound, "404"},
		{"an unknown command", 200, "gte teams", exitMisused, "unknown command"},
		{"an unknown kind", 200, "describe tea x", exitMisused, "it must be one of resources, groups"},
		{"an unknown flag", 200, "get teams --nope", exitMisused, "see lamp get teams -h"},
		{"an unknown format", 200, "get teams -o xml", exitMisused, "it must be one of table"},
		{"too many arguments", 200, "get teams a b", exitMisused, "at most 1 arg"},
		{"a name and a filter", 200, "get teams web --search x", exitMisused, "not both"},
		{"a negative limit", 200, "get teams --limit -1", exitMisused, "--limit is -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.refuse("GET /teams", c.status, "no")
			d.refuse("POST /auth/refresh", 401, "no")
			d.want(d.run(strings.Fields(c.args)...), c.code, c.text)
		})
	}
}

func TestRun_AFileThatCannotBeTrustedIsRefusedWithTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		text    string
	}{
		"that others can read":   {`{"version":1,"content":{}}`, 0o644, "may be read by other users"},
		"that is half written":   {`{"version":1,"content":{"defa`, 0o600, "is not whole"},
		"of another version":     {`{"version":7,"content":{}}`, 0o600, "has version 7"},
		"of nobody who is known": {`{"version":1,"content":{}}`, 0o600, "you are not signed in"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			path := filepath.Join(d.env["LAMPLIGHTER_CONFIG_DIR"], "credentials.json")
			if err := errors.Join(os.WriteFile(path, []byte(c.content), c.mode), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
			d.want(d.run("get", "teams"), exitSignedOut, c.text, "lamp login")
			if len(d.requests) > 0 {
				t.Errorf("sent %q", d.requests)
			}
		})
	}
}

func TestRun_ATokenGoesOnlyToTheServiceThatIssuedIt(t *testing.T) {
	d, other := newDesk(t), newDesk(t)
	d.env["LAMPLIGHTER_API"] = other.url
	d.want(d.run("get", "teams"), exitSignedOut, "is signed in at")
	if len(other.requests) > 0 {
		t.Errorf("the other service was asked %q", other.requests)
	}
}

func TestRun_TheEnvironmentGivesTokenAndAddress(t *testing.T) {
	d := newDesk(t)
	d.env = map[string]string{
		"LAMPLIGHTER_CONFIG_DIR": t.TempDir(), "LAMPLIGHTER_API": d.url, "LAMPLIGHTER_TOKEN": "pat",
	}
	var got string
	d.answers["GET /teams"] = func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.Write([]byte(`{"data":{"items":[],"total":0}}`))
	}
	if d.want(d.run("get", "teams"), 0); got != "Bearer pat" {
		t.Errorf("credential %q", got)
	}
	d.answer("GET /users/me", `{"email":"ada@example.com"}`)
	d.want(d.run("whoami"), 0, "ada@example.com", "LAMPLIGHTER_TOKEN")
	d.env["LAMPLIGHTER_API"] = "ftp://example.com"
	d.want(d.run("get", "teams"), exitMisused, "http:// or https://")
	d.env["LAMPLIGHTER_API"] = ""
	d.want(d.run("get", "teams"), exitMisused, "set LAMPLIGHTER_API")
}

// closedPipe is an output that nobody reads.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Err: syscall.EPIPE}
}

func TestRun_AClosedPipeIsNoError(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /resources", twoResources)
	for _, format := range formats {
		var said strings.Builder
		code := d.app(closedPipe{}, &said).run(t.Context(), []string{"get", "resources", "-o", format})
		if code != 0 || said.Len() > 0 {
			t.Errorf("%s: exit code %d, %q", format, code, said.String())
		}
	}
}

func TestPlainCell(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1+cmd": "'-1+cmd", "@x": "'@x", "\tx": "'\tx", "'x": "''x", "-5.00": "-5.00",
		"-5": "-5", "x=1": "x=1", "": "", "--1": "'--1", "-1.": "'-1.", "-": "'-",
	} {
		if got := plainCell(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
