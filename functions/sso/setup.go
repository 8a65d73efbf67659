package sso

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"slices"
	"time"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
)

// setup is the stored single sign-on setup of an organization. Version grows with each change, and each change is
// conditional on it.
type setup struct {
	saml.Provider
	MetadataURL string `json:"metadataURL,omitempty"`
	DefaultRole string `json:"defaultRole"`
	Enforced    bool   `json:"enforced"`
	// hours that a session lasts; 0 in setups from before there was the setting
	SessionHours int `json:"sessionHours,omitempty"`

	Domains []domain  `json:"domains"`
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// readSetup reads the setup of org. The error is fault.NotFound if it has none.
func (s service) readSetup(ctx context.Context, org string) (setup, error) {
	k := identity.SSOKey(org)
	out, err := table.Read[setup](table.Within(ctx, k.PK), s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return out, fault.New(fault.NotFound, "single sign-on is not set up: do so with PUT /organisation/saml")
	}
	return out, fault.Wrap("read single sign-on of "+org, err)
}

// hasVerified reports whether the organization has proven the domain.
func (s setup) hasVerified(name string) bool { return slices.Contains(s.verifiedDomains(), name) }

// verifiedDomains returns the names of the proven domains of the organization.
func (s setup) verifiedDomains() []string { return maildomain.Names(s.Domains) }

// enforcedDomains returns the domains whose members must use single sign-on. The organization's record has a copy of
// them.
func (s setup) enforcedDomains() []string {
	if !s.Enforced {
		return nil
	}
	return s.verifiedDomains()
}

// demandsOtherThan reports whether the two setups demand different things of sessions.
func (s setup) demandsOtherThan(o setup) bool {
	return s.SessionHours != o.SessionHours || !slices.Equal(s.enforcedDomains(), o.enforcedDomains())
}

// SAML is the client's view of the single sign-on settings.
type SAML struct {
	EntityID     string        `json:"entityID" doc:"The entity id of the identity provider"`
	SSOURL       string        `json:"ssoURL" doc:"Where people are sent to sign in"`
	Certificates []Certificate `json:"certificates" doc:"The only ones that its signatures are checked with"`
	MetadataURL  string        `json:"metadataURL" doc:"Where its metadata came from; empty when they were sent"`
	Domains      []Domain      `json:"domains"`
	DefaultRole  string        `json:"defaultRole" doc:"The role of who signs in for the first time"`
	Enforced     bool          `json:"enforced" doc:"Members with an address of a proven domain must use single sign-on; owners may still use passwords. Applies to every request at once"`
	SessionHours int           `json:"sessionHours" doc:"After how many hours a session of single sign-on ends, 1 to 24" example:"12"`
	OurEntityID  string        `json:"serviceProviderEntityID" doc:"The entity id of this service; register it at the identity provider as the audience"`
	OurACSURL    string        `json:"assertionConsumerServiceURL" doc:"Where it has to send its responses"`
	CreatedAt    time.Time     `json:"createdAt"`
	UpdatedAt    time.Time     `json:"updatedAt"`
}

// Certificate is a signing certificate of an identity provider.
type Certificate struct {
	Fingerprint string    `json:"fingerprint" doc:"SHA-256, in hexadecimal"`
	ExpiresAt   time.Time `json:"expiresAt" doc:"Sign-ins with this certificate fail after this time"`
}

// Domain is a mail domain of the organization, proven or not.
type Domain struct {
	Name       string     `json:"name" example:"example.com"`
	Verified   bool       `json:"verified" doc:"Proven: the identity provider is trusted about addresses of this domain"`
	TXTName    string     `json:"txtName" doc:"Publish a TXT record under this name" example:"_lamplighter-challenge.example.com"`
	TXTValue   string     `json:"txtValue" doc:"with this text"`
	VerifiedAt *time.Time `json:"verifiedAt" doc:"Null while it is not proven"`
	CheckedAt  *time.Time `json:"checkedAt" doc:"When the TXT record was last found after that; it is looked up each week"`
	LapsesAt   *time.Time `json:"lapsesAt" doc:"When a proven domain lapses, because its TXT record is missing; null while it is there"`
	Reason     string     `json:"reason" doc:"Why it is not proven, as of the last check"`
}

func (s service) getSettings(ctx context.Context, _ *struct{}) (SAML, error) {
	have, err := s.readSetup(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return SAML{}, err
	}
	return s.describeSetup(have), nil
}

// describeSetup returns the client's view of a setup.
func (s service) describeSetup(c setup) SAML {
	out := SAML{
		EntityID: c.EntityID, SSOURL: c.SSOURL, Certificates: []Certificate{}, MetadataURL: c.MetadataURL,
		Domains:     []Domain{},
		DefaultRole: c.DefaultRole, Enforced: c.Enforced,
		SessionHours: cmp.Or(c.SessionHours, identity.DefaultSSOHours), OurEntityID: s.serviceProvider().EntityID,
		OurACSURL: s.serviceProvider().ACSURL,
		CreatedAt: c.Created, UpdatedAt: c.Updated,
	}
	for _, der := range c.Certificates {
		sum := sha256.Sum256(der)
		shown := Certificate{Fingerprint: hex.EncodeToString(sum[:])}
		if cert, err := x509.ParseCertificate(der); err == nil { // it was parsed before it was stored
			shown.ExpiresAt = cert.NotAfter.UTC()
		}
		out.Certificates = append(out.Certificates, shown)
	}
	for _, d := range c.Domains {
		out.Domains = append(out.Domains, describeDomain(d))
	}
	return out
}
