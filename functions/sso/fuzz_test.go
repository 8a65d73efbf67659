package sso

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/saml"
	"lamplighter.dev/shared/people/saml/samltest"
)

// FuzzForm sends what may be a form of a browser, with a response to a request that is opened anew each time. Whoever gets in
// is the one whom the provider signed in; nothing is a failure of ours. Documents alone are fuzzed in people/saml.
func FuzzForm(f *testing.F) {
	h := newHouse(f)
	org, w := h.found("owner@example.com").org, newProvider()
	h.openFor(org, w)
	for _, s := range h.seeds(w) {
		f.Add(url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(s)}, "RelayState": {"x"}}.Encode())
	}
	f.Fuzz(func(t *testing.T, body string) {
		h.t = t
		h.reopen(org)
		h.survives(body)
	})
}

const (
	fuzzRequest   = "_fuzzed"
	fuzzAssertion = "_assertion"
)

// openFor writes the setup as it would be stored. All of it is the same in each process of the fuzzer.
func (h *house) openFor(org string, w provider) {
	h.t.Helper()
	h.put(map[table.Key]any{identity.SSOKey(org): setup{
		Provider:    saml.Provider{EntityID: w.EntityID, SSOURL: w.SSOURL, Certificates: [][]byte{w.Signer.DER}},
		DefaultRole: grant.Viewer, Domains: []domain{{Name: "example.com", Verified: h.p.Clock.Now()}}, Version: 1,
	}})
}

// reopen lets the request be answered, and the assertion be used, once more.
func (h *house) reopen(org string) {
	h.t.Helper()
	s := newService(h.p)
	h.put(map[table.Key]any{s.requestKey(fuzzRequest): request{org}})
	if _, err := h.p.Table.Write(anywhere(), table.Delete(s.seenKey(org, fuzzAssertion))); err != nil {
		h.t.Fatal(err)
	}
}

// seeds are genuine responses, signed in each way, and what came of some attacks.
func (h *house) seeds(w provider) [][]byte {
	r := samltest.Request{ID: fuzzRequest, ACSURL: h.p.Settings.BaseURL + acsPath, Issuer: h.p.Settings.BaseURL + metadataPath}
	s := w.respond(h, r, ada)
	s.ID, s.AssertionID = "_response", fuzzAssertion
	return samltest.Seeds(h.t, s)
}

// survives sends a form. The first three seeds get in; nobody else does.
func (h *house) survives(body string) {
	h.t.Helper()
	a := h.do(identity.Caller{}, http.MethodPost, acsPath, formKind, strings.NewReader(body))
	switch {
	case a.status >= http.StatusInternalServerError:
		h.t.Errorf("status %d: %s", a.status, a.body)
	case a.status == http.StatusOK && a.Data["user"].(map[string]any)["email"] != ada:
		h.t.Errorf("forged %v", a.Data["user"])
	case a.status == http.StatusForbidden:
		h.t.Errorf("a signed assertion says something else than it did: %s", a.body)
	}
}
