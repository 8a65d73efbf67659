package sso

import (
	"crypto/x509"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crewjam/saml"

	"lamplighter.dev/shared/api/identity"
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
	if e.EntityID != "https://lamplighter.test/auth/saml/metadata" || len(acs) != 1 || acs[0].Location != "https://lamplighter.test/auth/saml/acs" || acs[0].Binding != saml.HTTPPostBinding {
		t.Errorf("%+v", e)
	}
	if !*sp.WantAssertionsSigned || *sp.AuthnRequestsSigned || sp.NameIDFormats[0] != saml.EmailAddressNameIDFormat || len(sp.KeyDescriptors) != 0 {
		t.Errorf("%+v", sp)
	}
}

func TestMetadataThatAreNotTaken(t *testing.T) {
	h := newFixture(t)
	o, good := h.found("owner@example.com"), string(newTwin().metadata())
	now := h.Platform.Clock.Now()
	replace := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("no %q in %s", from, good)
		}
		return strings.Replace(good, from, to, 1)
	}
	signedBy := func(s signer) string { return string(metadataOf("https://idp.test", "https://idp.test/sso", s.der)) }
	for name, tt := range map[string]struct{ xml, why string }{
		"no XML":                   {"hello", "not XML"},
		"another document":         {`<a/>`, "not metadata"},
		"a service provider":       {replace("IDPSSODescriptor", "SPSSODescriptor"), "not XML"},
		"no provider":              {`<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>`, "0 identity providers"},
		"two providers":            {`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">` + strings.TrimPrefix(good, `<?xml version="1.0"?>`) + strings.TrimPrefix(good, `<?xml version="1.0"?>`) + `</EntitiesDescriptor>`, "2 identity providers"},
		"no name":                  {replace("https://idp.test/metadata", ""), "entityID"},
		"no certificate":           {string(metadataOf("https://idp.test", "https://idp.test/sso")), "no certificate for signing"},
		"a certificate to encrypt": {replace(`use="signing"`, `use="encryption"`), "no certificate for signing"},
		"a broken certificate":     {replace(`<X509Certificate>MII`, `<X509Certificate>AAA`), "cannot be read"},
		"a certificate of SHA-1":   {signedBy(certify(genuine().key, func(c *x509.Certificate) { c.SignatureAlgorithm = x509.SHA1WithRSA })), "SHA1"},
		"a short key":              {signedBy(newSigner(1024, func(*x509.Certificate) {})), "2048 bits"},
		"an expired certificate":   {signedBy(certify(genuine().key, func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Hour) })), "expired"},
		"expired":                  {replace(`entityID=`, `validUntil="2026-03-10T09:00:00Z" entityID=`), "expired"},
		"expired as a provider":    {replace(`<IDPSSODescriptor `, `<IDPSSODescriptor validUntil="2020-01-01T00:00:00" `), "expired"},
		"an end that is none":      {replace(`entityID=`, `validUntil="soon" entityID=`), "not a time"},
		"wants signed requests":    {replace(`<IDPSSODescriptor `, `<IDPSSODescriptor WantAuthnRequestsSigned="true" `), "signed requests"},
		"SAML 1":                   {replace("SAML:2.0:protocol", "SAML:1.1:protocol"), "SAML 2.0"},
		"no redirect binding":      {replace(redirectBinding, "urn:other"), "HTTP-Redirect"},
		"a script":                 {replace("https://idp.test/sso", "javascript:alert(1)"), "web page"},
		"FTP":                      {replace("https://idp.test/sso", "ftp://idp.test/sso"), "https://"},
		"a password in an address": {replace("https://idp.test/sso", "https://a:b@idp.test/sso"), "web page"},
		"old methods only":         {replace(`<IDPSSODescriptor `, `<Extensions><SigningMethod xmlns="urn:oasis:names:tc:SAML:metadata:algsupport" Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/></Extensions><IDPSSODescriptor `), "SHA-1"},
		"a DOCTYPE":                {`<!DOCTYPE x [<!ENTITY a "b">]>` + strings.TrimPrefix(good, `<?xml version="1.0"?>`), "DOCTYPE"},
		"deep":                     {strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100), "64 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			a := o.setAs(identity.Owner, http.StatusBadRequest, map[string]any{"metadataXML": tt.xml})
			if !strings.Contains(a.Body, tt.why) || !strings.Contains(a.Body, "metadataXML") {
				t.Errorf("want %q in %s", tt.why, a.Body)
			}
		})
	}
}

