package saml

import (
	"encoding/xml"
	"slices"
	"strings"
	"time"
)

const (
	statusSuccess = "urn:oasis:names:tc:SAML:2.0:status:Success"
	bearer        = "urn:oasis:names:tc:SAML:2.0:cm:bearer" //nolint:gosec // the name of a method
)

// responseHead are the parts of a Response that are read besides its assertion.
type responseHead struct {
	XMLName      xml.Name `xml:"urn:oasis:names:tc:SAML:2.0:protocol Response"`
	Version      string   `xml:"Version,attr"`
	InResponseTo string   `xml:"InResponseTo,attr"`
	Destination  string   `xml:"Destination,attr"`
	Issuers      []string `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	Status       struct {
		Code struct {
			Value string `xml:"Value,attr"`
		} `xml:"urn:oasis:names:tc:SAML:2.0:protocol StatusCode"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:protocol Status"`

	signed bool
}

// assertionXML are the parts of an assertion that are read.
type assertionXML struct {
	XMLName    xml.Name        `xml:"urn:oasis:names:tc:SAML:2.0:assertion Assertion"`
	ID         string          `xml:"ID,attr"`
	Version    string          `xml:"Version,attr"`
	Issued     xmlTime         `xml:"IssueInstant,attr"`
	Issuers    []string        `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	Subjects   []subjectXML    `xml:"urn:oasis:names:tc:SAML:2.0:assertion Subject"`
	Conditions []conditionsXML `xml:"urn:oasis:names:tc:SAML:2.0:assertion Conditions"`
	Logins     []struct {
		Until xmlTime `xml:"SessionNotOnOrAfter,attr"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion AuthnStatement"`
	Attributes []attributeXML `xml:"AttributeStatement>Attribute"`
}

