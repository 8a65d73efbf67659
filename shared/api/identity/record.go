package identity

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// User is an account. Email is in the form of Address.
type User struct {
	ID       string    `json:"id"`
	Email    string    `json:"email"`
	Name     string    `json:"name"`
	Verified bool      `json:"verified"`
	Password string    `json:"password,omitempty"` // argon2id, as a PHC string
	Epoch    int64     `json:"epoch"`              // grows when every session of the user must end
	Disabled bool      `json:"disabled,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// AddressRow tells which user an e-mail address belongs to.
type AddressRow struct {
	User string `json:"user"`
}

// Organisation is a customer: what all other records belong to.
type Organisation struct {
	ID        string    `json:"id" doc:"The organization; send it as tenantID to work in it" example:"org_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Name      string    `json:"name" doc:"What it is called"`
	CreatedBy string    `json:"createdBy" doc:"The user who created it"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was created"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was changed last"`
}

// OrganisationRecord is what the record of an organization holds besides what its clients see of it.
type OrganisationRecord struct {
	Organisation
	ChosenPreferences
	// mail domains whose members must sign in through the organization's identity provider
	SSO []string `json:"ssoDomains,omitempty"`
	// somebody else than its creator named it: the name is not among those that the creator claims
	Loose bool `json:"loose,omitempty"`
	// as in Access: who is about to choose an organization is not offered this one
	Ended bool `json:"ended,omitempty"`
}

// DemandsSSO reports whether a user with the address must sign in through the identity provider of o.
func (o OrganisationRecord) DemandsSSO(address string) bool {
	_, domain, _ := strings.Cut(address, "@")
	return slices.Contains(o.SSO, domain)
}

// Member is a user in an organization, with what they may do there. Grants are stored without policies.
type Member struct {
	User     string        `json:"user"`
	Email    string        `json:"email"`
	Grants   []grant.Grant `json:"grants"`
	Joined   time.Time     `json:"joined"`
	Disabled bool          `json:"disabled,omitempty"` // in this organization only
	// another one after each change, which is written on condition of it
	Version int64 `json:"version"`
}

// Owns reports whether the member is an owner of the organization.
func (m Member) Owns() bool {
	return slices.ContainsFunc(m.Grants, func(g grant.Grant) bool {
		return g.Role == grant.Owner && g.Scope == grant.OrgScope
	})
}

// Access is what is to be known of an organization for every request, in one item that the authorizer reads with the
// member's: the custom roles, so that a change of one acts at once; and what must hold under races: how many members and
// owners there are. Generation grows with each change of the roles, which are written on condition of it.
type Access struct {
	Roles      map[string]CustomRole `json:"roles,omitempty"` // by id
	Generation int64                 `json:"generation"`
	Members    int64                 `json:"members"`
	Owners     int64                 `json:"owners"`
	Ended      bool                  `json:"ended,omitempty"` // the organization is being deleted: nobody gets in
}

// CustomRole is a role that an organization made.
type CustomRole struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Policies    []string  `json:"policies"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Bounds of what an organization grants. They keep what the authorizer reads below an item's size, and what it tells the
// functions within what API Gateway carries.
const (
	MaxRoles  = 50 // custom roles of an organization
	MaxGrants = 40 // of a member
)

// Membership is the same seen from the user: it lists the organizations of a user.
type Membership struct {
	Org    string    `json:"org"`
	Joined time.Time `json:"joined"`
}

// Session is one log-in. It lives until it is idle too long, too old, logged out, or its refresh token is used twice.
type Session struct {
	ID       string `json:"id"`
	User     string `json:"user"`
	Org      string `json:"org"`   // the organization of the newest access token
	Epoch    int64  `json:"epoch"` // User.Epoch at log-in; a session of an older epoch is over
	State    string `json:"state"`
	Hash     string `json:"hash"`           // of the only live refresh token
	Previous string `json:"prev,omitempty"` // of the one before
	Gen      int64  `json:"gen"`            // counts refresh tokens
	Rotated  int64  `json:"rotated"`        // Unix seconds of the last refresh
	Idle     int64  `json:"idle"`           // Unix seconds after which it cannot be refreshed
	Absolute int64  `json:"abs"`            // Unix seconds after which it is over
	// the organization whose identity provider vouched for the user: the session works in no other
	SSO     string    `json:"sso,omitempty"`
	Created time.Time `json:"created"`
}

// The states of a session.
const (
	SessionLive   = "live"
	SessionOut    = "out"    // logged out
	SessionReused = "reused" // a refresh token was used twice: somebody else has it
)

// The partitions of what comes before an organization is known; a request names them with table.Within.
const (
	UserPrefix    = "USR#"
	AddressPrefix = "EMAIL#"
	SessionPrefix = "SESS#"
)

const membershipPrefix = "ORG#"

// UserKey returns where a user's record is.
func UserKey(user string) table.Key { return table.Key{PK: UserPrefix + user, SK: "PROFILE"} }

// AddressKey returns where the user of an e-mail address is found; the address itself is not in it.
func AddressKey(pepper []byte, address string) table.Key {
	return table.Key{PK: AddressPrefix + Digest(pepper, "email", address), SK: "U"}
}

// SessionKey returns where a session is.
func SessionKey(session string) table.Key { return table.Key{PK: SessionPrefix + session, SK: "S"} }

// OrganisationKey returns where an organization's record is.
func OrganisationKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "META", SK: "ORG"}
}

// AccessKey returns where an organization's Access is.
func AccessKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "META", SK: "ACCESS"}
}

// MemberKey returns where a user's grants in an organization are.
func MemberKey(org, user string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "MEMBER", SK: user}
}

// MembershipKey returns where a user's list of organizations names one.
func MembershipKey(user, org string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: membershipPrefix + org}
}
