package testenv

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
)

// Office is the identity provider of an organization, another maker's, which signs everybody in without asking.
type Office struct {
	*saml.IdentityProvider
	t *testing.T
	e *Env
}

// OpenOffice starts an identity provider that ends with the test.
func OpenOffice(t *testing.T, e *Env) *Office {
	t.Helper()
	b, err := os.ReadFile(root(t) + "/shared/testkit/samltest/testdata/idp.pem")
	if err != nil {
		t.Fatal(err)
	}
	secret, rest := pem.Decode(b)
	key, err := x509.ParsePKCS8PrivateKey(secret.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, _ := pem.Decode(rest)
	cert, err := x509.ParseCertificate(der.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	o := &Office{&saml.IdentityProvider{
		Key: key.(*rsa.PrivateKey), Certificate: cert,
		SignatureMethod: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
	}, t, e}
	mux := http.NewServeMux()
	mux.HandleFunc("/metadata", o.ServeMetadata)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.MetadataURL, o.SSOURL = *at.JoinPath("metadata"), *at.JoinPath("sso")
	o.ServiceProviderProvider = o
	return o
}

// GetServiceProvider reads about us where everybody does.
func (o *Office) GetServiceProvider(_ *http.Request, _ string) (*saml.EntityDescriptor, error) {
	res, err := http.Get(o.e.URL + "/auth/saml/metadata")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var about saml.EntityDescriptor
	return &about, xml.NewDecoder(res.Body).Decode(&about)
}

// Signs answers a request as the provider does through the browser of somebody.
func (o *Office) Signs(redirect, email string) url.Values {
	o.t.Helper()
	req, err := saml.NewIdpAuthnRequest(o.IdentityProvider, httptest.NewRequest(http.MethodGet, redirect, nil))
	if err == nil {
		err = req.Validate()
	}
	if err == nil {
		who := &saml.Session{
			NameID: email, NameIDFormat: string(saml.EmailAddressNameIDFormat), UserCommonName: "Ada",
			CreateTime: saml.TimeNow(),
		}
		err = saml.DefaultAssertionMaker{}.MakeAssertion(req, who)
	}
	if err == nil {
		err = req.MakeResponse()
	}
	if err != nil {
		o.t.Fatal(err)
	}
	doc := etree.NewDocument()
	doc.SetRoot(req.ResponseEl)
	b, err := doc.WriteToBytes()
	if err != nil {
		o.t.Fatal(err)
	}
	return url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(b)}, "RelayState": {req.RelayState}}
}

// Enters sends the form of a browser to us, and gives the client of whoever got in.
func (o *Office) Enters(status int, form url.Values) *Client {
	o.t.Helper()
	res, err := http.PostForm(o.e.URL+"/auth/saml/acs", form)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Data struct {
			AccessToken string `json:"accessToken"`
		} `json:"data"`
	}
	if err = json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != status {
		o.t.Fatalf("%d, want %d: %v", res.StatusCode, status, err)
	}
	c := o.e.NewClient()
	c.Token = answer.Data.AccessToken
	return c
}
