package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// newOffice returns a desk with a group of n running resources, of which tags tell the environment.
func newOffice(t *testing.T, n int, environment string) *desk {
	t.Helper()
	d := newDesk(t)
	d.answer("GET /resource-groups", `{"items":[{"id":"grp_1","name":"Staging"}],"total":1}`)
	d.answer("GET /resources", `[{"id":"res_1","uid":"i-1","name":"web-1"}]`)
	d.answer("GET /cloud-accounts", `{"items":[{"id":"ca_1","environment":null}],"total":1}`)
	var planned, rates []string
	for i := range n {
		planned = append(planned, fmt.Sprintf(`{"resourceID":"res_%d","resourceUID":"i-%d","name":"web-%d",`+
			`"type":"aws-ec2","status":"running","cloudAccountID":"ca_1"}`, i+1, i+1, i+1))
		rates = append(rates, fmt.Sprintf(`{"tags":{"Env":%q},"rackRateUSD":{"hourly":"0.10"}}`, environment))
	}
	d.answer("POST /resources/by-uids", "["+strings.Join(rates, ",")+"]")
	plan := fmt.Sprintf(`{"bulkActionID":"","total":%d,"plan":{"steps":[{"resources":[%s]}],"leftOut":[`+
		`{"resourceID":"res_x","name":"db","reason":"held on by an override"}]}}`, n, strings.Join(planned, ","))
	d.answers["POST /actions/bulk"] = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"dryRun":true`) {
			fmt.Fprintf(w, `{"data":%s}`, plan)
			return
		}
		fmt.Fprintf(w, `{"data":{"bulkActionID":"bulk_1","total":%d,"plan":null}}`, n)
	}
	return d
}

// submitted returns the orders that were no dry run.
func (d *desk) submitted() []string {
	return slices.DeleteFunc(d.sent("POST /actions/bulk "), func(r string) bool {
		return strings.Contains(r, `"dryRun":true`)
	})
}

func TestStop_AsksWithThePlan(t *testing.T) {
	for _, c := range []struct {
		name        string
		n           int
		environment string
		terminal    bool
		typed, args string
		code        int
		text        string
		acts        bool
	}{
		{"y agrees to a few", 3, "test", true, "y\n", "", 0, "Stop 3 resources? [y/N]", true},
		{"yes agrees to a few", 3, "test", true, "Yes\n", "", 0, "Queued", true},
		{"a bare Enter refuses", 3, "test", true, "\n", "", exitFailed, "nothing was done", false},
		{"n refuses", 3, "test", true, "n\n", "", exitFailed, "nothing was done", false},
		{"the end of the input refuses", 3, "test", true, "", "", exitMisused, "standard input is empty", false},
		{"--yes agrees", 3, "test", true, "", "--yes", 0, "Queued", true},
		{"without a terminal nobody agrees", 3, "test", false, "y\n", "", exitMisused, "add --yes", false},
		{"without a terminal --yes agrees", 3, "production", false, "", "--yes", 0, "bulk_1", true},
		{"20 are a few", 20, "test", true, "y\n", "", 0, "Stop 20 resources? [y/N]", true},
		{"more than 20 need the number", 21, "test", true, "21\n", "", 0, "Type the number of resources", true},
		{"y does not agree to many", 21, "test", true, "y\n", "", exitFailed, "the number is 21", false},
		{"another number does not agree", 21, "test", true, "12\n", "", exitFailed, "nothing was done", false},
		{"production needs the number", 2, "Production", true, "y\n", "", exitFailed, "This is production", false},
		{"production and its number", 2, "prod", true, "2\n", "", 0, "Queued", true},
		{"a dry run does nothing", 3, "test", true, "y\n", "--dry-run", 0, "Nothing was done", false},
		{"an empty plan does nothing", 0, "test", true, "y\n", "", 0, "Nothing was done", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newOffice(t, c.n, c.environment)
			d.terminal, d.typed = c.terminal, c.typed
			r := d.run(append([]string{"stop", "group", "staging"}, strings.Fields(c.args)...)...)
			d.want(r, c.code, c.text, "held on by an override", "1 left out")
			if got := d.submitted(); (len(got) == 1) != c.acts {
				t.Errorf("submitted %q", got)
			}
			want := `POST /actions/bulk {"type":"stop","groupID":"grp_1"}`
			if c.acts && (r.out != "bulk_1\n" || d.submitted()[0] != want) {
				t.Errorf("printed %q, submitted %q", r.out, d.submitted())
			}
		})
	}
}

func TestStop_AnAccountOfProductionNeedsTheNumber(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.answer("GET /cloud-accounts", `{"items":[{"id":"ca_1","environment":"prod"}],"total":1}`)
	d.terminal, d.typed = true, "y\n"
	d.want(d.run("stop", "group", "staging"), exitFailed, "This is production", "the number is 2")
}

func TestStop_SaysWhatItSaves(t *testing.T) {
	d := newOffice(t, 3, "test")
	d.want(d.run("stop", "group", "staging", "--dry-run"), 0,
		"Would stop 3 resources, and save $0.30 an hour at list prices; 1 left out.")
}

func TestStop_AFilterActsOnlyOnThePlan(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.want(d.run("stop", "resources", "--tag", "a=b", "--tag", "c", "--region", "x,y", "--yes"), 0)
	want := []string{
		`POST /actions/bulk {"type":"stop","dryRun":true,` +
			`"filter":{"region":"x,y","schedulable":true,"tag":["a=b","c"]}}`,
		`POST /actions/bulk {"type":"stop","resourceIDs":["res_1","res_2"]}`,
	}
	if got := d.sent("POST /actions/bulk "); !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

func TestStart_ByName(t *testing.T) {
	d := newOffice(t, 1, "test")
	d.want(d.run("start", "resources", "WEB-1", "--force", "--yes"), 0)
	if got := d.submitted(); len(got) != 1 ||
		got[0] != `POST /actions/bulk {"type":"start","force":true,"resourceIDs":["res_1"]}` {
		t.Errorf("submitted %q", got)
	}
}

func TestStop_RefusesEverything(t *testing.T) {
	d := newOffice(t, 1, "test")
	d.want(d.run("stop", "resources", "--yes"), exitMisused, "all resources would stop")
	d.want(d.run("stop", "resources", "web-1", "--region", "x", "--yes"), exitMisused, "not both")
	d.want(d.run("stop", "resources", "nosuch", "--yes"), exitNotFound, "there is no resource")
	if got := d.submitted(); len(got) > 0 {
		t.Errorf("submitted %q", got)
	}
}

// progress answers the n-th request for the bulk action by the n-th status; the last one stays.
func (d *desk) progress(statuses ...string) {
	n := 0
	d.answers["GET /actions/bulk/bulk_1"] = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":%s}`, statuses[min(n, len(statuses)-1)])
		n++
	}
}

