package gcp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cloud.google.com/go/auth"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// session is the access to one account.
type session struct {
	provider  *Provider
	account   cloud.Account
	project   string
	tokens    auth.TokenProvider
	tokenHTTP *http.Client // without the account's token
	apiHTTP   *http.Client // with the account's token; knows its address, its limits and its retries

	mu     sync.Mutex
	number string // of the project, once it was asked for
	// scanned is the number of bytes that queries about bills have scanned
	scanned int64

	beside   neighbourCache
	policies policyCache
}

// openSession makes the HTTP clients of an account; no call is made.
func (p *Provider) openSession(a cloud.Account) (*session, error) {
	t := &retryTransport{provider: p, project: cmp.Or(a.NativeID, a.ID)}
	if a.EndpointURL != "" {
		endpoint, err := url.Parse(a.EndpointURL)
		if err != nil {
			return nil, cloud.ErrInvalid("endpointURL is not an address")
		}
		t.endpoint = endpoint
	}
	s := &session{provider: p, account: a, tokenHTTP: plainClient(mintTransport{t})}
	who, err := p.openCredentials(a, s.tokenHTTP)
	if err != nil {
		return nil, err
	}
	if s.project, err = projectOf(a, who); err != nil {
		return nil, err
	}
	tokens := auth.NewCachedTokenProvider(who.tokens, &auth.CachedTokenProviderOptions{DisableAsyncRefresh: true})
	s.tokens, s.apiHTTP = tokens, plainClient(&tokenTransport{tokens, t})
	return s, nil
}

// projectOf returns the account's project: the connected one, or the one that its credentials name.
func projectOf(a cloud.Account, who identity) (string, error) {
	id := cmp.Or(a.NativeID, a.Credentials["projectID"], who.project)
	switch {
	case id == "":
		return "", cloud.ErrInvalid("credentials.projectID is missing: these credentials may open several projects")
	case !projectID.MatchString(id):
		return "", cloud.ErrInvalid("%.100q is not the id of a Google Cloud project", id)
	}
	return id, nil
}

// Identify returns the id of the project. A workload identity provider that accepts tokens for any audience is class
// Refused, because it would admit every organization of this installation. Emulators do not check audiences, so they
// are not tested for that.
func (c *conn) Identify(ctx context.Context) (string, error) {
	if c.account.AuthMethod == "workload_identity_federation" && c.account.EndpointURL == "" {
		if err := c.demandAudience(ctx); err != nil {
			return "", err
		}
	}
	p, err := c.readProject(ctx)
	if err != nil {
		return "", err
	}
	if p.State != "ACTIVE" {
		return "", &cloud.Error{
			Class: cloud.Refused, Op: "resourcemanager.projects.get", Code: p.State,
			Message: fmt.Sprintf("the project %s is not active", p.ProjectID),
		}
	}
	return p.ProjectID, nil
}

// readProject reads the project, and keeps its number.
func (s *session) readProject(ctx context.Context) (*googlerest.Project, error) {
	p, err := call[googlerest.Project](ctx, s, googlerest.NewGet("resourcemanager.projects.get",
		googlerest.ResourceManager+"{+name}", "projects/"+s.project))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number = strings.TrimPrefix(p.Name, "projects/")
	return p, nil
}

// projectNumber returns the number of the project; "" when it cannot be read.
func (s *session) projectNumber(ctx context.Context) string {
	s.mu.Lock()
	number := s.number
	s.mu.Unlock()
	if number == "" {
		if p, err := s.readProject(ctx); err == nil {
			return strings.TrimPrefix(p.Name, "projects/")
		}
	}
	return number
}

// demandAudience tries to exchange a token for the audience that Google takes by default, which names no organization.
func (c *conn) demandAudience(ctx context.Context) error {
	pool := c.account.Credentials["workloadIdentityProvider"]
	foreign, err := c.provider.options.Identity.IdentityToken(ctx, "https:"+pool)
	if err != nil {
		return classifyError("sts.token", err)
	}
	form := url.Values{
		"audience": {pool}, "grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "scope": {scope},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "subject_token_type": {jwtType},
		"subject_token": {foreign},
	}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, exchangeURL, strings.NewReader(form))
	if err != nil {
		return fmt.Errorf("try the audience: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.tokenHTTP.Do(r)
	if err = classifyError("sts.token", err); err != nil {
		if cloud.ClassOf(err) == cloud.Refused {
			return nil
		}
		return err
	}
	defer resp.Body.Close()
	return &cloud.Error{Class: cloud.Refused, Op: "sts.token", Code: "UnsafeProvider", Message: fmt.Sprintf(
		"the workload identity provider takes tokens of this service for any organization; let it allow the audience "+
			"%q and no other (gcloud iam workload-identity-pools providers update-oidc … --allowed-audiences=%s)",
		Audience(c.account.Org), strconv.Quote(Audience(c.account.Org)))}
}

// Regions lists the regions that are up: of the account's named regions, or of all.
func (c *conn) Regions(ctx context.Context) ([]string, error) {
	var names []string
	for page, n := "", 0; n < maxPages; n++ {
		out, err := call[googlerest.RegionList](ctx, c.session, googlerest.NewGet("compute.regions.list",
			googlerest.Compute+"projects/{project}/regions", c.project).SetInt("maxResults", 500).Set("pageToken",
			page))
		if err != nil {
			return nil, err
		}
		for _, r := range out.Items {
			named := len(c.account.Regions) == 0 || slices.Contains(c.account.Regions, r.Name)
			if named && r.Status == "UP" {
				names = append(names, r.Name)
			}
		}
		if page = out.NextPageToken; page == "" {
			slices.Sort(names)
			return names, nil
		}
	}
	return nil, cloud.ErrUnsupported("project %s has more than %d pages of regions", c.project, maxPages)
}
