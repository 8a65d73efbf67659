package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newVisitor returns a desk of a user who is not signed in, and a service that knows them.
func newVisitor(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.env = map[string]string{"LAMPLIGHTER_CONFIG_DIR": filepath.Join(t.TempDir(), "lamplighter")}
	d.answers["POST /auth/login"] = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch said := string(body); {
		case !strings.Contains(said, `"password":"right"`):
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":{"message":"wrong password"}}`)
		case strings.Contains(said, "careful@") && !strings.Contains(said, `"otp":"123456"`):
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `{"error":{"message":"a second factor is needed"}}`)
		default:
			io.WriteString(w, `{"data":{"accessToken":"the-access-token","refreshToken":"the-refresh-token",`+
				`"user":{"email":"ada@example.com"},`+
				`"tenants":[{"id":"org_1","name":"Acme"},{"id":"org_2","name":"Beta"}]}}`)
		}
	}
	d.answer("POST /auth/refresh", `{"accessToken":"a2","refreshToken":"r2","user":{"email":"ada@example.com"}}`)
	d.answer("GET /users/me", `{"email":"ada@example.com","name":"Ada"}`)
	d.answer("GET /organisations", `[{"id":"org_1","name":"Acme"},{"id":"org_2","name":"Beta"}]`)
	d.answer("POST /auth/logout", `{"message":"x"}`)
	return d
}

func (d *desk) login(args ...string) result {
	return d.run(append([]string{"login", "--api", d.url}, args...)...)
}

func TestLogin_ByPassword(t *testing.T) {
	d := newVisitor(t)
	d.typed = "right\n"
	d.want(d.login("--email", "ada@example.com"), 0,
		"Signed in at "+d.url+" as ada@example.com, in Acme (context default)")
	d.want(d.run("whoami"), 0, "ada@example.com", "Acme", d.url)
	for _, name := range []string{"credentials.json", "config.json"} {
		i, err := os.Stat(filepath.Join(d.env["LAMPLIGHTER_CONFIG_DIR"], name))
		if err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, i, err)
		}
	}
	d.want(d.run("logout"), 0, "Signed out")
	d.want(d.run("whoami"), exitSignedOut, "run lamp login")
	if got := d.sent("POST /auth/logout"); len(got) != 1 {
		t.Errorf("sent %q", got)
	}
}

func TestLogin_Refusals(t *testing.T) {
	for _, c := range []struct {
		name, typed, args string
		code              int
		text              string
	}{
		{"a wrong password", "wrong\n", "--email ada@example.com", exitSignedOut, "wrong password"},
		{"no password", "", "--email ada@example.com", exitMisused, "standard input is empty"},
		{"nobody", "right\n", "", exitMisused, "add --email"},
		{"a missing second factor", "right\n", "--email careful@example.com", exitFailed, "add --code"},
		{"an unknown organization", "right\n", "--email ada@example.com --organisation Nosuch", exitNotFound, "Nosuch"},
		{"a demo elsewhere", "", "--demo", exitMisused, "in the folder in which make run runs"},
		{"two ways", "", "--demo --token-stdin", exitMisused, "demo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newVisitor(t)
			d.typed = c.typed
			d.want(d.login(strings.Fields(c.args)...), c.code, c.text)
			d.want(d.run("whoami"), exitSignedOut)
		})
	}
}

func TestLogin_TheSecondFactor(t *testing.T) {
	d := newVisitor(t)
	d.typed = "right\n"
	d.want(d.login("--email", "careful@example.com", "--code", "123456"), 0, "Signed in")
	d = newVisitor(t)
	var said strings.Builder
	a := d.app(io.Discard, &said)
	a.asks, a.in = true, strings.NewReader("123456\n")
	a.readSecret = func(<-chan struct{}) (string, error) { return "right", nil }
	if code := a.run(t.Context(), []string{"login", "--api", d.url, "--email", "careful@example.com"}); code != 0 ||
		!strings.Contains(said.String(), "Code of your second factor") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}

func TestLogin_AnotherOrganisation(t *testing.T) {
	d := newVisitor(t)
	d.typed = "right\n"
	d.want(d.login("--email", "ada@example.com", "--organisation", "beta"), 0, "in Beta")
	if got := d.sent("POST /auth/refresh"); len(got) != 1 || !strings.Contains(got[0], `"tenantID":"org_2"`) {
		t.Errorf("sent %q", got)
	}
}

