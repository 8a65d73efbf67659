package overrides

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/testkit/apitest"
)

// newLink makes a wake link of the group and returns the path of its page.
func (a *fixture) newLink(body map[string]any) (NewLink, string) {
	a.Helper()
	if body == nil {
		body = map[string]any{}
	}
	l := apitest.Data[NewLink](a.call("POST /resource-groups/"+a.group.ID+"/wake-links", body))
	_, token, _ := strings.Cut(l.URL, "/wake/")
	return l, "/wake/" + token
}

// visitPage asks without a log-in.
func (a *fixture) visitPage(request string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller("", "", ""), request)
}

func TestWake_ThePageChangesNothingAndItsButtonStarts(t *testing.T) {
	a := newFixture(t)
	l, page := a.newLink(map[string]any{"name": "Demo <shop>", "maxHours": 4})
	for range 3 {
		w := a.visitPage("GET "+page).Want(200, "Demo &lt;shop&gt;", "Shop: 3 resources", "not known", "Start it now",
			a.Clock.Now().Add(4*time.Hour).Format("15:04 UTC"))
		if got := w.Header.Get("Content-Type") + w.Header.Get("Cache-Control") +
			w.Header.Get("Referrer-Policy"); got != "text/html; charset=utf-8no-storeno-referrer" {
			t.Error(got)
		}
	}
	if n := len(a.listBulks()); n != 0 {
		t.Fatalf("looking at the page queued %d bulk actions", n)
	}
	if w := a.visitPage("POST "+page).Want(200, "Starting", "Runs until"); strings.Contains(w.Body, "<button") {
		t.Error("the button is still there")
	}
	b := a.listBulks()
	if len(b) != 1 || b[0].Type != "start" || b[0].Total != 3 || b[0].Plan.ChangedBy != "override:force_on" {
		t.Fatalf("%+v", b)
	}
	a.visitPage("POST "+page).Want(200, "Runs until") // again: nothing more
	os := apitest.Data[rest.List[Override]](a.call("GET /overrides"))
	if len(a.listBulks()) != 1 || os.Total != 1 || os.Items[0].CreatedBy != l.ID ||
		!os.Items[0].ExpiresAt.Equal(a.Clock.Now().Add(4*time.Hour)) {
		t.Errorf("%+v", os)
	}
	got := apitest.Data[rest.List[WakeLink]](a.call("GET /wake-links"))
	if got.Total != 1 || got.Items[0].Starts != 1 || got.Items[0].LastUsedAt == nil ||
		strings.Contains(a.call("GET /wake-links").Body, strings.TrimPrefix(page, "/wake/")) {
		t.Errorf("%+v", got)
	}
}

func TestWake_EndsInAStopWhereNoScheduleWantsAnything(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(map[string]any{"maxHours": 1})
	a.visitPage("POST " + page).Want(200)
	o := apitest.Data[rest.List[Override]](a.call("GET /overrides")).Items[0]
	a.Clock.Advance(time.Hour)
	apitest.Value(evaluation.New(a.Platform).EndOverride(a.In(ours), ours, o.ID, ""))(a)
	b := a.listBulks()
	if last := b[len(b)-1]; len(b) != 2 || last.Type != "stop" || last.Plan.ChangedBy != "override_expired:force_on" {
		t.Errorf("%+v", b)
	}
}

func TestWake_WhateverIsWrongIsOneAnswer(t *testing.T) {
	a := newFixture(t)
	l, page := a.newLink(nil)
	expired, old := a.newLink(map[string]any{"expiresAt": a.timeIn(time.Hour)})
	secret, signature, _ := strings.Cut(strings.TrimPrefix(page, "/wake/"), "-")
	a.Clock.Advance(2 * time.Hour)
	revoked, gone := a.newLink(nil)
	a.call("DELETE /wake-links/"+revoked.ID).Want(200, revoked.ID)
	a.call("DELETE /wake-links/" + revoked.ID).Want(404)
	a.Call(apitest.Caller(theirs, "eve", "*:*"), "DELETE /wake-links/"+l.ID).Want(404)
	want := a.visitPage("GET /wake/nothing").Want(404, "does not work")
	for name, path := range map[string]string{
		"expired " + expired.ID: old, "revoked": gone,
		"of another signature": "/wake/" + secret + "-" + strings.Repeat("A", len(signature)),
		"without a signature":  "/wake/" + secret,
		"a character off":      "/wake/" + string(secret[0]^1) + secret[1:] + "-" + signature,
	} {
		for _, method := range []string{"GET ", "POST "} {
			if w := a.visitPage(method + path).Want(404); w.Body != want.Body {
				t.Errorf("%s %s: %s", method, name, w.Body)
			}
		}
	}
	a.visitPage("GET " + page).Want(200)
}

