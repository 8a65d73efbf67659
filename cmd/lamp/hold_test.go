package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParseUntil(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 29, 19, 30, 0, 0, zone)
	for in, want := range map[string]string{
		"20:00": "2026-11-29T20:00:00+01:00", "19:30": "2026-11-30T19:30:00+01:00", "7:05": "2026-11-30T07:05:00+01:00",
		"4h": "2026-11-29T23:30:00+01:00", "1h30m": "2026-11-29T21:00:00+01:00",
		"2026-12-24": "2026-12-24T00:00:00+01:00", "2026-12-24T18:00:00Z": "2026-12-24T18:00:00Z",
		"2026-11-29": "", "-1h": "", "0s": "", "tomorrow": "", "25:00": "", "2026-11-29T18:30:00Z": "", "": "",
	} {
		got, err := parseUntil(in, now)
		if (err == nil) != (want != "") || err == nil && got.Format(time.RFC3339) != want {
			t.Errorf("%q: got %s %v, want %q", in, got.Format(time.RFC3339), err, want)
		}
	}
}

func TestNextClock_FollowsTheZoneOverAClockChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	now := time.Date(2026, 10, 24, 21, 0, 0, 0, berlin) // clocks go back in the night
	got, err := parseUntil("20:00", now)
	if err != nil || got.Sub(now) != 24*time.Hour || got.Format("15:04") != "20:00" {
		t.Errorf("%s is %s away: %v", got, got.Sub(now), err)
	}
}

func TestHold_SendsTheOverride(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.answer("POST /resource-groups/grp_1/overrides", `{"id":"ovr_1"}`)
	d.answer("POST /overrides", `{"id":"ovr_2"}`)
	d.want(d.run("hold", "group", "staging", "--on", "--until", "4h", "--reason", "load test", "--yes"), 0, "ovr_1",
		"Would hold Staging on until", "lamp release ovr_1")
	d.want(d.run("hold", "resource", "web-1", "--off", "--until", "2026-12-01T00:00:00Z", "--yes"), 0, "ovr_2",
		"Would stop 2 resources")
	for prefix, want := range map[string]string{
		"POST /resource-groups/": `POST /resource-groups/grp_1/overrides {"action":"force_on",` +
			`"expiresAt":"2026-11-29T14:00:33Z","reason":"load test"}`,
		"POST /overrides": `POST /overrides {"action":"force_off","expiresAt":"2026-12-01T00:00:00Z",` +
			`"resourceUID":"i-1"}`,
	} {
		if got := d.sent(prefix); len(got) != 1 || got[0] != want {
			t.Errorf("sent %q\nwant %q", got, want)
		}
	}
}

func TestHold_GoesByTheServicesClock(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.answer("POST /overrides", `{"id":"ovr_2"}`)
	list := d.answers["GET /resources"]
	d.answers["GET /resources"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Sun, 29 Nov 2026 13:00:33 GMT") // three hours later than here
		list(w, r)
	}
	d.want(d.run("hold", "resource", "web-1", "--on", "--until", "1h", "--yes"), 0, "is off by 3h0m0s")
	if got := d.sent("POST /overrides"); len(got) != 1 || !strings.Contains(got[0], "2026-11-29T14:00:33Z") {
		t.Errorf("sent %q", got)
	}
}

func TestHold_NeedsAChoiceAndAnEnd(t *testing.T) {
	d := newOffice(t, 2, "test")
	for _, args := range []string{
		"hold group staging --until 4h --yes", "hold group staging --on --yes",
		"hold group staging --on --off --until 4h",
		"hold cluster staging --on --until 4h --yes", "hold group staging --on --until never --yes",
		"hold group staging --on --until 4h",
	} {
		d.want(d.run(strings.Fields(args)...), exitMisused)
	}
	if got := d.sent("POST /overrides"); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestHold_AResourceThatIsOnAlreadyIsHeldToo(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.refuse("POST /actions/bulk", http.StatusConflict, "all are running already")
	d.answer("POST /overrides", `{"id":"ovr_2"}`)
	d.want(d.run("hold", "resource", "web-1", "--on", "--until", "1h", "--yes"), 0, "all are running already", "ovr_2")
}

func TestRelease_EndsTheOverride(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /overrides/ovr_1", `{"id":"ovr_1","action":"force_on","groupID":"grp_1",`+
		`"expiresAt":"2026-12-01T00:00:00Z"}`)
	d.answer("DELETE /overrides/ovr_1", `{"id":"ovr_1"}`)
	d.want(d.run("release", "ovr_1"), exitMisused, "Would end ovr_1 (force_on of grp_1", "add --yes")
	d.want(d.run("release", "ovr_1", "--yes"), 0)
	d.want(d.run("release", "ovr_9", "--yes"), exitNotFound)
	if got := d.sent("DELETE"); len(got) != 1 {
		t.Errorf("sent %q", got)
	}
}

