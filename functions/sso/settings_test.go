package sso

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/samltest"
)

func (o *organization) getSettings() map[string]any {
	o.h.Helper()
	a := o.askAs(grant.Owner, http.MethodGet, nil)
	a.want(o.h.TB, http.StatusOK)
	return a.Data
}

func (o *organization) setAs(role string, status int, body map[string]any) answer {
	o.h.Helper()
	a := o.askAs(role, http.MethodPut, body)
	a.want(o.h.TB, status)
	return a
}

func TestFromNoSettingsToNone(t *testing.T) {
	h := newFixture(t)
	o, w := h.newOrganization("owner@example.com"), newProvider()
	o.askAs(grant.Owner, http.MethodGet, nil).want(t, http.StatusNotFound)
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusNotFound)
	o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"domains": []string{"example.com"}}) // no metadata yet

	got := o.putSettings(map[string]any{
		"metadataXML": string(w.Metadata()),
		"domains":     []string{" Example.COM. ", "example.com", "second.test"},
	})
	if got["entityID"] != w.EntityID || got["ssoURL"] != w.SSOURL || got["defaultRole"] != grant.Viewer ||
		got["enforced"] != false {
		t.Errorf("%v", got)
	}
	cert := got["certificates"].([]any)[0].(map[string]any)
	if len(cert["fingerprint"].(string)) != 64 || cert["expiresAt"] != "2120-01-01T00:00:00Z" {
		t.Errorf("%v", cert)
	}
	if got["serviceProviderEntityID"] != "https://lamplighter.test/auth/saml/metadata" ||
		got["assertionConsumerServiceURL"] != "https://lamplighter.test/auth/saml/acs" {
		t.Errorf("%v", got)
	}
	ds := domainsOf(got)
	d := ds["example.com"]
	if len(ds) != 2 || d["verified"] != false || d["verifiedAt"] != nil ||
		d["txtName"] != "_lamplighter-challenge.example.com" ||
		!strings.Contains(d["reason"].(string), "no TXT record") {
		t.Errorf("%v", ds)
	}
	if value := d["txtValue"].(string); !strings.HasPrefix(value, "lamplighter-domain-verification=") ||
		len(value) < 50 || value == ds["second.test"]["txtValue"] {
		t.Errorf("a token that could be guessed: %q", value)
	}

	h.dns.Publish("_lamplighter-challenge.example.com", "lamplighter-domain-verification=another")
	if d := domainsOf(o.putSettings(map[string]any{}))["example.com"]; d["verified"] != false ||
		!strings.Contains(d["reason"].(string), "another text") {
		t.Errorf("%v", d)
	}
	h.dns.Publish("_lamplighter-challenge.example.com", d["txtValue"].(string))
	h.dns.Silence("_lamplighter-challenge.second.test", true)
	ds = domainsOf(o.putSettings(map[string]any{}))
	if d := ds["example.com"]; d["verified"] != true || d["verifiedAt"] == nil || d["reason"] != "" {
		t.Errorf("%v", d)
	}
	if d := ds["second.test"]; d["verified"] != false || !strings.Contains(d["reason"].(string), "DNS did not answer") {
		t.Errorf("%v", d)
	}
	asked := len(h.dns.Asked())
	if got := o.getSettings(); !slices.Equal(slices.Sorted(maps.Keys(domainsOf(got))),
		[]string{"example.com", "second.test"}) || len(h.dns.Asked()) != asked {
		t.Errorf("GET answers %v, and asked DNS %d times", got, len(h.dns.Asked())-asked)
	}
	o.putSettings(map[string]any{"domains": []string{"example.com"}})
	if slices.Contains(h.dns.Asked()[asked:], "_lamplighter-challenge.example.com") {
		t.Error("a proven domain was asked for again")
	}

	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	o.askAs(grant.Owner, http.MethodGet, nil).want(t, http.StatusNotFound)
	if _, err := table.Read[maildomain.Claim](anywhere(), h.Table, maildomain.ClaimKey("example.com")); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("the domain was not given back: %v", err)
	}
}

