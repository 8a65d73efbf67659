package sso

import (
	"encoding/xml"
	"slices"
	"strings"
	"time"
)

const (
	statusSuccess = "urn:oasis:names:tc:SAML:2.0:status:Success"
	bearer        = "urn:oasis:names:tc:SAML:2.0:cm:bearer" //nolint:gosec // the name of a method
	leeway        = time.Minute                             // by which the provider's clock may be off
)

// head is what is read of a Response besides its assertion.
type head struct {
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

// assertion is what is read of one.
type assertion struct {
	XMLName    xml.Name     `xml:"urn:oasis:names:tc:SAML:2.0:assertion Assertion"`
	ID         string       `xml:"ID,attr"`
	Version    string       `xml:"Version,attr"`
	Issued     when         `xml:"IssueInstant,attr"`
	Issuers    []string     `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	Subjects   []subject    `xml:"urn:oasis:names:tc:SAML:2.0:assertion Subject"`
	Conditions []conditions `xml:"urn:oasis:names:tc:SAML:2.0:assertion Conditions"`
	Logins     []struct {
		Until when `xml:"SessionNotOnOrAfter,attr"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion AuthnStatement"`
	Attributes []attribute `xml:"AttributeStatement>Attribute"`
}

type subject struct {
	Names []struct {
		Format string `xml:"Format,attr"`
		Value  string `xml:",chardata"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion NameID"`
	Confirmations []confirmation `xml:"urn:oasis:names:tc:SAML:2.0:assertion SubjectConfirmation"`
}

type confirmation struct {
	Method string `xml:"Method,attr"`
	Data   struct {
		InResponseTo string `xml:"InResponseTo,attr"`
		Recipient    string `xml:"Recipient,attr"`
		NotBefore    when   `xml:"NotBefore,attr"`
		NotOnOrAfter when   `xml:"NotOnOrAfter,attr"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion SubjectConfirmationData"`
}

type conditions struct {
	NotBefore    when `xml:"NotBefore,attr"`
	NotOnOrAfter when `xml:"NotOnOrAfter,attr"`
	Audiences    []struct {
		Of []string `xml:"urn:oasis:names:tc:SAML:2.0:assertion Audience"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:assertion AudienceRestriction"`
}

type attribute struct {
	Name     string   `xml:"Name,attr"`
	Friendly string   `xml:"FriendlyName,attr"`
	Values   []string `xml:"urn:oasis:names:tc:SAML:2.0:assertion AttributeValue"`
}

// when is a time in an attribute; the zero time where there is none.
type when struct{ time.Time }

// UnmarshalXMLAttr reads a time of SAML.
func (w *when) UnmarshalXMLAttr(a xml.Attr) (err error) {
	w.Time, err = instant(a.Value)
	return err
}

// open tells whether now lies between two times, of which either may be missing.
func open(now time.Time, from, until when) bool {
	return (from.IsZero() || !now.Before(from.Add(-leeway))) && (until.IsZero() || now.Before(until.Add(leeway)))
}

// demand is what a response must answer to.
type demand struct {
	issuer  string // the provider's entity id
	entity  string // ours
	acs     string
	request string // the id of the request
	now     time.Time
}

// head refuses a response that was meant for somebody or something else.
func (d demand) head(h head) error {
	switch {
	case h.Version != "2.0" || len(h.Issuers) > 1:
		return refused("it is not a Response of SAML 2.0")
	case len(h.Issuers) == 1 && h.Issuers[0] != d.issuer:
		return refused("its Issuer is not the organization's identity provider")
	case h.InResponseTo != d.request:
		return refused("it answers another request (InResponseTo)")
	case h.Destination != d.acs && (h.signed || h.Destination != ""):
		return refused("it was meant for another address (Destination); here it is " + d.acs)
	case h.Status.Code.Value != statusSuccess:
		return refused("the identity provider signed nobody in (" + clip(h.Status.Code.Value) + ")")
	}
	return nil
}

// assertion refuses one that does not hold here and now.
func (d demand) assertion(a assertion) error {
	if !a.whole() {
		return refused("its Assertion lacks Issuer, Subject, Conditions or AuthnStatement")
	}
	c := a.Conditions[0]
	switch {
	case a.Issuers[0] != d.issuer:
		return refused("the Issuer of its Assertion is not the organization's identity provider")
	case !open(d.now, a.Issued, when{a.Issued.Add(requestTTL)}):
		return refused("its Assertion was not issued just now (IssueInstant): compare the clocks")
	case !open(d.now, c.NotBefore, c.NotOnOrAfter):
		return refused("its Assertion is not valid yet, or not any more (Conditions): compare the clocks")
	case !c.meant(d.entity):
		return refused("its Assertion is meant for another audience; here it is " + d.entity)
	case !a.lasts(d.now):
		return refused("the session at the identity provider has ended")
	case !slices.ContainsFunc(a.Subjects[0].Confirmations, d.confirmed):
		return refused("no SubjectConfirmation is for this request, this address (Recipient " + d.acs + ") and this moment")
	}
	return nil
}

// whole tells whether it has all that is judged, once.
func (a assertion) whole() bool {
	return a.Version == "2.0" && a.ID != "" && !a.Issued.IsZero() &&
		len(a.Issuers) == 1 && len(a.Subjects) == 1 && len(a.Conditions) == 1 && len(a.Logins) > 0
}

// lasts tells whether the person is signed in at the provider still.
func (a assertion) lasts(now time.Time) bool {
	for _, l := range a.Logins {
		if !open(now, when{}, l.Until) {
			return false
		}
	}
	return true
}

// meant tells whether each restriction names us; there must be one.
func (c conditions) meant(entity string) bool {
	for _, a := range c.Audiences {
		if !slices.Contains(a.Of, entity) {
			return false
		}
	}
	return len(c.Audiences) > 0
}

// confirmed tells whether the bearer of the assertion is the one who was asked for.
func (d demand) confirmed(c confirmation) bool {
	return c.Method == bearer && c.Data.InResponseTo == d.request && c.Data.Recipient == d.acs &&
		!c.Data.NotOnOrAfter.IsZero() && open(d.now, c.Data.NotBefore, c.Data.NotOnOrAfter)
}

// until is when the assertion can no longer be used: afterwards its id may be forgotten.
func (a assertion) until() time.Time {
	end := a.Conditions[0].NotOnOrAfter.Time
	for _, c := range a.Subjects[0].Confirmations {
		if c.Data.NotOnOrAfter.After(end) {
			end = c.Data.NotOnOrAfter.Time
		}
	}
	return end.Add(leeway)
}

// person is whom an assertion is about. Subject is the provider's own name of them.
type person struct{ subject, email, name string }

// The names of attributes under which providers tell an address and a name.
var (
	emailNames = []string{
		"email", "mail", "emailaddress", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
		"urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:1.2.840.113549.1.9.1",
	}
	fullNames = []string{
		"displayname", "name", "cn", "http://schemas.microsoft.com/identity/claims/displayname",
		"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "urn:oid:2.16.840.1.113730.3.1.241", "urn:oid:2.5.4.3",
	}
)

// person reads who it is. The address is the NameID when that is one by its format, else an attribute.
func (a assertion) person() (person, error) {
	s := a.Subjects[0]
	if len(s.Names) != 1 || strings.TrimSpace(s.Names[0].Value) == "" {
		return person{}, refused("its Assertion names nobody (NameID)")
	}
	id := strings.TrimSpace(s.Names[0].Value)
	out := person{name: a.value(fullNames), email: a.value(emailNames)}
	if s.Names[0].Format == emailFormat {
		out.email = id
	}
	if out.email == "" {
		return person{}, refused("it tells no e-mail address: make the identity provider send one as NameID with the format emailAddress, or as the attribute email")
	}
	if out.subject = strings.ToLower(out.email); s.Names[0].Format == persistent {
		out.subject = id
	}
	return out, nil
}

// value is the one value of the first attribute with one of the names, "" when there is none or more than one.
func (a assertion) value(names []string) string {
	for _, name := range names {
		for _, at := range a.Attributes {
			if len(at.Values) == 1 && (strings.EqualFold(at.Name, name) || strings.EqualFold(at.Friendly, name)) {
				return strings.TrimSpace(at.Values[0])
			}
		}
	}
	return ""
}
