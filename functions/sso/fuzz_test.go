package sso

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/samltest"
)

// FuzzForm sends a possible browser form with a response to a request that is opened again each time. Only the
// person signed in by the provider gets in, and no input causes an internal error. Documents alone are fuzzed in
// functions/sso/saml.
func FuzzForm(f *testing.F) {
	h := newFixture(f)
	org, w := h.newOrganization("owner@example.com").org, newProvider()
	h.openFor(org, w)
	for _, s := range h.seedForms(w) {
		f.Add(url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(s)}, "RelayState": {"x"}}.Encode())
	}
	f.Fuzz(func(t *testing.T, body string) {
		h.TB = t
		h.reopen(org)
		h.checkForm(body)
	})
}

const (
	fuzzRequest   = "_fuzzed"
	fuzzAssertion = "_assertion"
)

// openFor writes the setup as it would be stored. All of it is the same in each process of the fuzzer.
func (h *fixture) openFor(org string, w provider) {
	h.Helper()
	h.Put(identity.SSOKey(org), setup{
		Provider:    saml.Provider{EntityID: w.EntityID, SSOURL: w.SSOURL, Certificates: [][]byte{w.Signer.DER}},
		DefaultRole: grant.Viewer, Domains: []domain{{Name: "example.com", Verified: h.Platform.Clock.Now()}},
		Version: 1,
	})
}

// reopen lets the request be answered, and the assertion be used, once more.
func (h *fixture) reopen(org string) {
	h.Helper()
	s := newService(h.Platform)
	h.Put(s.requestKey(fuzzRequest), request{Org: org})
	h.Write(table.Delete(s.seenKey(org, fuzzAssertion)))
}

// seedForms returns genuine responses, signed in each way, and results of some attacks.
func (h *fixture) seedForms(w provider) [][]byte {
	r := samltest.Request{
		ID: fuzzRequest, ACSURL: h.Settings.BaseURL + acsPath,
		Issuer: h.Settings.BaseURL + metadataPath,
	}
	s := w.respond(h, r, ada)
	s.ID, s.AssertionID = "_response", fuzzAssertion
	return samltest.Seeds(h.TB, s)
}

// checkForm sends a form. Only the first three seeds get in.
func (h *fixture) checkForm(body string) {
	h.Helper()
	a := h.do(http.MethodPost, acsPath, formKind, strings.NewReader(body))
	switch {
	case a.Status >= http.StatusInternalServerError:
		h.Errorf("status %d: %s", a.Status, a.Body)
	case a.Status == http.StatusOK && a.Data["user"].(map[string]any)["email"] != ada:
		h.Errorf("forged %v", a.Data["user"])
	case a.Status == http.StatusForbidden:
		h.Errorf("a signed assertion says something else than it did: %s", a.Body)
	}
}