func TestWake_ATokenIsStoredAsAHash(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(nil)
	token := strings.TrimPrefix(page, "/wake/")
	for _, it := range apitest.Rows[map[string]any](a.Fixture, override.WakeLinkPK(ours)) {
		if strings.Contains(fmt.Sprint(it), token) {
			t.Errorf("%v", it)
		}
	}
	for _, r := range a.Audited(ours) {
		if text := apitest.JSON(r); strings.Contains(text, token) {
			t.Errorf("the audit log has the token: %s", text)
		}
	}
}

func TestWake_TheQuotaOfADayHolds(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(map[string]any{"startsPerDay": 2})
	for n := range 3 {
		if w := a.visitPage("POST " + page); n < 2 {
			w.Want(200, "Starting")
			a.call("DELETE /overrides/" +
				apitest.Data[rest.List[Override]](a.call("GET /overrides?status=active")).Items[0].ID).Want(200)
		} else {
			w.Want(429, "2 times today")
		}
		a.Clock.Advance(time.Minute)
	}
	a.Clock.Advance(24 * time.Hour)
	a.visitPage("POST "+page).Want(200, "Starting")
}

func TestWake_ManyAtOnceStartOnce(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { a.visitPage("POST "+page).Want(200, "Runs until") })
	}
	wg.Wait()
	if l := apitest.Data[rest.List[WakeLink]](a.call("GET /wake-links")); len(a.listBulks()) != 1 ||
		l.Items[0].Starts != 1 {
		t.Errorf("%d bulk actions, %+v", len(a.listBulks()), l.Items)
	}
}

func TestWake_DoesNotBeatAnOverrideThatHoldsOff(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(nil)
	a.holdGroup(override.ForceOff, time.Hour)
	for _, method := range []string{"GET ", "POST "} {
		w := a.visitPage(method + page)
		if want := map[string]int{"GET ": 200, "POST ": 409}[method]; w.Status != want ||
			strings.Contains(w.Body, "<button") || !strings.Contains(w.Body, "held off") {
			t.Errorf("%s %d %s", method, w.Status, w.Body)
		}
	}
	if n := len(a.listBulks()); n != 1 {
		t.Errorf("%d bulk actions", n)
	}
}

func TestWake_OneAddressGetsSoManyPages(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(nil)
	for n := range pagesPerSource.Max + 1 {
		want := http.StatusOK
		if n == pagesPerSource.Max {
			want = http.StatusTooManyRequests
		}
		a.visitPage("GET " + page).Want(want)
	}
	a.Clock.Advance(10 * time.Minute)
	a.visitPage("GET " + page).Want(200)
}

func TestWake_OfAResource(t *testing.T) {
	a := newFixture(t)
	l := apitest.Data[NewLink](a.call("POST /resources/"+a.ids[5]+"/wake-links", map[string]any{}))
	if *l.ResourceID != a.ids[5] || l.GroupID != nil || l.MaxHours != 12 || l.StartsPerDay != 3 {
		t.Errorf("%+v", l)
	}
	a.call("POST /resources/res_01k00000000000000000000009/wake-links", map[string]any{}).Want(404)
	a.call("POST /resources/"+a.ids[5]+"/wake-links", map[string]any{"expiresAt": a.timeIn(-time.Hour)}).Want(400,
		"expiresAt")
	a.call("POST /resources/"+a.ids[5]+"/wake-links", map[string]any{"maxHours": 169}).Want(400, "maxHours")
}
