package saml

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/samltest"
)

func TestMetadataThatAreNotTaken(t *testing.T) {
	good, now := string(samltest.NewProvider().Metadata()), morning
	replace := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("no %q in %s", from, good)
		}
		return strings.Replace(good, from, to, 1)
	}
	signedBy := func(s samltest.Signer) string {
		return string(samltest.MetadataOf("https://idp.test", "https://idp.test/sso", s.DER))
	}
	for name, tt := range map[string]struct{ xml, why string }{
		"no XML":             {"hello", "not XML"},
		"another document":   {`<a/>`, "not metadata"},
		"a service provider": {replace("IDPSSODescriptor", "SPSSODescriptor"), "not XML"},
		"no provider": {
			`<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>`,
			"0 identity providers",
		},
		"two providers": {`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">` +
			strings.TrimPrefix(good, `<?xml version="1.0"?>`) + strings.TrimPrefix(good, `<?xml version="1.0"?>`) +
			`</EntitiesDescriptor>`, "2 identity providers"},
		"no name": {replace("https://idp.test/metadata", ""), "entityID"},
		"no certificate": {
			string(samltest.MetadataOf("https://idp.test", "https://idp.test/sso")),
			"no certificate for signing",
		},
		"a certificate to encrypt": {replace(`use="signing"`, `use="encryption"`), "no certificate for signing"},
		"a broken certificate":     {replace(`<X509Certificate>MII`, `<X509Certificate>AAA`), "cannot be read"},
		"a certificate of SHA-1": {signedBy(samltest.Certify(samltest.Genuine().Key, func(c *x509.Certificate) {
			c.SignatureAlgorithm = x509.SHA1WithRSA
		})), "SHA1"},
		"a short key": {signedBy(samltest.NewSigner(1024, func(*x509.Certificate) {})), "2048 bits"},
		"an expired certificate": {signedBy(samltest.Certify(samltest.Genuine().Key, func(c *x509.Certificate) {
			c.NotAfter = now.Add(-time.Hour)
		})), "expired"},
		"expired": {replace(`entityID=`, `validUntil="2026-03-10T09:00:00Z" entityID=`), "expired"},
		"expired as a provider": {replace(`<IDPSSODescriptor `,
			`<IDPSSODescriptor validUntil="2020-01-01T00:00:00" `), "expired"},
		"an end that is none": {replace(`entityID=`, `validUntil="soon" entityID=`), "not a time"},
		"wants signed requests": {
			replace(`<IDPSSODescriptor `, `<IDPSSODescriptor WantAuthnRequestsSigned="true" `),
			"signed requests",
		},
		"SAML 1":                   {replace("SAML:2.0:protocol", "SAML:1.1:protocol"), "SAML 2.0"},
		"no redirect binding":      {replace(redirectBinding, "urn:other"), "HTTP-Redirect"},
		"a script":                 {replace("https://idp.test/sso", "javascript:alert(1)"), "web page"},
		"FTP":                      {replace("https://idp.test/sso", "ftp://idp.test/sso"), "https://"},
		"a password in an address": {replace("https://idp.test/sso", "https://a:b@idp.test/sso"), "web page"},
		"old methods only": {replace(`<IDPSSODescriptor `,
			`<Extensions><SigningMethod xmlns="urn:oasis:names:tc:SAML:metadata:algsupport" `+
				`Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/></Extensions><IDPSSODescriptor `), "SHA-1"},
		"a DOCTYPE": {`<!DOCTYPE x [<!ENTITY a "b">]>` + strings.TrimPrefix(good,
			`<?xml version="1.0"?>`), "DOCTYPE"},
		"text after them":         {good + "x", "beside its one root"},
		"text before them":        {"x" + good, "beside its one root"},
		"a second provider after": {good + strings.TrimPrefix(good, `<?xml version="1.0"?>`), "beside its one root"},
		"an element before":       {"<a/>" + strings.TrimPrefix(good, `<?xml version="1.0"?>`), "beside its one root"},
		"half a tag after them":   {good + "<", "beside its one root"},
		"CDATA":                   {replace("<KeyDescriptor", "<![CDATA[x]]><KeyDescriptor"), "CDATA"},
		"an entityID twice":       {replace("entityID=", `entityID="https://evil.test" entityID=`), "twice"},
		"more than fits":          {good + strings.Repeat(" ", MaxMetadata), "1 MiB"},
		"deep":                    {strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100), "64 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseMetadata([]byte(tt.xml), morning, true)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), tt.why) {
				t.Errorf("want %q in %v", tt.why, err)
			}
		})
	}
}

func TestMetadataThatAreTaken(t *testing.T) {
	good := string(samltest.NewProvider().Metadata())
	old := samltest.Certify(samltest.Genuine().Key, func(c *x509.Certificate) { c.NotAfter = morning.Add(-time.Hour) })
	for name, xml := range map[string]string{
		"plain": good,
		"in a list": `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">` +
			`<EntityDescriptor entityID="sp"/>` +
			strings.TrimPrefix(good, `<?xml version="1.0"?>`) + `</EntitiesDescriptor>`,
		"for any use": strings.Replace(good, ` use="signing"`, "", 1),
		"an old one besides": string(samltest.MetadataOf("https://idp.test", "https://idp.test/sso", old.DER,
			samltest.Genuine().DER, samltest.Genuine().DER)),
		"with a method of SHA-256": strings.Replace(good, `<KeyDescriptor `,
			`<Extensions><SigningMethod xmlns="urn:oasis:names:tc:SAML:metadata:algsupport" `+
				`Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/></Extensions><KeyDescriptor `, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if p := parsed(t, []byte(xml), morning); len(p.Certificates) != 1 || p.SSOURL != "https://idp.test/sso" {
				t.Errorf("%+v", p)
			}
		})
	}
	plain := []byte(strings.ReplaceAll(good, "https://idp.test/sso", "http://idp.test/sso"))
	if _, err := ParseMetadata(plain, morning, false); !strings.Contains(fault.Message(err), "https://") {
		t.Error(err)
	}
	if p := parsed(t, plain, morning); p.SSOURL != "http://idp.test/sso" {
		t.Errorf("%+v", p)
	}
}