type subjectXML struct {
	Names []struct {
		Format string `xml:"Format,attr"`
		Value  string `xml:",chardata"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion NameID"`
	Confirmations []confirmationXML `xml:"urn:oasis:names:tc:SAML:2.0:assertion SubjectConfirmation"`
}

type confirmationXML struct {
	Method string `xml:"Method,attr"`
	Data   struct {
		InResponseTo string  `xml:"InResponseTo,attr"`
		Recipient    string  `xml:"Recipient,attr"`
		NotBefore    xmlTime `xml:"NotBefore,attr"`
		NotOnOrAfter xmlTime `xml:"NotOnOrAfter,attr"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion SubjectConfirmationData"`
}

type conditionsXML struct {
	NotBefore    xmlTime `xml:"NotBefore,attr"`
	NotOnOrAfter xmlTime `xml:"NotOnOrAfter,attr"`
	Audiences    []struct {
		Of []string `xml:"urn:oasis:names:tc:SAML:2.0:assertion Audience"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion AudienceRestriction"`
}

type attributeXML struct {
	Name     string   `xml:"Name,attr"`
	Friendly string   `xml:"FriendlyName,attr"`
	Values   []string `xml:"urn:oasis:names:tc:SAML:2.0:assertion AttributeValue"`
}

// xmlTime is a time in an attribute, or the zero time if it is missing.
type xmlTime struct{ time.Time }

// UnmarshalXMLAttr reads a time of SAML.
func (t *xmlTime) UnmarshalXMLAttr(a xml.Attr) (err error) {
	t.Time, err = parseTime(a.Value)
	return err
}

// isValidAt reports whether now lies between two times. Each of them may be missing.
func isValidAt(now time.Time, from, until xmlTime) bool {
	return (from.IsZero() || !now.Before(from.Add(-leeway))) && (until.IsZero() || now.Before(until.Add(leeway)))
}

// checkHead refuses a response that was meant for another recipient or request.
func (want Expected) checkHead(h responseHead) error {
	switch {
	case h.Version != "2.0" || len(h.Issuers) > 1:
		return refuse("it is not a Response of SAML 2.0")
	case len(h.Issuers) == 1 && h.Issuers[0] != want.Provider.EntityID:
		return refuse("its Issuer is not the organization's identity provider")
	case h.InResponseTo != want.RequestID:
		return refuse("it answers another request (InResponseTo)")
	case h.Destination != want.Service.ACSURL && (h.signed || h.Destination != ""):
		return refuse("it was meant for another address (Destination); here it is " + want.Service.ACSURL)
	case h.Status.Code.Value != statusSuccess:
		return refuse("the identity provider did not sign the person in (" + clipText(h.Status.Code.Value) + ")")
	}
	return nil
}

// checkAssertion refuses an assertion that is not valid here and now.
func (want Expected) checkAssertion(a assertionXML) error {
	if !a.isComplete() {
		return refuse("its Assertion lacks Issuer, Subject, Conditions or AuthnStatement")
	}
	c := a.Conditions[0]
	switch {
	case a.Issuers[0] != want.Provider.EntityID:
		return refuse("the Issuer of its Assertion is not the organization's identity provider")
	case !isValidAt(want.Now, a.Issued, xmlTime{a.Issued.Add(MaxAge)}):
		return refuse("its Assertion was not issued just now (IssueInstant): compare the clocks")
	case !isValidAt(want.Now, c.NotBefore, c.NotOnOrAfter):
		return refuse("its Assertion is not valid yet, or not any more (Conditions): compare the clocks")
	case !c.nameAudience(want.Service.EntityID):
		return refuse("its Assertion is meant for another audience; here it is " + want.Service.EntityID)
	case !a.isSignedInAt(want.Now):
		return refuse("the session at the identity provider has ended")
	case !slices.ContainsFunc(a.Subjects[0].Confirmations, want.isConfirmed):
		return refuse("no SubjectConfirmation is for this request, this address (Recipient " + want.Service.ACSURL +
			") and this moment")
	}
	return nil
}

// isComplete reports whether the assertion has each of the checked parts exactly once.
func (a assertionXML) isComplete() bool {
	return a.Version == "2.0" && a.ID != "" && !a.Issued.IsZero() &&
		len(a.Issuers) == 1 && len(a.Subjects) == 1 && len(a.Conditions) == 1 && len(a.Logins) > 0
}

// isSignedInAt reports whether the person is still signed in at the provider.
func (a assertionXML) isSignedInAt(now time.Time) bool {
	for _, l := range a.Logins {
		if !isValidAt(now, xmlTime{}, l.Until) {
			return false
		}
	}
	return true
}

// nameAudience reports whether each restriction names this service; at least one is required.
func (c conditionsXML) nameAudience(entity string) bool {
	for _, a := range c.Audiences {
		if !slices.Contains(a.Of, entity) {
			return false
		}
	}
	return len(c.Audiences) > 0
}

// isConfirmed reports whether the assertion is confirmed for the bearer of this request.
func (want Expected) isConfirmed(c confirmationXML) bool {
	return c.Method == bearer && c.Data.InResponseTo == want.RequestID && c.Data.Recipient == want.Service.ACSURL &&
		!c.Data.NotOnOrAfter.IsZero() && isValidAt(want.Now, c.Data.NotBefore, c.Data.NotOnOrAfter)
}

// expires returns when the assertion can no longer be used.
func (a assertionXML) expires() time.Time {
	end := a.Conditions[0].NotOnOrAfter.Time
	for _, c := range a.Subjects[0].Confirmations {
		if c.Data.NotOnOrAfter.After(end) {
			end = c.Data.NotOnOrAfter.Time
		}
	}
	return end.Add(leeway)
}

// Assertion is a verified assertion.
type Assertion struct {
	ID      string
	Expires time.Time // it is refused afterwards, so its id need not be stored any longer
	content assertionXML
}

// Subject is the person that an assertion describes.
type Subject struct {
	ID    string // the provider's own name of them
	Email string
	Name  string // "" when the provider tells none
}

// These are the names of the attributes that providers use for an address and a name.
var (
	emailAttributes = []string{
		"email", "mail", "emailaddress", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
		"urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:1.2.840.113549.1.9.1",
	}
	nameAttributes = []string{
		"displayname", "name", "cn", "http://schemas.microsoft.com/identity/claims/displayname",
		"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "urn:oid:2.16.840.1.113730.3.1.241",
		"urn:oid:2.5.4.3",
	}
)

// Subject returns the person of the assertion. The error is fault.Unauthenticated if there is none with an e-mail
// address. The address is the NameID if it has that format, else an attribute.
func (a *Assertion) Subject() (Subject, error) {
	s := a.content.Subjects[0]
	if len(s.Names) != 1 || strings.TrimSpace(s.Names[0].Value) == "" {
		return Subject{}, refuse("its Assertion names no person (NameID)")
	}
	id := strings.TrimSpace(s.Names[0].Value)
	out := Subject{Name: a.content.findAttribute(nameAttributes), Email: a.content.findAttribute(emailAttributes)}
	if s.Names[0].Format == emailFormat {
		out.Email = id
	}
	if out.Email == "" {
		return Subject{},
			refuse("it tells no e-mail address: make the identity provider send one as NameID with the format " +
				"emailAddress, or as the attribute email")
	}
	if out.ID = strings.ToLower(out.Email); s.Names[0].Format == persistent {
		out.ID = id
	}
	return out, nil
}

// findAttribute returns the single value of the first attribute with one of the names, or "" if there is no such
// attribute or it has several values.
func (a assertionXML) findAttribute(names []string) string {
	for _, name := range names {
		for _, at := range a.Attributes {
			if len(at.Values) == 1 && (strings.EqualFold(at.Name, name) || strings.EqualFold(at.Friendly, name)) {
				return strings.TrimSpace(at.Values[0])
			}
		}
	}
	return ""
}
