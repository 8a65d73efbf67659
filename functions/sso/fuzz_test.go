package sso

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// FuzzACS sends changed forms of a genuine response, whose request is opened anew each time. Whoever gets in is the one
// whom the provider signed in; nothing is a failure of ours.
func FuzzACS(f *testing.F) {
	h := newFixture(f)
	org, w := h.found("owner@example.com").org, newTwin()
	h.openFor(org, w)
	for _, s := range h.seeds(w) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		h.TB = t
		h.reopen(org)
		body := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(doc)}}.Encode()
		h.survives(body)
	})
}

// FuzzForm sends what is no form of a browser.
func FuzzForm(f *testing.F) {
	h := newFixture(f)
	org, w := h.found("owner@example.com").org, newTwin()
	h.openFor(org, w)
	for _, s := range h.seeds(w) {
		f.Add(url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(s)}, "RelayState": {"x"}}.Encode())
	}
	f.Fuzz(func(t *testing.T, body string) {
		h.TB = t
		h.reopen(org)
		h.survives(body)
	})
}

// FuzzMetadata reads what may be metadata.
func FuzzMetadata(f *testing.F) {
	h := newFixture(f)
	s := newService(h.Platform)
	f.Add(newTwin().metadata())
	f.Add([]byte(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntityDescriptor entityID="x"><IDPSSODescriptor/></EntityDescriptor></EntitiesDescriptor>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := s.understand("metadataXML", b)
		if err != nil {
			return
		}
		u, err := url.Parse(p.SSOURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || len(p.Certificates) == 0 || p.EntityID == "" {
			t.Errorf("taken: %+v", p)
		}
	})
}

const (
	fuzzRequest   = "_fuzzed"
	fuzzAssertion = "_assertion"
)

// openFor writes the setup as it would be stored. All of it is the same in each process of the fuzzer.
func (h *fixture) openFor(org string, w *twin) {
	h.Helper()
	h.Put(identity.SSOKey(org), setup{
		provider:    provider{w.entity, w.sso, [][]byte{w.signer.der}},
		DefaultRole: identity.Viewer, Domains: []domain{{Name: "example.com", Verified: h.Platform.Clock.Now()}}, Version: 1,
	})
}

// reopen lets the request be answered, and the assertion be used, once more.
func (h *fixture) reopen(org string) {
	h.Helper()
	s := newService(h.Platform)
	h.Put(s.requestKey(fuzzRequest), request{org})
	h.Write(table.Delete(s.seenKey(org, fuzzAssertion)))
}

// seeds are genuine responses, signed in each way, and what came of some attacks.
func (h *fixture) seeds(w *twin) [][]byte {
	r := authnRequest{ID: fuzzRequest, ACS: h.Settings.BaseURL + acsPath, Issuer: h.Settings.BaseURL + metadataPath}
	var out [][]byte
	for _, change := range []func(*speech){
		func(*speech) {}, func(s *speech) { s.signAssertion, s.signResponse = false, true }, func(s *speech) { s.signResponse = true },
	} {
		s := w.says(h, r, ada)
		s.id, s.assertionID = "_response", fuzzAssertion
		change(&s)
		out = append(out, s.document(h.TB))
	}
	for _, a := range wrappings {
		if doc := a.change(out[0], ""); doc != nil {
			out = append(out, doc)
		}
	}
	return out
}

// survives sends a form. The first three seeds get in; nobody else does.
func (h *fixture) survives(body string) {
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
