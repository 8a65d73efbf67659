// Package googleoauth lets a person grant access to their projects at Google. It returns the address for the browser,
// exchanges the code for tokens, and lists the person's projects. It links no SDK of Google, so that API functions
// can use it; the connector uses the tokens afterwards.
package googleoauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
)

// These are the addresses of Google's endpoints. Another issuer publishes its own, and answers for projects itself.
const (
	googleAuth     = "https://accounts.google.com/o/oauth2/v2/auth"
	googleToken    = "https://oauth2.googleapis.com/token" //nolint:gosec // an address
	googleProjects = "https://cloudresourcemanager.googleapis.com"
	cloudScope     = "https://www.googleapis.com/auth/cloud-platform"
)

// These constants bound the requests while a person waits.
const (
	callTimeout = 8 * time.Second
	maxAnswer   = 4 << 20
	pageSize    = 200
	// MaxProjects is how many projects are listed.
	MaxProjects = 1000
)

// Client sends requests to Google, or to the configured issuer in its place, as the client that the operator
// registered.
type Client struct {
	registered platform.Client
	callback   string
	projects   string // where projects are listed
	http       *http.Client
}

// New returns a client with the registration c. Browsers come back to the address callback.
func New(c platform.Client, callback string) *Client {
	out := &Client{c, callback, c.Issuer, &http.Client{
		Timeout: callTimeout,
		// A redirect could send code, secret or token to another host.
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

// Grant is the grant of a person. Refresh is a secret that opens the projects until the person revokes it.
type Grant struct {
	Refresh  string
	Projects []ListedProject
	More     bool // there are more projects than MaxProjects
}

func (c *Client) atGoogle() bool { return c.registered.Issuer == platform.GoogleIssuer }

// URL returns the address for the browser. It always asks for consent, because Google issues a refresh token only
// then.
func (c *Client) URL(ctx context.Context, state, verifier string) (string, error) {
	ends, err := c.findEndpoints(ctx)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256([]byte(verifier))
	sep := "?"
	if strings.Contains(ends.Auth, "?") {
		sep = "&"
	}
	return ends.Auth + sep + url.Values{
		"response_type": {"code"}, "client_id": {c.registered.ID}, "redirect_uri": {c.callback}, "scope": {ends.scope},
		"state":       {state},
		"access_type": {"offline"}, "prompt": {"consent"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(digest[:])}, "code_challenge_method": {"S256"},
	}.Encode(), nil
}

// Exchange exchanges the code, and lists the projects of the person who granted it. An invalid code, or a grant
// without the needed scopes, is fault.Invalid with Google's error text.
func (c *Client) Exchange(ctx context.Context, code, verifier string) (Grant, error) {
	t, err := c.exchangeCode(ctx, code, verifier)
	switch {
	case err != nil:
		return Grant{}, err
	case t.Refresh == "":
		return Grant{}, fault.New(fault.Invalid, "Google gave no refresh token: begin again with GET "+
			"/connect/gcp/oauth-url, and agree to access while you are away")
	case c.atGoogle() && !slices.Contains(strings.Fields(t.Scope), cloudScope):
		return Grant{}, fault.New(fault.Invalid, "access to Google Cloud was not granted: begin again with GET "+
			"/connect/gcp/oauth-url, and tick it")
	}
	g := Grant{Refresh: t.Refresh}
	g.Projects, g.More, err = c.listProjects(ctx, t.Access)
	return g, err
}

// listProjects lists the active projects by ID, and reports whether there are more.
func (c *Client) listProjects(ctx context.Context, access string) ([]ListedProject, bool, error) {
	out, next := []ListedProject{}, ""
	for len(out) < MaxProjects {
		page, err := c.projectPage(ctx, access, c.projects+"/v3/projects:search?"+url.Values{
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

// projectPage is an answer of projects:search, or its error.
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

func (c *Client) projectPage(ctx context.Context, access string, address string) (projectPage, error) {
	var page projectPage
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, fmt.Errorf("list projects: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+access)
	resp, err := c.http.Do(req)
	if err != nil {
		return page, fault.NewWithCause(fault.Unavailable, err, "Google did not list your projects: try again with "+
			"GET /connect/gcp/oauth-url")
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	err = json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(&page)
	switch {
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusOK && err != nil:
		return page, fault.NewWithCause(fault.Unavailable, err, "Google did not list your projects (%s): try again "+
			"with GET /connect/gcp/oauth-url", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return page, fault.New(
			fault.Invalid, "Google does not list your projects (%s): %s", resp.Status,
			fault.CleanText(page.Error.Message, 300))
	}
	return page, nil
}
