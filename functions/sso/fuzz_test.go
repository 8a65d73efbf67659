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
	h := newHouse(f)
	org, w := h.found("owner@example.com").org, newTwin()
	h.openFor(org, w)
	for _, s := range h.seeds(w) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		h.t = t
		h.reopen(org)
		body := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(doc)}}.Encode()
		h.survives(body)
	})
}

// FuzzForm sends what is no form of a browser.
func FuzzForm(f *testing.F) {
	h := newHouse(f)
	org, w := h.found("owner@example.com").org, newTwin()
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

// FuzzMetadata reads what may be metadata.
func FuzzMetadata(f *testing.F) {
	h := newHouse(f)
	s := newService(h.p)
	f.Add(newTwin().metadata())
	f.Add([]byte(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntityDescriptor entityID="x"><IDPSSODescriptor/></EntityDescriptor></EntitiesDescriptor>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := s.parseMetadata("metadataXML", b)
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
func (h *house) openFor(org string, w *twin) {
	h.t.Helper()
	h.put(map[table.Key]any{identity.SSOKey(org): setup{
		Provider:    Provider{w.entity, w.sso, [][]byte{w.signer.der}},
		DefaultRole: identity.Viewer, Domains: []domain{{Name: "example.com", Verified: h.p.Clock.Now()}}, Version: 1,
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
func (h *house) seeds(w *twin) [][]byte {
	r := authnRequest{ID: fuzzRequest, ACS: h.p.Settings.BaseURL + acsPath, Issuer: h.p.Settings.BaseURL + metadataPath}
	var out [][]byte
	for _, change := range []func(*speech){
		func(*speech) {}, func(s *speech) { s.signAssertion, s.signResponse = false, true }, func(s *speech) { s.signResponse = true },
	} {
		s := w.says(h, r, ada)
		s.id, s.assertionID = "_response", fuzzAssertion
		change(&s)
		out = append(out, s.document(h.t))
	}
	for _, a := range wrappings {
		if doc := a.change(out[0], ""); doc != nil {
			out = append(out, doc)
		}
	}
	return out
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
