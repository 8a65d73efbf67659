package sso

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crewjam/saml"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

func TestOurMetadataAreWhatAProviderReads(t *testing.T) {
	h := newFixture(t)
	a := h.do(http.MethodGet, metadataPath, "", nil)
	a.want(t, http.StatusOK)
	var e saml.EntityDescriptor
	if err := xml.Unmarshal([]byte(a.Body), &e); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	sp := e.SPSSODescriptors[0]
	acs := sp.AssertionConsumerServices
	if e.EntityID != "https://lamplighter.test/auth/saml/metadata" || len(acs) != 1 ||
		acs[0].Location != "https://lamplighter.test/auth/saml/acs" || acs[0].Binding != saml.HTTPPostBinding {
		t.Errorf("%+v", e)
	}
	if !*sp.WantAssertionsSigned || *sp.AuthnRequestsSigned || sp.NameIDFormats[0] != saml.EmailAddressNameIDFormat ||
		len(sp.KeyDescriptors) != 0 {
		t.Errorf("%+v", sp)
	}
}

// The error about invalid metadata names the field that contained them.
func TestMetadataThatAreNotTaken(t *testing.T) {
	h := newFixture(t)
	a := h.newOrganization("owner@example.com").setAs(grant.Owner, http.StatusBadRequest,
		map[string]any{"metadataXML": "<a/>"})
	if !strings.Contains(a.Body, "metadataXML: the document is <a>, not metadata of SAML 2.0") {
		t.Error(a.Body)
	}
}

func TestMetadataFromAnAddress(t *testing.T) {
	h := newFixture(t)
	o, w := h.newOrganization("owner@example.com"), newProvider()
	var asked atomic.Int64
	answer := func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(w.Metadata()) }
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(rw, r)
	}))
	defer server.Close()
	got := o.putSettings(map[string]any{"metadataURL": server.URL + "/metadata"})
	if got["entityID"] != w.EntityID || got["metadataURL"] != server.URL+"/metadata" || asked.Load() != 1 {
		t.Errorf("%v, asked %d times", got, asked.Load())
	}
	o.putSettings(map[string]any{})
	if asked.Load() != 1 {
		t.Error("fetched again without being told to")
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		why    string
		asked  int64
	}{
		"a redirect": {func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://169.254.169.254/", http.StatusFound)
		}, "302", 1},
		"not there": {http.NotFound, "404", 1},
		"broken": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusBadGateway)
		}, "502", 2},
		"too long": {func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write(make([]byte, 1<<20+1))
		}, "1 MiB", 1},
		"a secret": {func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write([]byte("<secret>s3cr3t</secret>"))
		}, "metadataURL", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			asked.Store(0)
			answer = tt.answer
			a := o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"metadataURL": server.URL})
			if !strings.Contains(a.Body, tt.why) || strings.Contains(a.Body, "s3cr3t") || asked.Load() != tt.asked {
				t.Errorf("asked %d times: %s", asked.Load(), a.Body)
			}
		})
	}
}

// check 60: the address goes through the guard, whose own tests try the long list.
func TestMetadataFromAnAddressOfOurOwn(t *testing.T) {
	h := newFixture(t)
	o := h.newOrganization("owner@example.com")
	for _, private := range []bool{false, true} {
		h.Settings.PrivateAddresses = private
		for _, address := range []string{
			"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/",
			"file:///etc/passwd",
			"gopher://x.test/", "http://user:pass@x.test/", "", "https://x.test:22/\r\nX: y", "//x.test",
		} {
			a := o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"metadataURL": address})
			if !strings.Contains(a.Body, "metadataURL") {
				t.Errorf("%q: %s", address, a.Body)
			}
		}
	}
	h.Settings.PrivateAddresses = false
	reached := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	defer reached.Close()
	o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"metadataURL": reached.URL})
	if err := (ssrfguard.Policy{}).CheckAddress(reached.URL); err == nil {
		t.Error("the guard lets loopback pass")
	}
}
