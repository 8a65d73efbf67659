package identity

import (
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// User is an account. Email is in the form of NormalizeAddress.
type User struct {
	ID       string    `json:"id"`
	Email    string    `json:"email"`
	Name     string    `json:"name"`
	Verified bool      `json:"verified"`
	Password string    `json:"password,omitempty"` // argon2id, as a PHC string
	Epoch    int64     `json:"epoch"`              // increased to end all sessions and tokens of the user
	Disabled bool      `json:"disabled,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	TOTP     bool      `json:"totp,omitempty"`     // codes of an authenticator app are set up
	Passkeys int64     `json:"passkeys,omitempty"` // number of passkeys
	// SessionEpoch is increased to end sessions of the user, but no tokens. A change of the password does that.
	SessionEpoch int64 `json:"sessionEpoch,omitempty"`
	// Organisations is how many organizations the user belongs to at most, or 0 if that is not known
	Organisations int64 `json:"organisations,omitempty"`
	// Preferences are how the user wants to see the web console.
	Preferences ConsolePreferences `json:"preferences,omitzero"`
}

// ConsolePreferences are the choices of a user for the web console, on all devices. The empty text stands for no
// choice.
type ConsolePreferences struct {
	Theme     string `json:"theme" enum:",light,dark" doc:"light or dark; empty: that of the system" example:"dark"`
	StartPage string `json:"startPage" doc:"Path below /console that opens first; empty: the overview" example:"/resources?status=running"`
	TimeZone  string `json:"timeZone" doc:"IANA time zone in which times are shown; empty: that of the device" example:"Europe/Berlin"`
}

// CredentialEpoch changes whenever sessions of the user are ended together. Temporary permissions, such as tickets for
// a new password, end with it.
func (u User) CredentialEpoch() int64 { return u.Epoch + u.SessionEpoch }

// HasSecondFactor reports whether u has set up a second factor, so that the password alone does not log in.
func (u User) HasSecondFactor() bool { return u.TOTP || u.Passkeys > 0 }

// AddressRow holds the user of an e-mail address.
type AddressRow struct {
	User string `json:"user"`
}

// Organisation is a customer. All other records belong to an organization.
type Organisation struct {
	ID        string    `json:"id" doc:"ID of the organization; send it as tenantID to work in it" example:"org_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Name      string    `json:"name" doc:"Name of the organization"`
	CreatedBy string    `json:"createdBy" doc:"ID of the user who created it"`
	CreatedAt time.Time `json:"createdAt" doc:"Time of its creation"`
	UpdatedAt time.Time `json:"updatedAt" doc:"Time of its last change"`
}

// OrganisationRecord is the stored record of an organization, with the parts that clients do not see.
type OrganisationRecord struct {
	Organisation
	ChosenPreferences
	// mail domains whose users must sign in through the organization's identity provider
	SSO []string `json:"ssoDomains,omitempty"`
	// hours after which a session of single sign-on must ask the identity provider again; 0 means DefaultSSOHours
	SSOHours int `json:"ssoHours,omitempty"`
	// a user other than the creator chose the name, so the creator has no claim to it
	Loose bool `json:"loose,omitempty"`
	// like Access.Ended: the organization is not offered for choosing
	Ended bool `json:"ended,omitempty"`
	// who let rules run without approval, by rule
	AutonomousBy map[string]Enabler `json:"autonomousBy,omitempty"`
}

// Enabler is the user who enabled something, and when.
type Enabler struct {
	User  string    `json:"user"`
	Email string    `json:"email"`
	At    time.Time `json:"at"`
}

// DemandsSSO reports whether a user with the address must sign in through the identity provider of o.
func (o OrganisationRecord) DemandsSSO(address string) bool { return demandsSSO(o.SSO, address) }

// Member is a user in an organization, with their grants. Grants are stored without policies.
type Member struct {
	User     string        `json:"user"`
	Email    string        `json:"email"`
	Grants   []grant.Grant `json:"grants"`
	Joined   time.Time     `json:"joined"`
	Disabled bool          `json:"disabled,omitempty"` // in this organization only
	// a copy of the user's name, for searching and sorting; empty in rows written before there were copies
	Name string `json:"name,omitempty"`
	// different after each change; changes are conditional on it
	Version int64 `json:"version"`
	// Leaving is set when the user has deleted their account, until a worker removes the member. A leaving member is
	// no owner.
	Leaving bool `json:"leaving,omitempty"`
}

// Owns reports whether the member is an owner of the organization.
func (m Member) Owns() bool {
	return !m.Leaving && slices.ContainsFunc(m.Grants, func(g grant.Grant) bool {
		return g.Role == grant.Owner && g.Scope == grant.OrgScope
	})
}

// Access holds the data of an organization that every request needs. The authorizer reads it together with the member:
// the custom roles, so that their changes take effect at once, and the counts of members and owners, which must be
// correct under concurrent changes. Generation increases with each change of the roles; their changes are conditional
// on it.
type Access struct {
	Roles      map[string]CustomRole `json:"roles,omitempty"` // by ID
	Generation int64                 `json:"generation"`
	Members    int64                 `json:"members"`
	Owners     int64                 `json:"owners"`
	// the organization is being deleted; all requests are refused
	Ended bool `json:"ended,omitempty"`
	// SSODomains and SSOHours are copies of OrganisationRecord.SSO and SSOHours. They change in one transaction with
	// those, so that every request is judged by them.
	SSODomains []string `json:"ssoDomains,omitempty"`
	SSOHours   int      `json:"ssoHours,omitempty"`
	// a copy of the setting: the organization admits only log-ins with a second factor
	RequireMFA bool `json:"requireMFA,omitempty"`
}

// CustomRole is a role made by an organization.
type CustomRole struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Policies    []string  `json:"policies"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// The limits of roles and grants. They keep the items that the authorizer reads below the maximum size, and the grants
// of a caller within the limit of API Gateway.
const (
	MaxRoles  = 50 // custom roles of an organization
	MaxGrants = 40 // of a member
)

// Membership is an organization in the list of a user's organizations.
type Membership struct {
	Org    string    `json:"org"`
	Joined time.Time `json:"joined"`
}

// Session is a log-in. It ends when it is idle too long, too old, logged out, or when its refresh token is used twice.
type Session struct {
	ID       string `json:"id"`
	User     string `json:"user"`
	Org      string `json:"org"`   // organization of the latest access token
	Epoch    int64  `json:"epoch"` // User.Epoch at log-in; sessions of older epochs have ended
	State    string `json:"state"`
	Hash     string `json:"hash"`           // of the valid refresh token
	Previous string `json:"prev,omitempty"` // of the previous refresh token
	Gen      int64  `json:"gen"`            // number of the refresh token
	Rotated  int64  `json:"rotated"`        // Unix seconds of the last refresh
	Idle     int64  `json:"idle"`           // Unix seconds of the end of refreshing
	Absolute int64  `json:"abs"`            // Unix seconds of the end of the session
	// the organization whose identity provider vouched for the user; the session works only in it
	SSO     string    `json:"sso,omitempty"`
	Created time.Time `json:"created"`
	Factors []string  `json:"factors,omitempty"` // second factors that the user has proved: FactorTOTP, …
	Proved  int64     `json:"proved,omitempty"`  // Unix seconds of the last proof of a second factor; 0 for none
	// a sign-in at a provider by a user with a second factor: nothing but a refresh with the second factor is accepted
	Pending bool `json:"pending,omitempty"`
	// User.SessionEpoch at log-in, or of the change of the password that the session made
	SessionEpoch int64 `json:"sessionEpoch,omitempty"`
	// how the user logged in; empty in a session that an earlier version began
	Method string `json:"method,omitempty"`
	// network address and User-Agent of the log-in or of the last refresh
	SourceIP  string `json:"ip,omitempty"`
	UserAgent string `json:"agent,omitempty"`
	Listed    bool   `json:"listed,omitempty"` // the user's list of sessions contains it
}

// IsOf reports whether the session has not ended together with other sessions of its user u.
func (s Session) IsOf(u User) bool { return s.Epoch == u.Epoch && s.SessionEpoch == u.SessionEpoch }

// The ways to log in, as Session.Method.
const (
	LoginEmail   = "email"
	LoginGoogle  = "google"
	LoginGitHub  = "github"
	LoginSAML    = "saml"
	LoginPasskey = "passkey"
)

// The states of a session.
const (
	SessionLive   = "live"
	SessionOut    = "out"    // logged out
	SessionReused = "reused" // a refresh token was used twice, so another client has it
)

// The prefixes of partitions that are used before an organization is known. Requests permit them with table.Within.
const (
	UserPrefix    = "USR#"
	AddressPrefix = "EMAIL#"
	SessionPrefix = "SESS#"
)

const membershipPrefix = "ORG#"

// UserKey returns the key of a user.
func UserKey(user string) table.Key { return table.Key{PK: UserPrefix + user, SK: "PROFILE"} }

// AddressKey returns the key of an e-mail address. It does not contain the address.
func AddressKey(pepper []byte, address string) table.Key {
	return AddressKeyOf(Digest(pepper, "email", address))
}

// AddressKeyOf returns the key of the e-mail address with a digest.
func AddressKeyOf(digest string) table.Key { return table.Key{PK: AddressPrefix + digest, SK: "U"} }

// SessionKey returns the key of a session.
func SessionKey(session string) table.Key { return table.Key{PK: SessionPrefix + session, SK: "S"} }

// SessionListPrefix is the prefix of the sort keys of a user's list of sessions.
const SessionListPrefix = "SESSION#"

// SessionListKey returns the key of a session in its user's list.
func SessionListKey(user, session string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: SessionListPrefix + session}
}

// OrganisationKey returns the key of an organization's record.
func OrganisationKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "META", SK: "ORG"}
}

// AccessKey returns the key of an organization's Access.
func AccessKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "META", SK: "ACCESS"}
}

// MemberKey returns the key of a member.
func MemberKey(org, user string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "MEMBER", SK: user}
}

// MembershipKey returns the key of an organization in a user's list.
func MembershipKey(user, org string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: membershipPrefix + org}
}
