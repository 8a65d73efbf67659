// Package googleoauth lets a person hand over access to their projects at Google: where to send the browser, the tokens that the
// code is exchanged for, and which projects the person has. It links no SDK of Google's, so that API functions can do it; what
// the tokens open afterwards is the connector's to find out.
package googleoauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
)

// Where Google's ends are. Another issuer tells where its own are, and answers for projects itself.
const (
	googleAuth     = "https://accounts.google.com/o/oauth2/v2/auth"
	googleToken    = "https://oauth2.googleapis.com/token" //nolint:gosec // an address
	googleProjects = "https://cloudresourcemanager.googleapis.com"
	cloudScope     = "https://www.googleapis.com/auth/cloud-platform"
)

// Bounds of what is asked while somebody waits.
const (
	callTimeout = 8 * time.Second
	maxAnswer   = 4 << 20
	pageSize    = 200
	// MaxProjects is how many projects are listed.
	MaxProjects = 1000
)

// Client asks Google, or whoever is configured in its place, as the client that the operator registered.
type Client struct {
	registered platform.Client
	callback   string
	projects   string // where projects are listed
	http       *http.Client
}

// New returns the client c, to which browsers come back at the address callback.
func New(c platform.Client, callback string) *Client {
	out := &Client{c, callback, c.Issuer, &http.Client{
		Timeout: callTimeout,
		// A redirect could carry code, secret or token to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if out.atGoogle() {
		out.projects = googleProjects
	}
	return out
}

// ListedProject is a project that the person may see.
type ListedProject struct {
	ProjectID string `json:"projectID" example:"my-project-123"`
	Name      string `json:"name" example:"My project"`
}

// Grant is what a person has granted: Refresh is a secret that opens the projects until the person takes it back.
type Grant struct {
	Refresh  string
	Projects []ListedProject
	More     bool // there are more projects than MaxProjects
}

func (c *Client) atGoogle() bool { return c.registered.Issuer == platform.GoogleIssuer }

// config finds the ends of the issuer. Google's are known; fault.Unavailable when another one does not tell its own.
func (c *Client) config(ctx context.Context) (*oauth2.Config, error) {
	cfg := &oauth2.Config{
		ClientID: c.registered.ID, ClientSecret: c.registered.Secret, RedirectURL: c.callback, Scopes: []string{cloudScope},
		Endpoint: oauth2.Endpoint{AuthURL: googleAuth, TokenURL: googleToken, AuthStyle: oauth2.AuthStyleInParams},
	}
	if c.atGoogle() {
		return cfg, nil
	}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.registered.Issuer)
	if err != nil {
		return nil, fault.NewWithCause(fault.Unavailable, err, "%s cannot be reached: try again", c.registered.Issuer)
	}
	cfg.Endpoint, cfg.Scopes = p.Endpoint(), []string{oidc.ScopeOpenID, oidc.ScopeOfflineAccess}
	cfg.Endpoint.AuthStyle = oauth2.AuthStyleInHeader // told, for trying would cost the code
	return cfg, nil
}

// URL returns where to send the browser. Consent is asked for each time: only then does Google give a refresh token.
func (c *Client) URL(ctx context.Context, state, verifier string) (string, error) {
	cfg, err := c.config(ctx)
	if err != nil {
		return "", err
	}
	return cfg.AuthCodeURL(state, oauth2.AccessTypeOffline, oauth2.ApprovalForce, oauth2.S256ChallengeOption(verifier)), nil
}

// Exchange exchanges the code, and lists the projects of whoever granted it. A code that is not good, or a grant that lacks what is
// needed, is fault.Invalid in Google's words.
func (c *Client) Exchange(ctx context.Context, code, verifier string) (Grant, error) {
	cfg, err := c.config(ctx)
	if err != nil {
		return Grant{}, err
	}
	t, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.http), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return Grant{}, refused(err)
	}
	scopes, _ := t.Extra("scope").(string)
	switch {
	case t.RefreshToken == "":
		return Grant{}, fault.New(fault.Invalid, "Google gave no refresh token: begin again with GET /connect/gcp/oauth-url, and agree to access while you are away")
	case c.atGoogle() && !slices.Contains(strings.Fields(scopes), cloudScope):
		return Grant{}, fault.New(fault.Invalid, "access to Google Cloud was not granted: begin again with GET /connect/gcp/oauth-url, and tick it")
	}
	g := Grant{Refresh: t.RefreshToken}
	g.Projects, g.More, err = c.listProjects(ctx, t)
	return g, err
}

// refused says what an exchange failed of, without the answer's body, which may hold tokens.
func refused(err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || e.Response.StatusCode >= http.StatusInternalServerError {
		return fault.New(fault.Unavailable, "Google did not answer: try again with GET /connect/gcp/oauth-url")
	}
	why := fault.CleanText(e.ErrorCode, 40)
	if e.ErrorDescription != "" {
		why += ": " + fault.CleanText(e.ErrorDescription, 200)
	}
	switch e.ErrorCode {
	case "invalid_client", "unauthorized_client", "redirect_uri_mismatch":
		return fault.New(fault.Invalid, "Google does not know this deployment's OAuth client (%s): the operator has to look at LAMPLIGHTER_GCP_CLIENT_ID and LAMPLIGHTER_GCP_CLIENT_SECRET", why)
	}
	return fault.New(fault.Invalid, "code: Google refuses it (%s); begin again with GET /connect/gcp/oauth-url", why)
}

// listProjects lists the active projects, by their ids, and whether there are more.
func (c *Client) listProjects(ctx context.Context, t *oauth2.Token) ([]ListedProject, bool, error) {
	out, next := []ListedProject{}, ""
	for len(out) < MaxProjects {
		page, err := c.projectPage(ctx, t, c.projects+"/v3/projects:search?"+url.Values{
			"query": {"state:ACTIVE"}, "pageSize": {strconv.Itoa(pageSize)}, "pageToken": {next},
		}.Encode())
		if err != nil {
			return nil, false, err
		}
		for _, p := range page.Projects {
			out = append(out, ListedProject{p.ProjectID, p.DisplayName})
		}
		if next = page.Next; next == "" {
			break
		}
	}
	slices.SortFunc(out, func(a, b ListedProject) int { return strings.Compare(a.ProjectID, b.ProjectID) })
	return out[:min(len(out), MaxProjects)], next != "" || len(out) > MaxProjects, nil
}

// projectPage is an answer of projects:search, or why there is none.
type projectPage struct {
	Projects []struct {
		ProjectID   string `json:"projectId"`
		DisplayName string `json:"displayName"`
	} `json:"projects"`
	Next  string `json:"nextPageToken"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (c *Client) projectPage(ctx context.Context, t *oauth2.Token, address string) (projectPage, error) {
	var page projectPage
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, fmt.Errorf("list projects: %w", err)
	}
	t.SetAuthHeader(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return page, fault.NewWithCause(fault.Unavailable, err, "Google did not list your projects: try again with GET /connect/gcp/oauth-url")
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	err = json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(&page)
	switch {
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusOK && err != nil:
		return page, fault.NewWithCause(fault.Unavailable, err, "Google did not list your projects (%s): try again with GET /connect/gcp/oauth-url", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return page, fault.New(fault.Invalid, "Google does not list your projects (%s): %s", resp.Status, fault.CleanText(page.Error.Message, 300))
	}
	return page, nil
}