func TestMetadataThatAreTaken(t *testing.T) {
	h := newFixture(t)
	o, good := h.found("owner@example.com"), string(newTwin().metadata())
	old := certify(genuine().key, func(c *x509.Certificate) { c.NotAfter = h.Platform.Clock.Now().Add(-time.Hour) })
	for name, xml := range map[string]string{
		"plain":                    good,
		"in a list":                `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntityDescriptor entityID="sp"/>` + strings.TrimPrefix(good, `<?xml version="1.0"?>`) + `</EntitiesDescriptor>`,
		"for any use":              strings.Replace(good, ` use="signing"`, "", 1),
		"an old one besides":       string(metadataOf("https://idp.test", "https://idp.test/sso", old.der, genuine().der, genuine().der)),
		"with a method of SHA-256": strings.Replace(good, `<KeyDescriptor `, `<Extensions><SigningMethod xmlns="urn:oasis:names:tc:SAML:metadata:algsupport" Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/></Extensions><KeyDescriptor `, 1),
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			if got := o.set(map[string]any{"metadataXML": xml}); len(got["certificates"].([]any)) != 1 {
				t.Errorf("%v", got["certificates"])
			}
		})
	}
	h.TB = t
	h.Settings.PrivateAddresses = false
	a := o.setAs(identity.Owner, http.StatusBadRequest, map[string]any{"metadataXML": strings.ReplaceAll(good, "https://idp.test/sso", "http://idp.test/sso")})
	if !strings.Contains(a.Body, "https://") {
		t.Error(a.Body)
	}
	h.Settings.PrivateAddresses = true
	o.set(map[string]any{"metadataXML": strings.ReplaceAll(good, "https://idp.test/sso", "http://idp.test/sso")})
}

func TestMetadataFromAnAddress(t *testing.T) {
	h := newFixture(t)
	o, w := h.found("owner@example.com"), newTwin()
	var asked atomic.Int64
	answer := func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(w.metadata()) }
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(rw, r)
	}))
	defer server.Close()
	got := o.set(map[string]any{"metadataURL": server.URL + "/metadata"})
	if got["entityID"] != w.entity || got["metadataURL"] != server.URL+"/metadata" || asked.Load() != 1 {
		t.Errorf("%v, asked %d times", got, asked.Load())
	}
	o.set(map[string]any{})
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
		"broken":    {func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }, "502", 2},
		"too long":  {func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(make([]byte, maxMetadata+1)) }, "1 MiB", 1},
		"a secret":  {func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("<secret>s3cr3t</secret>")) }, "metadataURL", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			asked.Store(0)
			answer = tt.answer
			a := o.setAs(identity.Owner, http.StatusBadRequest, map[string]any{"metadataURL": server.URL})
			if !strings.Contains(a.Body, tt.why) || strings.Contains(a.Body, "s3cr3t") || asked.Load() != tt.asked {
				t.Errorf("asked %d times: %s", asked.Load(), a.Body)
			}
		})
	}
}

// check 60: the address goes through the guard, whose own tests try the long list.
func TestMetadataFromAnAddressOfOurOwn(t *testing.T) {
	h := newFixture(t)
	o := h.found("owner@example.com")
	for _, private := range []bool{false, true} {
		h.Settings.PrivateAddresses = private
		for _, address := range []string{
			"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/", "file:///etc/passwd",
			"gopher://x.test/", "http://user:pass@x.test/", "", "https://x.test:22/\r\nX: y", "//x.test",
		} {
			a := o.setAs(identity.Owner, http.StatusBadRequest, map[string]any{"metadataURL": address})
			if !strings.Contains(a.Body, "metadataURL") {
				t.Errorf("%q: %s", address, a.Body)
			}
		}
	}
	h.Settings.PrivateAddresses = false
	reached := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	defer reached.Close()
	o.setAs(identity.Owner, http.StatusBadRequest, map[string]any{"metadataURL": reached.URL})
	if err := (ssrfguard.Policy{}).Check(reached.URL); err == nil {
		t.Error("the guard lets loopback pass")
	}
}
