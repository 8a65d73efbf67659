package oauthlogin

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// gitHub is github.com, or an enterprise server. It uses OAuth 2.0 without ID tokens: its API must be asked for the
// person, with the token from the exchange.
type gitHub struct {
	platform.Client
	callbackURL string
	http        *http.Client
}

// site is the address of github.com. Its API has a host of its own; an enterprise server has it below /api/v3.
const site = "https://github.com"

func (g *gitHub) apiURL() string {
	if g.Issuer == site {
		return "https://api.github.com"
	}
	return g.Issuer + "/api/v3"
}

func (g *gitHub) oauthConfig() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.ID, ClientSecret: g.Secret, RedirectURL: g.callbackURL, Scopes: []string{"read:user", "user:email"},
		Endpoint: oauth2.Endpoint{
			AuthURL: g.Issuer + "/login/oauth/authorize", TokenURL: g.Issuer + "/login/oauth/access_token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// URL returns the address for the browser.
func (g *gitHub) URL(_ context.Context, at Attempt) (string, error) {
	return g.oauthConfig().AuthCodeURL(at.State, oauth2.S256ChallengeOption(at.Verifier)), nil
}

// Claim exchanges the code, and asks for the person. GitHub runs no mailboxes, so it is authoritative for no address.
func (g *gitHub) Claim(ctx context.Context, at Attempt, r Reply) (accounts.Claim, error) {
	if r.Issuer != "" && !strings.HasPrefix(r.Issuer+"/", g.Issuer+"/") {
		return accounts.Claim{}, fault.New(fault.Unauthenticated, "iss: the reply is not one of %s", GitHub)
	}
	t, err := tokenEndpoint{GitHub, g.http, g.oauthConfig()}.exchangeCode(ctx, r.Code, at.Verifier)
	if err != nil {
		return accounts.Claim{}, err
	}
	var user struct {
		ID    int64  `json:"id"` // the login can be given up and taken by somebody else
		Login string `json:"login"`
		Name  string `json:"name"`
	}
	if err = g.getJSON(ctx, t, "/user", &user); err != nil || user.ID <= 0 {
		return accounts.Claim{},
			errUnreachable(GitHub, errors.Join(err, errors.New("it does not tell who the person is")))
	}
	if user.Name == "" {
		user.Name = user.Login
	}
	email, err := g.readEmail(ctx, t)
	if err != nil {
		return accounts.Claim{}, err
	}
	return accounts.Claim{Issuer: g.Issuer, Subject: strconv.FormatInt(user.ID, 10), Email: email, Name: user.Name}, nil
}

// readEmail returns the person's verified primary address, or "" if there is none or it may not be read.
func (g *gitHub) readEmail(ctx context.Context, t *oauth2.Token) (string, error) {
	var all []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	err := g.getJSON(ctx, t, "/user/emails?per_page=100", &all)
	if hidden, ok := errors.AsType[*statusError](err); ok &&
		(hidden.status == http.StatusForbidden || hidden.status == http.StatusNotFound) {
		return "", nil
	}
	if err != nil {
		return "", errUnreachable(GitHub, err)
	}
	for _, e := range all {
		if e.Primary && e.Verified {
			return e.Email, nil
		}
	}
	return "", nil
}

func (g *gitHub) getJSON(ctx context.Context, t *oauth2.Token, path string, out any) error {
	return fetchJSON(ctx, g.http, g.apiURL()+path, http.Header{
		"Authorization": {"Bearer " + t.AccessToken}, "Accept": {"application/vnd.github+json"},
		"User-Agent": {"Lamplighter"}, "X-Github-Api-Version": {"2022-11-28"},
	}, out)
}
