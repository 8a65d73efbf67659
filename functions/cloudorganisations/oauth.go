package cloudorganisations

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/functions/cloudorganisations/googleoauth"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// These constants limit how long a person may take at Google, and then to choose a project.
const (
	stateTTL      = 10 * time.Minute
	connectionTTL = 30 * time.Minute
)

const (
	connectPath  = "/connect/gcp"
	callbackPath = connectPath + "/oauth-callback"
)

// departure is the record of a person who was sent to Google. It contains no secret: the verifier is derived from the
// state, which is not stored.
type departure struct {
	User    string `json:"user"`
	Session string `json:"session"`           // empty for a personal access token
	Account string `json:"account,omitempty"` // whose credentials are renewed
	// EndpointURL of Account at that time: the grant is sent only there
	Endpoint string `json:"endpoint,omitempty"`
}

// pendingGrant is the grant of a person until it is used for an account. It is sealed for the account that it will
// open.
type pendingGrant struct {
	departure
	Sealed []byte `json:"sealed"`
	Renews bool   `json:"renews,omitempty"` // Account is there already
}

// Both are stored under digests, so that a reader of the table can use neither.
func (s *service) departureKey(org, state string) table.Key {
	return table.Key{
		PK: table.OrgPK(org) + "CONNECT",
		SK: "STATE#" + identity.Digest(s.p.Settings.CodeKey(), "connect", state),
	}
}

func (s *service) connectionKey(org, connectionID string) table.Key {
	return table.Key{
		PK: table.OrgPK(org) + "CONNECT",
		SK: "GRANT#" + identity.Digest(s.p.Settings.CodeKey(), "connection", connectionID),
	}
}

// verifierOf returns the PKCE secret that belongs to a state (RFC 7636).
func (s *service) verifierOf(state string) string {
	return identity.Digest(s.p.Settings.CodeKey(), "connect-verifier", state)
}

// googleClient returns the client that the operator registered.
func (s *service) googleClient() (*googleoauth.Client, error) {
	c := s.p.Settings.GoogleCloud
	if c.ID == "" {
		return nil, fault.New(fault.Invalid, "this deployment has no OAuth client of Google Cloud: its operator sets "+
			"the parameters GCPClientID and "+
			"GCPClientSecret, on one machine LAMPLIGHTER_GCP_CLIENT_ID and LAMPLIGHTER_GCP_CLIENT_SECRET, and "+
			"registers %s at Google; "+
			"until then, connect projects with authMethod workload_identity_federation or service_account",
			s.callbackURL())
	}
	return googleoauth.New(c, s.callbackURL()), nil
}

// callbackURL returns the address that Google sends the browser to. It must be registered there, letter for letter.
func (s *service) callbackURL() string { return s.p.Settings.BaseURL + callbackPath }

type oauthURLInput struct {
	AccountID string `query:"accountID" maxLength:"64" doc:"A connected project whose credentials to renew; default: a new account"`
}

// OAuthURL is the answer that begins a connection.
type OAuthURL struct {
	URL   string `json:"url" doc:"Where to send the browser"`
	State string `json:"state" doc:"Comes back with the browser. Valid once, for 10 minutes, in the same session"`
}

func (s *service) beginOAuth(ctx context.Context, in *oauthURLInput) (OAuthURL, error) {
	c := identity.CallerFrom(ctx)
	google, err := s.googleClient()
	if err != nil {
		return OAuthURL{}, err
	}
	d := departure{User: c.User, Session: c.Session, Account: in.AccountID}
	if in.AccountID != "" {
		a, err := s.renewableAccount(ctx, c.Org, in.AccountID)
		if err != nil {
			return OAuthURL{}, err
		}
		d.Endpoint = a.EndpointURL
	}
	state := rand.Text() + rand.Text()
	address, err := google.URL(ctx, state, s.verifierOf(state))
	if err != nil {
		return OAuthURL{}, err
	}
	return OAuthURL{address, state}, s.keepFor(ctx, stateTTL, s.departureKey(c.Org, state), d)
}

// renewableAccount reads an account of Google Cloud.
func (s *service) renewableAccount(ctx context.Context, org, accountID string) (inventory.Account, error) {
	unknown := fault.New(fault.Invalid, "accountID: there is no cloud account %.64q of provider gcp", accountID)
	if !id.IsValid("ca", accountID) {
		return inventory.Account{}, unknown
	}
	a, err := table.Read[inventory.Account](ctx, s.p.Table, inventory.AccountKey(org, accountID))
	if fault.Is(err, fault.NotFound) || err == nil && a.Provider != "gcp" {
		return a, unknown
	}
	return a, fault.Wrap("read account "+accountID, err)
}