// check 43: a caller cannot set a default role, or a provider, that would let a person do more than the caller may.
func TestWhoMaySetWhat(t *testing.T) {
	h, o, w := newConnected(t)
	strong := id.New("role", h.Platform.Clock.Now())
	h.Put(identity.AccessKey(o.org), identity.Access{Members: 1, Owners: 1, Roles: map[string]identity.CustomRole{
		strong: {ID: strong, Name: "Strong", Policies: []string{"organisation:*"}},
	}})
	another := (provider{&samltest.Provider{
		EntityID: "https://evil.test", SSOURL: w.SSOURL,
		Signer: samltest.Attacker(),
	}}).Metadata()
	for name, tt := range map[string]struct {
		role   string
		body   map[string]any
		status int
	}{
		"an admin sets an admin": {grant.Admin, map[string]any{"defaultRole": grant.Admin}, http.StatusOK},
		"an admin sets what they lack": {
			grant.Admin,
			map[string]any{"defaultRole": strong},
			http.StatusForbidden,
		},
		"an owner sets it": {grant.Owner, map[string]any{"defaultRole": strong}, http.StatusOK},
		"an owner makes everybody owner": {
			grant.Owner,
			map[string]any{"defaultRole": grant.Owner},
			http.StatusBadRequest,
		},
		"a role that is none": {
			grant.Owner,
			map[string]any{"defaultRole": "role_none"},
			http.StatusBadRequest,
		},
		"an admin sets another provider": {
			grant.Admin,
			map[string]any{"metadataXML": string(another)},
			http.StatusForbidden,
		},
		"an admin sets the same provider": {
			grant.Admin,
			map[string]any{"metadataXML": string(w.Metadata())},
			http.StatusOK,
		},
		"an admin ends it for a domain": {grant.Admin, map[string]any{"domains": []string{}}, http.StatusOK},
		"an editor":                     {grant.Editor, map[string]any{}, http.StatusForbidden},
		"a viewer":                      {grant.Viewer, map[string]any{}, http.StatusForbidden},
		"no metadata":                   {grant.Owner, map[string]any{"metadataXML": nil}, http.StatusBadRequest},
		"two sources of metadata": {
			grant.Owner,
			map[string]any{"metadataXML": "x", "metadataURL": "https://x.test"},
			http.StatusBadRequest,
		},
		"too many domains": {
			grant.Owner,
			map[string]any{"domains": make([]string, 21)},
			http.StatusBadRequest,
		},
		"the default role is taken away": {grant.Admin, map[string]any{"defaultRole": nil}, http.StatusOK},
		"ids and versions are not the body's": {
			grant.Owner,
			map[string]any{"version": 99, "org": "org_x", "verified": true},
			http.StatusOK,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			o.setAs(tt.role, tt.status, tt.body)
		})
	}
	h.TB = t
	o.askAs(grant.Viewer, http.MethodGet, nil).want(t, http.StatusOK)
	o.askAs(grant.Viewer, http.MethodDelete, nil).want(t, http.StatusForbidden)
	if got := o.getSettings()["entityID"]; got != w.EntityID {
		t.Errorf("the provider is now %v", got)
	}
}

func TestChangesAreOnRecord(t *testing.T) {
	h, o, _ := newConnected(t)
	o.putSettings(map[string]any{"enforced": true})
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	apitest.LinkAudit(t, h.Platform, audit.PlaceOf(o.org))
	page, err := h.Table.Query(anywhere(), table.Query{PK: audit.PlaceOf(o.org).PK, Reverse: true, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.DecodeAll[audit.Row](page.Items)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	deleted, set := rows[0], rows[1]
	if deleted.Action != "deleteSAMLSettings" || deleted.Changes.Before == nil || deleted.Changes.After != nil ||
		deleted.Target != o.org {
		t.Errorf("%+v", deleted)
	}
	if set.Action != "setSAMLSettings" || set.Changes.Before == nil || set.Changes.After == nil ||
		set.Actor != "owner@example.com" {
		t.Errorf("%+v", set)
	}
}

func TestTwoChangesAtOnce(t *testing.T) {
	h, o, _ := newConnected(t)
	s := newService(h.Platform)
	have, err := s.readSetup(anywhere(), o.org)
	if err != nil {
		t.Fatal(err)
	}
	o.putSettings(map[string]any{"defaultRole": grant.Editor})
	ctx := identity.WithCaller(anywhere(), o.caller(grant.Owner))
	next := have
	next.Version++
	if err = s.storeSetup(ctx, have, next, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("written over another change: %v", err)
	}
	if got := o.getSettings()["defaultRole"]; got != grant.Editor {
		t.Errorf("the other change is lost: %v", got)
	}
}
