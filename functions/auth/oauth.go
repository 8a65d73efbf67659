package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/people/sessions"
)

const (
	oauthLoginTTL    = 10 * time.Minute
	oauthLoginPrefix = "SIGNIN#"
	maxState         = 128
	maxGrant         = 4096
)

// oauthLogin is the record of a person who was sent to a provider. It contains no secret: nonce and verifier are
// derived from the state, which is not stored.
type oauthLogin struct {
	Provider string `json:"provider"`
	Org      string `json:"tenant,omitempty"`
	// Browser is the hash of the state cookie of the browser that began in the web console; "" without the console.
	Browser string `json:"browser,omitempty"`
}

func (s *service) oauthLoginKey(state string) table.Key {
	return table.Key{PK: oauthLoginPrefix + identity.Digest(s.Settings.CodeKey(), "signin", state), SK: "S"}
}

// deriveAttempt returns the secrets of an issued state. The verifier has 43 characters, the minimum of RFC 7636.
func (s *service) deriveAttempt(state string) oauthlogin.Attempt {
	return oauthlogin.Attempt{
		State:    state,
		Nonce:    identity.Digest(s.Settings.CodeKey(), "signin-nonce", state),
		Verifier: identity.Digest(s.Settings.CodeKey(), "signin-verifier", state),
	}
}

type beginOAuthInput struct {
	Provider string `path:"provider" doc:"Where to sign in: google or github" example:"google"`
	TenantID string `query:"tenantID" maxLength:"64" doc:"The organization to work in; without one, the user's first"`
	For      string `query:"for" enum:"console" doc:"console: the callback sets the cookie of the web console and redirects to it; only with X-Lamplighter-Console: 1"`
}

// Departure is the answer that begins a sign-in at a provider.
type Departure struct {
	URL   string `json:"url" doc:"Where to send the browser"`
	State string `json:"state" doc:"Comes back with the browser; continue only with the state that this browser was sent away with. Valid once, for 10 minutes"`
}

func (s *service) beginOAuth(ctx context.Context, in *beginOAuthInput) (Departure, error) {
	provider, err := s.providers.Find(in.Provider)
	if err != nil {
		return Departure{}, err
	}
	if err = s.takeRateLimit(ctx, oauthLoginsPerSource, requestSource(ctx)); err != nil {
		return Departure{}, err
	}
	login, state := oauthLogin{Provider: in.Provider, Org: in.TenantID}, rand.Text()+rand.Text()
	if in.For == consolesession.Console {
		state = consoleState + state
		if login.Browser, err = s.cookies().Bind(ctx, consolesession.ByLink); err != nil {
			return Departure{}, err
		}
	}
	address, err := provider.URL(ctx, s.deriveAttempt(state))
	if err != nil {
		return Departure{}, err
	}
	return Departure{address, state}, s.storeOAuthLogin(ctx, state, login)
}

// storeOAuthLogin stores the record of a state for as long as the person may take.
func (s *service) storeOAuthLogin(ctx context.Context, state string, login oauthLogin) error {
	it, err := table.NewItem(s.oauthLoginKey(state), login)
	if err != nil {
		return err
	}
	it.Expires = s.Clock.Now().Add(oauthLoginTTL)
	_, err = s.Table.Write(withAuthPartitions(ctx), table.Put(it, table.Absent()))
	return fault.Wrap("begin sign-in at "+login.Provider, err)
}

// completeOAuthInput is the query of the returning browser. It is not validated before the handler, so that every
// invalid value is 401.
type completeOAuthInput struct {
	Provider    string `path:"provider" doc:"As it was begun: google or github" example:"google"`
	Code        string `query:"code" doc:"The authorization code"`
	State       string `query:"state" doc:"Required: the one that GET /auth/{provider}/url issued"`
	Issuer      string `query:"iss" doc:"Who answers, where the provider says so (RFC 9207)"`
	Error       string `query:"error" doc:"Why the provider gives no code"`
	Description string `query:"error_description" doc:"The same in words"`
}

// completeOAuth ends a sign-in, and returns its record. It uses up the state first, so that only one of two concurrent
// requests with the same state succeeds.
func (s *service) completeOAuth(ctx context.Context, in *completeOAuthInput) (sessions.LoggedIn, oauthLogin, error) {
	var none sessions.LoggedIn
	provider, err := s.providers.Find(in.Provider)
	if err != nil {
		return none, oauthLogin{}, err
	}
	if err = s.takeRateLimit(ctx, oauthLoginsPerSource, requestSource(ctx)); err != nil {
		return none, oauthLogin{}, err
	}
	v, err := s.useOAuthLogin(ctx, in)
	// Somebody may have been sent the address of a stranger's sign-in, or have stolen one.
	if err == nil && v.Browser != "" && !s.cookies().IsBound(ctx, v.Browser) {
		err = errState(in.Provider)
	}
	if err != nil {
		return none, v, err
	}
	if in.Error != "" || in.Code == "" || len(in.Code) > maxGrant {
		return none, v, errNoCode(in)
	}
	claim, err := provider.Claim(ctx, s.deriveAttempt(in.State), oauthlogin.Reply{Code: in.Code, Issuer: in.Issuer})
	if err != nil {
		return none, v, err
	}
	how := sessions.Options{Org: v.Org, Method: v.Provider}
	out, err := s.logInByClaim(ctx, claim, logInProof{how: how, later: true})
	return out, v, err
}

// useOAuthLogin returns the sign-in of a state and ends it.
func (s *service) useOAuthLogin(ctx context.Context, in *completeOAuthInput) (oauthLogin, error) {
	ctx = withAuthPartitions(ctx)
	if in.State == "" || len(in.State) > maxState {
		return oauthLogin{}, errState(in.Provider)
	}
	k := s.oauthLoginKey(in.State)
	v, err := table.Read[oauthLogin](ctx, s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return v, errState(in.Provider)
	}
	if err != nil {
		return v, fmt.Errorf("read sign-in at %s: %w", in.Provider, err)
	}
	_, err = s.Table.Write(ctx, table.Delete(k, table.Exists()))
	if _, late := errors.AsType[*table.ConditionError](err); late || err == nil && v.Provider != in.Provider {
		return v, errState(in.Provider)
	}
	return v, fault.Wrap("end sign-in at "+in.Provider, err)
}

// staleState is the cause of errState, for the console, which tells people of it in other words.
type staleState struct{}

// Error returns the reason.
func (staleState) Error() string {
	return "the state does not belong to an open sign-in of this browser"
}

// errState returns the same error for a state that is missing, made up, used, too old, of another provider, or of
// another browser.
func errState(provider string) error {
	return fault.NewWithCause(fault.Unauthenticated, staleState{},
		"state: unknown, used or expired; begin again with GET /auth/%s/url", provider)
}

// errNoCode returns the provider's cleaned error text for a missing code.
func errNoCode(in *completeOAuthInput) error {
	why := fault.CleanText(in.Error, 40)
	if more := fault.CleanText(in.Description, 140); more != "" {
		why += ": " + more
	}
	if why == "" {
		why = "it sent no code"
	}
	return fault.New(fault.Unauthenticated, "%s did not sign you in (%s); begin again with GET /auth/%s/url",
		in.Provider, why, in.Provider)
}
