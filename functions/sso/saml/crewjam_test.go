package saml

import (
	"crypto/x509"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"

	"lamplighter.dev/shared/testkit/samltest"
)

// crewProvider is an identity provider of another implementation, in this process. It uses the machine's clock, reads
// our metadata, and signs both the assertion and the response.
type crewProvider struct{ *crewjam.IdentityProvider }

func address(s string) url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return *u
}

func newCrew(t *testing.T) crewProvider {
	t.Helper()
	cert, err := x509.ParseCertificate(samltest.Genuine().DER)
	if err != nil {
		t.Fatal(err)
	}
	return crewProvider{&crewjam.IdentityProvider{
		Key: samltest.Genuine().Key, Certificate: cert,
		SignatureMethod: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
		MetadataURL:     address("https://crew.test/metadata"), SSOURL: address("https://crew.test/sso"),
		ServiceProviderProvider: ourMetadata{t},
	}}
}

func (c crewProvider) metadata(t *testing.T) []byte {
	t.Helper()
	b, err := xml.Marshal(c.Metadata())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ourMetadata tells a provider about us.
type ourMetadata struct{ t *testing.T }

func (o ourMetadata) GetServiceProvider(_ *http.Request, id string) (*crewjam.EntityDescriptor, error) {
	b, err := us.Metadata()
	if err != nil {
		return nil, err
	}
	var e crewjam.EntityDescriptor
	if err := xml.Unmarshal(b, &e); err != nil || e.EntityID != id {
		o.t.Errorf("metadata of %q, asked for %q: %v", e.EntityID, id, err)
	}
	return &e, nil
}

func (c crewProvider) answer(t *testing.T, address string) []byte {
	t.Helper()
	req, err := crewjam.NewIdpAuthnRequest(c.IdentityProvider, httptest.NewRequest(http.MethodGet, address, nil))
	if err == nil {
		err = req.Validate()
	}
	if err != nil {
		t.Fatalf("the provider does not take our request: %v", err)
	}
	session := &crewjam.Session{
		NameID: samltest.Ada, NameIDFormat: emailFormat, UserEmail: samltest.Ada, UserCommonName: "Ada Lovelace",
		CreateTime: time.Now(), Index: "1",
	}
	if err = (crewjam.DefaultAssertionMaker{}).MakeAssertion(req, session); err == nil {
		err = req.MakeResponse()
	}
	if err != nil {
		t.Fatal(err)
	}
	doc := etree.NewDocument()
	doc.SetRoot(req.ResponseEl)
	b, err := doc.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// check 25, at another maker's provider.
func TestAttacksOnAResponseOfCrewjam(t *testing.T) {
	c := newCrew(t)
	p := parsed(t, c.metadata(t), time.Now())
	attack(t, c.answer(t, begin(t, p)), Expected{p, us, "_begun", time.Now()})
}

// newOracle returns a service provider of another implementation in our place. It serves as an oracle: a response
// that it refuses must be refused here, too.
func newOracle(t *testing.T, metadata []byte) *crewjam.ServiceProvider {
	t.Helper()
	var e crewjam.EntityDescriptor
	if err := xml.Unmarshal(metadata, &e); err != nil {
		t.Fatal(err)
	}
	return &crewjam.ServiceProvider{
		EntityID: us.EntityID, MetadataURL: address(us.EntityID),
		AcsURL: address(us.ACSURL), IDPMetadata: &e,
	}
}

// TestWhatCrewjamRefusesIsRefused shows each attack to both. The other way round it is not so: crewjam lets the signed
// person in where a forged assertion lies beside, and the same response again.
func TestWhatCrewjamRefusesIsRefused(t *testing.T) {
	c := newCrew(t)
	p := parsed(t, c.metadata(t), time.Now())
	want := Expected{p, us, "_begun", time.Now()}
	oracle, good := newOracle(t, c.metadata(t)), c.answer(t, begin(t, p))
	oracleBelieves := func(doc []byte) bool {
		a, err := oracle.ParseXMLResponse(doc, []string{want.RequestID}, oracle.AcsURL)
		if err == nil && a.Subject.NameID.Value != samltest.Ada {
			t.Errorf("the oracle itself is deceived: it takes it for %s", a.Subject.NameID.Value)
		}
		return err == nil
	}
	lenient := 0
	for _, a := range slices.Concat(samltest.Wrappings, samltest.Texts) {
		doc := a.Change(good, "http://nobody.test")
		if doc == nil {
			continue
		}
		if oracleBelieves(doc) {
			lenient++
		}
		if _, err := judge(doc, want); err == nil {
			t.Errorf("%s: let in", a.Name)
		}
	}
	if believed(t, good, want); !oracleBelieves(good) {
		t.Error("the oracle does not believe the genuine response")
	}
	t.Logf("crewjam believes %d that are refused here", lenient)
}

// The machine's clock and the oracle's must be one for the comparison to mean anything.
func TestTheOracleGoesByTheMachine(t *testing.T) {
	if d := time.Since(crewjam.TimeNow()); d > time.Minute || d < -time.Minute {
		t.Errorf("%s apart", d)
	}
}

// parsed reads metadata that are good, of a provider without TLS too.
func parsed(t *testing.T, metadata []byte, now time.Time) Provider {
	t.Helper()
	p, err := ParseMetadata(metadata, now, true)
	if err != nil {
		t.Fatal(err)
	}
	return *p
}

// begin returns where a request is sent, at the machine's time.
func begin(t *testing.T, p Provider) string {
	t.Helper()
	u, err := us.RedirectURL(p, AuthnRequest{ID: "_begun", RelayState: "relay", IssuedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return u
}
