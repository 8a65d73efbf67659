package sso

import (
	"crypto/x509"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"

	"lamplighter.dev/shared/testkit/apitest"
)

// crew is another maker's identity provider, in this process. It goes by the machine's clock, reads our metadata, and
// signs both the assertion and the whole.
type crew struct{ *saml.IdentityProvider }

func address(s string) url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return *u
}

func newCrew(h *fixture) crew {
	cert := apitest.Value(x509.ParseCertificate(genuine().der))(h)
	return crew{&saml.IdentityProvider{
		Key: genuine().key, Certificate: cert, SignatureMethod: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
		MetadataURL: address("https://crew.test/metadata"), SSOURL: address("https://crew.test/sso"), ServiceProviderProvider: us{h},
	}}
}

func (c crew) metadata() []byte {
	b, err := xml.Marshal(c.Metadata())
	if err != nil {
		panic(err)
	}
	return b
}

// us tells a provider about us, by our own metadata.
type us struct{ h *fixture }

func (u us) GetServiceProvider(_ *http.Request, id string) (*saml.EntityDescriptor, error) {
	a := u.h.do(http.MethodGet, metadataPath, "", nil)
	var e saml.EntityDescriptor
	if err := xml.Unmarshal([]byte(a.Body), &e); err != nil || e.EntityID != id {
		u.h.Errorf("metadata of %q, asked for %q: %v", e.EntityID, id, err)
	}
	return &e, nil
}

func (c crew) answer(h *fixture, u *url.URL) []byte {
	h.Helper()
	req, err := saml.NewIdpAuthnRequest(c.IdentityProvider, httptest.NewRequest(http.MethodGet, u.String(), nil))
	if err == nil {
		err = req.Validate()
	}
	if err != nil {
		h.Fatalf("the provider does not take our request: %v", err)
	}
	session := &saml.Session{
		NameID: ada, NameIDFormat: emailFormat, UserEmail: ada, UserCommonName: "Ada Lovelace", CreateTime: h.Platform.Clock.Now(), Index: "1",
	}
	if err = (saml.DefaultAssertionMaker{}).MakeAssertion(req, session); err == nil {
		err = req.MakeResponse()
	}
	h.Must(err)
	doc := etree.NewDocument()
	doc.SetRoot(req.ResponseEl)
	b := apitest.Value(doc.WriteToBytes())(h)
	return b
}

// check 25, at another maker's provider.
func TestAttacksOnAResponseOfCrewjam(t *testing.T) {
	h := newFixture(t).atMachineTime()
	c := newCrew(h)
	h.found("owner@example.com").connect(c.metadata(), "example.com")
	besieged(t, h, c)
}

// judge is another maker's service provider in our place: an oracle, for what it refuses must not be accepted here.
func judge(h *fixture, metadata []byte) *saml.ServiceProvider {
	h.Helper()
	var e saml.EntityDescriptor
	h.Must(xml.Unmarshal(metadata, &e))
	return &saml.ServiceProvider{
		EntityID: h.Settings.BaseURL + metadataPath, MetadataURL: address(h.Settings.BaseURL + metadataPath),
		AcsURL: address(h.Settings.BaseURL + acsPath), IDPMetadata: &e,
	}
}

// TestWhatCrewjamRefusesIsRefused sends each attack to both. The other way round it is not so: crewjam lets the signed
// person in where a forged assertion lies beside, and the same response again.
func TestWhatCrewjamRefusesIsRefused(t *testing.T) {
	h := newFixture(t).atMachineTime()
	c := newCrew(h)
	h.found("owner@example.com").connect(c.metadata(), "example.com")
	oracle := judge(h, c.metadata())
	u := h.begin(ada)
	good, request := c.answer(h, u), readRequest(t, u).ID
	believed := func(doc []byte) bool {
		a, err := oracle.ParseXMLResponse(doc, []string{request}, oracle.AcsURL)
		if err == nil && a.Subject.NameID.Value != ada {
			t.Errorf("the oracle itself is deceived: it takes it for %s", a.Subject.NameID.Value)
		}
		return err == nil
	}
	lenient := 0
	for _, a := range append(append([]attack{}, wrappings...), texts...) {
		doc := a.change(good, "http://nobody.test")
		if doc == nil {
			continue
		}
		if believed(doc) {
			lenient++
		}
		if h.finish(doc).Status == http.StatusOK {
			t.Errorf("%s: let in", a.name)
		}
	}
	if !believed(good) || h.finish(good).Status != http.StatusOK {
		t.Error("the genuine response is not believed")
	}
	t.Logf("crewjam believes %d that are refused here", lenient)
}

// The machine's clock and the oracle's must be one for the comparison to mean anything.
func TestTheOracleGoesByTheMachine(t *testing.T) {
	if d := time.Since(saml.TimeNow()); d > time.Minute || d < -time.Minute {
		t.Errorf("%s apart", d)
	}
}
