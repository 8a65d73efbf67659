package main

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions/auth"
)

// office is the identity provider of an organization, another maker's, which signs everybody in without asking.
type office struct {
	*saml.IdentityProvider
	t *testing.T
	e *testenv.Env
}

func openOffice(t *testing.T, e *testenv.Env) *office {
	t.Helper()
	b, err := os.ReadFile("../../shared/testkit/samltest/testdata/idp.pem")
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
	o := &office{&saml.IdentityProvider{
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
func (o *office) GetServiceProvider(_ *http.Request, _ string) (*saml.EntityDescriptor, error) {
	res, err := http.Get(o.e.URL + "/auth/saml/metadata")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var about saml.EntityDescriptor
	return &about, xml.NewDecoder(res.Body).Decode(&about)
}

// signs answers a request as the provider does through the browser of somebody.
func (o *office) signs(redirect, email string) url.Values {
	o.t.Helper()
	req, err := saml.NewIdpAuthnRequest(o.IdentityProvider, httptest.NewRequest(http.MethodGet, redirect, nil))
	if err == nil {
		err = req.Validate()
	}
	if err == nil {
		who := &saml.Session{NameID: email, NameIDFormat: string(saml.EmailAddressNameIDFormat), UserCommonName: "Ada",
			CreateTime: saml.TimeNow()}
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

// enters sends the form of a browser to us, and gives the client of whoever got in.
func (o *office) enters(status int, form url.Values) *testenv.Client {
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

// confined wants nothing of what the member has outside of the organization to be seen or touched: its provider must not
// come as its user into anything else.
func confined(t *testing.T, member *testenv.Client, foreign string) {
	t.Helper()
	var tokens []struct {
		ID string `json:"id"`
	}
	member.Call(http.MethodGet, "/personal-access-tokens", nil, &tokens)
	if len(tokens) != 0 {
		t.Errorf("sees tokens of elsewhere: %+v", tokens)
	}
	member.CallRefused(http.StatusNotFound, http.MethodDelete, "/personal-access-tokens/"+foreign, nil)
	member.CallRefused(http.StatusForbidden, http.MethodPost, "/organisations", map[string]string{"name": "Another"})
	var here struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}
	member.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Of here"}, &here)
	session := member.Token
	member.Token = here.Token
	member.Call(http.MethodGet, "/personal-access-tokens", nil, &tokens)
	if len(tokens) != 1 || tokens[0].ID != here.ID {
		t.Errorf("a token of here sees %+v", tokens)
	}
	member.Token = session
	member.Call(http.MethodDelete, "/personal-access-tokens/"+here.ID, nil, nil)
}

// TestSingleSignOnFromTheFirstSettingToThePasswordThatOpensNothing goes the whole way, through the gateway.
func TestSingleSignOnFromTheFirstSettingToThePasswordThatOpensNothing(t *testing.T) {
	t.Parallel()
	e := testenv.Start(t, testenv.Setup{})
	const ada = "ada@works.test"
	owner, o := e.NewOwner("owner@works.test"), openOffice(t, e)
	if _, err := auth.CreateVerifiedUser(t.Context(), e.Platform, ada, testenv.Password, "Ada"); err != nil {
		t.Fatal(err)
	}

	elsewhere := e.NewClient()
	elsewhere.LogIn(ada, "")
	elsewhere.Call(http.MethodPost, "/organisations", map[string]string{"name": "Ada's own"}, nil)
	var own struct {
		ID string `json:"id"`
	}
	elsewhere.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Ada's own"}, &own)

	var settings struct {
		Domains []struct {
			TXTName  string `json:"txtName"`
			TXTValue string `json:"txtValue"`
			Verified bool   `json:"verified"`
		} `json:"domains"`
	}
	owner.Call(http.MethodPut, "/organisation/saml",
		map[string]any{"metadataURL": o.MetadataURL.String(), "domains": []string{"works.test"}}, &settings)
	e.DNS.Publish(settings.Domains[0].TXTName, settings.Domains[0].TXTValue)
	owner.Call(http.MethodPut, "/organisation/saml", map[string]any{"enforced": true, "defaultRole": "operator"},
		&settings)
	if !settings.Domains[0].Verified {
		t.Fatalf("%+v", settings)
	}

	var begun struct {
		RedirectURL string `json:"redirectURL"`
	}
	e.NewClient().Call(http.MethodPost, "/auth/saml/initiate", map[string]string{"email": ada}, &begun)
	form := o.signs(begun.RedirectURL, ada)
	member := o.enters(http.StatusOK, form)
	o.enters(http.StatusUnauthorized, form)
	var orgs []struct {
		ID string `json:"id"`
	}
	member.Call(http.MethodGet, "/organisations", nil, &orgs)
	if len(orgs) != 1 || orgs[0].ID != owner.Org {
		t.Errorf("a member of %+v", orgs)
	}
	confined(t, member, own.ID)
	member.CallRefused(http.StatusForbidden, http.MethodPut, "/organisation/saml", map[string]any{"enforced": false})

	var refused *local.StatusError
	if _, err := e.NewClient().Login(t.Context(), ada, testenv.Password, owner.Org); !errors.As(err, &refused) ||
		refused.Status != http.StatusForbidden {
		t.Errorf("the password opens the organization: %v", err)
	}
	owner.LogIn("owner@works.test", owner.Org)
	owner.Call(http.MethodDelete, "/organisation/saml", nil, nil)
	if _, err := e.NewClient().Login(t.Context(), ada, testenv.Password, owner.Org); err != nil {
		t.Errorf("after it ended: %v", err)
	}
}
