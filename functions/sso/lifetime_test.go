package sso

import (
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
)

// refreshFor refreshes each half hour for so long, and returns when and why it failed.
func (h *fixture) refreshFor(first answer, last time.Duration) (time.Duration, error) {
	h.Helper()
	token := first.Data["refreshToken"].(string)
	for age := time.Duration(0); age < last; {
		h.Clock.Advance(30 * time.Minute)
		age += 30 * time.Minute
		out, err := sessions.New(h.Platform).Refresh(anywhere(), token, sessions.Refreshing{})
		if err != nil {
			return age, err
		}
		token = out.RefreshToken
	}
	return last, nil
}

func TestSession_AsksTheProviderAgain(t *testing.T) {
	for name, c := range map[string]struct {
		hours any
		want  time.Duration
	}{
		"after 12 hours, where nothing is set": {nil, 12 * time.Hour},
		"after the hour that is set":           {1, time.Hour},
		"after 24 hours at most":               {24, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			h, o, w := newConnected(t)
			o.putSettings(map[string]any{"sessionHours": c.hours})
			first := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
			if age, err := h.refreshFor(first, 48*time.Hour); age != c.want || !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("it was refused after %s: %v", age, err)
			}
		})
	}
}

// The access token that is made last ends with the session, and not a quarter of an hour later.
func TestSession_ItsLastAccessTokenEndsWithIt(t *testing.T) {
	h, o, w := newConnected(t)
	o.putSettings(map[string]any{"sessionHours": 1})
	first := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	if first.Data["expiresIn"] != 900.0 {
		t.Errorf("at first %v", first.Data["expiresIn"])
	}
	h.Clock.Advance(50 * time.Minute)
	out, err := sessions.New(h.Platform).Refresh(anywhere(), first.Data["refreshToken"].(string), sessions.Refreshing{})
	if err != nil || out.ExpiresIn != 600 {
		t.Errorf("%d seconds are left of the hour: %v", out.ExpiresIn, err)
	}
}

// A setting that is lowered applies to the sessions that are under way.
func TestSession_ALowerSettingAppliesAtOnce(t *testing.T) {
	h, o, w := newConnected(t)
	o.putSettings(map[string]any{"sessionHours": 24})
	first := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	h.Clock.Advance(3 * time.Hour)
	o.putSettings(map[string]any{"sessionHours": 2})
	_, err := sessions.New(h.Platform).Refresh(anywhere(), first.Data["refreshToken"].(string), sessions.Refreshing{})
	if !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a session of three hours, where two are allowed: %v", err)
	}
	if a := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)); a.SSOHours != 2 {
		t.Errorf("the authorizer reads %d hours", a.SSOHours)
	}
}

func TestSessionHours_AreFrom1To24(t *testing.T) {
	h, o, _ := newConnected(t)
	for _, hours := range []any{0, 25, -1, 1.5, "12"} {
		o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"sessionHours": hours})
	}
	if got := o.getSettings()["sessionHours"]; got != 12.0 {
		t.Errorf("without a setting: %v", got)
	}
	o.putSettings(map[string]any{"sessionHours": 24})
	o.putSettings(map[string]any{"sessionHours": nil})
	if got := o.getSettings()["sessionHours"]; got != 12.0 {
		t.Errorf("null restores the default, not %v", got)
	}
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	if a := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)); a.SSOHours != 0 || a.Members != 1 {
		t.Errorf("after the end of single sign-on: %+v", a)
	}
}

// The row that each request reads says the same as the record of the organization.
func TestEnforced_IsWhereEachRequestLooks(t *testing.T) {
	h, o, _ := newConnected(t)
	both := func() (record, access []string) {
		return apitest.Read[identity.OrganisationRecord](h.Fixture, identity.OrganisationKey(o.org)).SSO,
			apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)).SSODomains
	}
	for _, step := range []struct {
		body map[string]any
		want int
	}{
		{map[string]any{"enforced": true}, 1},
		{map[string]any{"enforced": false}, 0},
		{map[string]any{"enforced": true}, 1},
	} {
		o.putSettings(step.body)
		if record, access := both(); len(record) != step.want || len(access) != step.want {
			t.Errorf("%v: the record says %v, the row of each request %v", step.body, record, access)
		}
	}
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	if record, access := both(); record != nil || access != nil {
		t.Errorf("after the end: %v, %v", record, access)
	}
}