// keepFor stores a row that expires after ttl.
func (s *service) keepFor(ctx context.Context, ttl time.Duration, k table.Key, v any) error {
	it, err := table.NewItem(k, v)
	if err != nil {
		return err
	}
	it.Expires = s.p.Clock.Now().Add(ttl)
	_, err = s.p.Table.Write(ctx, table.Put(it, table.Absent()))
	return fault.Wrap("keep a connection to Google", err)
}

// GoogleCode is the body of POST /connect/gcp/oauth-exchange: the values that came back with the browser.
type GoogleCode struct {
	Code  string `json:"code" minLength:"1" maxLength:"4096" doc:"The authorization code"`
	State string `json:"state" minLength:"1" maxLength:"128" doc:"The one that GET /connect/gcp/oauth-url issued"`
}

// GoogleGrant is the answer to the exchange of a code.
type GoogleGrant struct {
	ConnectionID string                      `json:"connectionID" doc:"For POST /connect/gcp/oauth-finalize. Valid once, for 30 minutes, in the same session"`
	ExpiresAt    time.Time                   `json:"expiresAt"`
	Projects     []googleoauth.ListedProject `json:"projects" doc:"The projects that the person may see, by id; at most 1,000"`
	More         bool                        `json:"more" doc:"There are more projects; each of them can be named"`
}

// exchangeOAuth ends the departure before the code is sent anywhere, so that only one of two concurrent requests with
// the same state succeeds.
func (s *service) exchangeOAuth(ctx context.Context, in *struct{ Body GoogleCode }) (GoogleGrant, error) {
	c := identity.CallerFrom(ctx)
	google, err := s.googleClient()
	if err != nil {
		return GoogleGrant{}, err
	}
	d, err := s.useDeparture(ctx, c, in.Body.State)
	if err != nil {
		return GoogleGrant{}, err
	}
	got, err := google.Exchange(ctx, in.Body.Code, s.verifierOf(in.Body.State))
	if err != nil {
		return GoogleGrant{}, err
	}
	conn := pendingGrant{departure: d, Renews: d.Account != ""}
	now := s.p.Clock.Now()
	if !conn.Renews {
		conn.Account = id.New("ca", now)
	}
	conn.Sealed, err = inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(c.Org, conn.Account),
		map[string]string{"refreshToken": got.Refresh})
	if err != nil {
		return GoogleGrant{}, err
	}
	out := GoogleGrant{rand.Text() + rand.Text(), now.Add(connectionTTL), got.Projects, got.More}
	audit.NoteChange(ctx, audit.Change{Target: conn.Account})
	return out, s.keepFor(ctx, connectionTTL, s.connectionKey(c.Org, out.ConnectionID), conn)
}

// useDeparture returns the departure of a state and ends it. The session must be the one that began it.
func (s *service) useDeparture(ctx context.Context, c identity.Caller, state string) (departure, error) {
	k := s.departureKey(c.Org, state)
	d, err := table.Read[departure](ctx, s.p.Table, k)
	unknown := fault.New(fault.Invalid,
		"state: unknown, used, expired or of another session; begin again with GET /connect/gcp/oauth-url")
	if fault.Is(err, fault.NotFound) || err == nil && !d.belongsTo(c) {
		return d, unknown
	}
	if err != nil {
		return d, fmt.Errorf("read the state of a connection: %w", err)
	}
	_, err = s.p.Table.Write(ctx, table.Delete(k, table.Exists()))
	if _, late := errors.AsType[*table.ConditionError](err); late {
		return d, unknown
	}
	return d, fault.Wrap("use the state of a connection", err)
}

func (d departure) belongsTo(c identity.Caller) bool {
	return d.User == c.User && d.Session == c.Session
}

// GoogleProject is the body of POST /connect/gcp/oauth-finalize.
type GoogleProject struct {
	ConnectionID    string   `json:"connectionID" minLength:"1" maxLength:"128" doc:"Of POST /connect/gcp/oauth-exchange"`
	ProjectID       string   `json:"projectID" minLength:"1" maxLength:"128" doc:"The project to connect" example:"my-project-123"`
	Name            string   `json:"name,omitempty" maxLength:"100" doc:"Unique in the organization; the project's id when left out"`
	PermissionLevel string   `json:"permissionLevel,omitempty" enum:"read_only,read_write" default:"read_only" doc:"A read_only account is never changed"`
	Regions         []string `json:"regions,omitempty" maxItems:"100" doc:"Only these; every one when left out"`
	EndpointURL     string   `json:"endpointURL,omitempty" maxLength:"512" doc:"An emulator or a private cloud, where the operator allows it"`
}

