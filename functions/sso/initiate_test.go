package sso

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/samltest"
)

func TestInitiate(t *testing.T) {
	h, o, w := newConnected(t)
	for name, body := range map[string]map[string]any{
		"somebody who is there": {"email": "owner@example.com"}, "nobody": {"email": "nobody@example.com"},
		"in other letters": {"email": " Nobody@EXAMPLE.com "}, "a domain": {"domain": "Example.com."},
	} {
		t.Run(name, func(t *testing.T) { // check 14: only the domain counts
			h.TB = t
			a := h.initiate(body)
			a.want(t, http.StatusOK)
			if len(a.Data) != 1 || !strings.HasPrefix(a.Data["redirectURL"].(string), w.SSOURL+"?") {
				t.Errorf("%v", a.Data)
			}
		})
	}
	h.TB = t
	calls := func(email string) int { // the work does not tell either
		sound := h.Table
		defer func() { h.Table = sound }()
		counting := table.NewFaultyStore(sound, h.Clock)
		h.Table = counting
		h.beginSignOn(email)
		return counting.CallCount()
	}
	if known, unknown := calls("owner@example.com"), calls("nobody@example.com"); known != unknown {
		t.Errorf("%d calls of the store for somebody, %d for nobody", known, unknown)
	}
	r := samltest.ReadRequest(t, h.beginSignOn(ada))
	if r.Destination != w.SSOURL || r.ACSURL != "https://lamplighter.test/auth/saml/acs" ||
		r.Issuer != "https://lamplighter.test/auth/saml/metadata" || len(r.ID) < 26 {
		t.Errorf("%+v", r)
	}
	if again := samltest.ReadRequest(t, h.beginSignOn(ada)); again.ID == r.ID || again.RelayState == r.RelayState {
		t.Error("two requests are one")
	}
	o.putSettings(map[string]any{"domains": []string{"example.com", "unproven.test"}})
	for name, body := range map[string]map[string]any{
		"a domain that is not proven": {"email": "x@unproven.test"}, "an unknown domain": {"domain": "unknown.test"},
		"a mail provider": {"email": "x@gmail.com"},
		"nothing":         {}, "both": {"email": ada, "domain": "example.com"}, "no address": {"email": "ada"},
		"no domain": {"domain": "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			h.initiate(body).want(t, http.StatusBadRequest)
		})
	}
}

func TestInitiateIsPaced(t *testing.T) {
	h, _, _ := newConnected(t)
	// where httptest says requests come from
	all := ratelimit.CountWrite(h.Platform.Clock.Now(), sourceRateLimit, "192.0.2.1")
	all.Changes[0] = table.Add("n", sourceRateLimit.Max-1)
	h.Write(all)
	h.beginSignOn(ada)
	h.initiate(map[string]any{"email": ada}).want(t, http.StatusForbidden)
	h.Clock.Advance(10 * time.Minute)
	h.beginSignOn(ada)
}

// The owner of one IPv6 address has all of its /64, so the network shares one limit.
func TestInitiateIsPacedForANetwork(t *testing.T) {
	h, _, _ := newConnected(t)
	all := ratelimit.CountWrite(h.Platform.Clock.Now(), sourceRateLimit, "2001:db8:0:1::/64")
	all.Changes[0] = table.Add("n", sourceRateLimit.Max)
	h.Write(all)
	for from, want := range map[string]int{
		"[2001:db8:0:1::1]:4711":   http.StatusForbidden,
		"[2001:db8:0:1:2::3]:4711": http.StatusForbidden,
		"[2001:db8:0:2::1]:4711":   http.StatusOK,
	} {
		r := httptest.NewRequest(http.MethodPost, "/auth/saml/initiate", strings.NewReader(`{"domain":"example.com"}`))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		if h.Handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("from %s: %d %s, want %d", from, w.Code, w.Body, want)
		}
	}
}

func TestADeploymentThatDoesNotKnowItsAddress(t *testing.T) {
	h, o, _ := newConnected(t)
	h.Settings.BaseURL = ""
	h.initiate(map[string]any{"email": ada}).want(t, http.StatusBadRequest)
	o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{})
	h.do(http.MethodGet, metadataPath, "", nil).want(t, http.StatusBadRequest)
}