func TestWait_ExitCodes(t *testing.T) {
	const running = `{"status":"running","total":3,"completed":1,"failed":0}`
	for _, c := range []struct {
		name, end string
		code      int
		text      string
	}{
		{"all done", `{"status":"completed","total":3,"completed":3,"failed":0}`, 0, "completed: 3 of 3 done"},
		{"a part failed", `{"status":"completed","total":3,"completed":2,"failed":1}`, exitPartly, "1 of 3 failed"},
		{"all failed", `{"status":"completed","total":3,"completed":0,"failed":3}`, exitFailed, "all 3 failed"},
		{"cancelled", `{"status":"cancelled","total":3,"completed":1,"failed":0}`, exitPartly, "was cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newOffice(t, 3, "test")
			d.progress(running, running, c.end)
			r := d.run("stop", "group", "staging", "--yes", "--wait")
			d.want(r, c.code, "running: 1 of 3 done", c.text, "bulk_1")
		})
	}
}

func TestWait_TheTimeoutSaysThatTheWorkContinues(t *testing.T) {
	d := newOffice(t, 3, "test")
	d.progress(`{"status":"running","total":3}`)
	d.want(d.run("stop", "group", "staging", "--yes", "--wait", "--timeout", "50ms"), exitTimedOut,
		"bulk_1 is not done after 50ms, and continues")
}

func TestWait_AnInterruptionSaysWhatContinues(t *testing.T) {
	d := newOffice(t, 3, "test")
	ctx, cancel := context.WithCancel(t.Context())
	d.answers["GET /actions/bulk/bulk_1"] = func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		io.WriteString(w, `{"data":{"status":"running","total":3}}`)
	}
	d.want(d.runUntil(ctx, "stop", "group", "staging", "--yes", "--wait"), exitInterrupted,
		"bulk_1 continues", "POST /actions/bulk/bulk_1/cancel")
}

func TestConfirm_AnInterruptionEndsTheQuestion(t *testing.T) {
	d := newOffice(t, 3, "test")
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	a := d.app(io.Discard, &said)
	a.asks, a.in, a.interrupted = true, blocked{cancel}, ctx.Done()
	if code := a.run(ctx, []string{"stop", "group", "staging"}); code != exitInterrupted || len(d.submitted()) > 0 {
		t.Errorf("exit code %d, submitted %q: %s", code, d.submitted(), said.String())
	}
}

// blocked is an input at which the user presses Ctrl-C.
type blocked struct{ interrupt func() }

func (b blocked) Read([]byte) (int, error) {
	b.interrupt()
	select {}
}