// finalizeOAuth creates the account of a connection, or renews the credentials of the account that the connection
// began with. If the cloud refuses the account, the connection stays, so that another project can be tried.
func (s *service) finalizeOAuth(ctx context.Context, in *struct{ Body GoogleProject }) (connection.Account, error) {
	c, b := identity.CallerFrom(ctx), in.Body
	key := s.connectionKey(c.Org, b.ConnectionID)
	conn, err := table.Read[pendingGrant](ctx, s.p.Table, key)
	if fault.Is(err, fault.NotFound) || err == nil && !conn.belongsTo(c) {
		return connection.Account{}, errUsed()
	}
	if err != nil {
		return connection.Account{}, fmt.Errorf("read a connection to Google: %w", err)
	}
	used := table.Delete(key, table.Exists())
	if conn.Renews {
		return s.renewAccount(ctx, c.Org, conn, renewal{b.ProjectID, used})
	}
	now := s.p.Clock.Now()
	a := inventory.Account{
		ID: conn.Account, Provider: "gcp", CloudAccountID: b.ProjectID, Name: b.Name,
		AuthMethod: connection.OAuthMethod, PermissionLevel: b.PermissionLevel,
		Regions: b.Regions, EndpointURL: b.EndpointURL, Sealed: conn.Sealed, Status: inventory.AccountConnecting,
		CreatedAt: now, UpdatedAt: now,
	}
	if a.Name == "" {
		a.Name = b.ProjectID
	}
	if err = s.opener.Prepare(ctx, c.Org, &a); err != nil {
		return connection.Account{}, err
	}
	return s.opener.Open(ctx, c.Org, a, used)
}

func errUsed() error {
	return fault.New(fault.Invalid,
		"connectionID: unknown, used, expired or of another session; begin again with GET /connect/gcp/oauth-url")
}

// renewal describes the renewal of an account: its project, and the write that uses the connection up.
type renewal struct {
	project string
	used    table.Write
}

func (s *service) renewAccount(ctx context.Context, org string, conn pendingGrant, r renewal) (connection.Account,
	error,
) {
	old, err := s.renewableAccount(ctx, org, conn.Account)
	if err != nil {
		return connection.Account{}, err
	}
	if r.project != old.CloudAccountID {
		return connection.Account{},
			fault.New(fault.Invalid, "projectID: the connection renews the account %s of project %s, not of %.64q",
				old.ID, old.CloudAccountID, r.project)
	}
	if old.EndpointURL != conn.Endpoint {
		return connection.Account{},
			fault.New(fault.Invalid, "connectionID: endpointURL of the account %s was changed after the connection "+
				"was begun, and the grant is not sent there: look at the account, then begin again with GET "+
				"/connect/gcp/oauth-url", old.ID)
	}
	a := old
	a.AuthMethod, a.Sealed = connection.OAuthMethod, conn.Sealed
	audit.NoteChange(ctx, audit.Change{Target: a.ID, Before: connection.NewRecord(old)})
	if err = s.opener.Reopen(ctx, org, connection.Change{Before: old, After: &a}, r.used); err != nil {
		return connection.Account{}, err
	}
	audit.NoteChange(ctx,
		audit.Change{After: connection.AuditedAccount{Account: connection.NewRecord(a), CredentialsReplaced: true}})
	return connection.NewRecord(a), nil
}

// oauthCallbackInput is the query that Google adds for the browser.
type oauthCallbackInput struct {
	Error string `query:"error" doc:"Why Google gives no code"`
}

// OAuthCallback is the text for a browser that has come back from Google.
type OAuthCallback struct {
	Message string `json:"message" doc:"The next step"`
}

// returnOAuth describes the next step for clients without a page of their own. It reads no session, stores nothing,
// and repeats neither code nor state, which are in the address.
func (s *service) returnOAuth(_ context.Context, in *oauthCallbackInput) (OAuthCallback, error) {
	if in.Error != "" {
		return OAuthCallback{fmt.Sprintf("Google gave no code (%.60q). Begin again with GET /connect/gcp/oauth-url.",
			in.Error)}, nil
	}
	return OAuthCallback{"Send code and state, which are in the address of this page, to POST " +
		"/connect/gcp/oauth-exchange, in the session that asked for the address."}, nil
}