func TestWakeLink_PrintsTheAddress(t *testing.T) {
	d := newOffice(t, 2, "test")
	d.answer("POST /resource-groups/grp_1/wake-links", `{"url":"https://example.com/wake/x"}`)
	r := d.run("wake-link", "group", "staging", "--max-hours", "4", "--title", "Staging", "--yes")
	if d.want(r, 0, "Would start 2 resources"); r.out != "https://example.com/wake/x\n" {
		t.Errorf("printed %q", r.out)
	}
	if got := d.sent("POST /resource-groups/grp_1/wake-links"); len(got) != 1 ||
		!strings.HasSuffix(got[0], `{"name":"Staging","maxHours":4}`) {
		t.Errorf("sent %q", got)
	}
}

func TestSchedules_ActsAreShownAndAgreedTo(t *testing.T) {
	const path = "/schedules/sch_1"
	for _, c := range []struct{ args, text, sent string }{
		{"attach Nights --group staging", "Would attach Staging to Nights", "POST " + path +
			`/attachments {"groupID":"grp_1"}`},
		{"attach Nights --resource web-1", "a warning", "POST " + path + `/attachments {"resourceID":"res_1"}`},
		{"detach Nights --group staging", "Would detach Staging", "DELETE " + path + "/attachments/att_1"},
		{"enable Nights", "Would enable Nights: 1 firings", "PUT " + path + ` {"enabled":true}`},
		{"disable Nights", "Would disable Nights", "PUT " + path + ` {"enabled":false}`},
	} {
		t.Run(c.args, func(t *testing.T) {
			d := newOffice(t, 2, "test")
			d.answer("GET /schedules", `{"items":[{"id":"sch_1","name":"Nights"}],"total":1}`)
			d.answer("GET "+path+"/preview", `{"resourceCount":2,"firings":[{"action":"stop","actsOn":2}]}`)
			d.answer("GET "+path+"/attachments",
				`{"items":[{"id":"att_1","groupID":"grp_1","resourceID":null}],"total":1}`)
			d.answer("POST "+path+"/attachments", `{"id":"att_2","warnings":["a warning"]}`)
			d.answer("DELETE "+path+"/attachments/att_1", `{"id":"att_1"}`)
			d.answer("PUT "+path, `{"id":"sch_1"}`)
			args := append([]string{"schedules"}, strings.Fields(c.args)...)
			method, _, _ := strings.Cut(c.sent, " ")
			if d.want(d.run(args...), exitMisused, "nothing was done"); len(d.sent(method+" "+path)) > 0 {
				t.Errorf("without consent %q was sent", d.sent(method+" "+path))
			}
			d.want(d.run(append(args, "--yes")...), 0, c.text)
			if got := d.sent(method + " " + path); len(got) != 1 || got[0] != c.sent {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
		})
	}
}

func TestSchedules_Preview(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /schedules", `{"items":[{"id":"sch_1","name":"Nights"}],"total":1}`)
	d.answer("GET /schedules/sch_1/preview", `{"resourceCount":3,"withoutRate":1,"expectedSavingUSD":"12.50","firings":[
		{"at":"2026-12-01T19:00:00Z","localTime":"2026-12-01T20:00:00+01:00","action":"stop","actsOn":2,
		 "leftOut":{"calendar":1},"skipped":null,"expectedSavingUSD":"12.50"}]}`)
	r := d.run("schedules", "preview", "Nights", "--to", "2026-12-02", "-o", "csv")
	d.want(r, 0, "2026-12-01T20:00:00+01:00,2026-12-01T19:00:00Z,stop,2,calendar=1,,12.50,", "Saves $12.50",
		"1 of 3 resources have no known price")
	if got := d.sent("GET /schedules/sch_1/preview"); got[0] != "GET /schedules/sch_1/preview?to=2026-12-02" {
		t.Errorf("sent %q", got)
	}
}