func TestLogin_APersonalAccessToken(t *testing.T) {
	d := newVisitor(t)
	d.typed = "pat_secret\n"
	var credential, organisation string
	d.answers["GET /teams"] = func(w http.ResponseWriter, r *http.Request) {
		credential, organisation = r.Header.Get("Authorization"), r.Header.Get("X-Organisation-Id")
		fmt.Fprint(w, `{"data":{"items":[],"total":0}}`)
	}
	d.want(d.login("--token-stdin", "--organisation", "Beta"), 0, "in Beta")
	d.want(d.run("get", "teams"), 0)
	if credential != "Bearer pat_secret" || organisation != "org_2" {
		t.Errorf("sent %q in %q", credential, organisation)
	}
	d.want(d.run("logout"), 0, "stays valid")
	if got := d.sent("POST /auth/logout"); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestLogin_AnAddressIsHTTP(t *testing.T) {
	d := newVisitor(t)
	d.typed = "right\n"
	for _, api := range []string{"ftp://x", "x.example.com", "https://ada:secret@x.example.com"} {
		r := d.run("login", "--api", api, "--email", "a")
		if r.code != exitMisused || strings.Contains(r.err, "secret") {
			t.Errorf("%s: %d %s", api, r.code, r.err)
		}
	}
}

func TestContext_ListUseShow(t *testing.T) {
	d := newVisitor(t)
	d.want(d.run("context", "list"), exitNotFound, "run lamp login")
	d.typed = "right\n"
	d.want(d.login("--email", "ada@example.com"), 0)
	d.want(d.login("--email", "ada@example.com", "--context", "prod"), 0)
	r := d.run("context", "list", "-o", "csv", "--fields", "name,used")
	if r.out != "name,used\ndefault,false\nprod,true\n" {
		t.Errorf("printed %q", r.out)
	}
	d.want(d.run("context", "use", "nosuch"), exitNotFound)
	d.want(d.run("context", "use", "default"), 0)
	if r := d.run("context", "show", "-o", "name"); r.out != "default\n" {
		t.Errorf("printed %q", r.out)
	}
	d.env["LAMPLIGHTER_CONTEXT"] = "prod"
	if r := d.run("context", "show", "-o", "name"); r.out != "prod\n" {
		t.Errorf("printed %q", r.out)
	}
	d.want(d.run("whoami", "--context", "nosuch"), exitSignedOut, `"nosuch"`)
	d.want(d.run("__complete", "context", "use", ""), 0, "default\nprod\n")
}

func TestComplete_NamesOfTheService(t *testing.T) {
	d := newOffice(t, 1, "test")
	d.answer("GET /resources", `[{"name":"web-1","status":"running","type":"aws-ec2"},`+
		`{"name":"my-web","status":"running"},{"name":"web-2\n","status":"stopped","type":"aws-rds"}]`)
	for args, want := range map[string]string{
		"stop resources web":         "web-1\trunning, aws-ec2\nweb-2 \tstopped, aws-rds\n:4\n",
		"stop resources web-1 web":   "web-2 \tstopped, aws-rds\n:4\n",
		"stop group st":              "Staging\n:4\n",
		"describe gr":                "resource\ngroup\n",
		"hold group s":               "Staging\n:4\n",
		"get group Staging x":        ":4\n",
		"get resources --status run": "running\n",
		"-o j":                       "json\n",
	} {
		words := strings.Split(args, " ")
		r := d.run(append([]string{"__complete"}, words...)...)
		if d.want(r, 0); !strings.HasPrefix(r.out, want) && !strings.Contains(r.out, want) {
			t.Errorf("%s: got %q, want %q", args, r.out, want)
		}
	}
}

func TestComplete_WithoutTheServiceThereAreNoNames(t *testing.T) {
	d := newDesk(t)
	d.refuse("GET /resources", 500, "no")
	if r := d.run("__completeNoDesc", "stop", "resources", "web"); r.out != ":4\n" || r.code != 0 {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
}

func TestCompletion_ForFourShells(t *testing.T) {
	d := newDesk(t)
	for shell, text := range map[string]string{
		"bash": "__lamp_handle", "zsh": "#compdef lamp", "fish": "complete -c lamp",
		"powershell": "Register-ArgumentCompleter",
	} {
		d.want(d.run("completion", shell), 0, text)
	}
}
