package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cloud.google.com/go/auth"
	"google.golang.org/api/alloydb/v1"
	"google.golang.org/api/bigquery/v2"
	"google.golang.org/api/cloudasset/v1"
	resourcemanager "google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/dataproc/v1"
	"google.golang.org/api/monitoring/v3"
	"google.golang.org/api/notebooks/v2"
	"google.golang.org/api/option"
	"google.golang.org/api/run/v2"
	"google.golang.org/api/sqladmin/v1"
	"google.golang.org/api/workstations/v1"

	"lamplighter.dev/shared/cloud"
)

// session is the clients of one account.
type session struct {
	provider  *Provider
	account   cloud.Account
	project   string
	tokens    auth.TokenProvider
	tokenHTTP *http.Client // without the account's token
	compute   *compute.Service
	sql       *sqladmin.Service
	gke       *container.Service
	run       *run.Service
	projects  *resourcemanager.Service
	assets    *cloudasset.Service
	metrics   *monitoring.Service
	stations  *workstations.Service
	notebooks *notebooks.Service
	dataproc  *dataproc.Service
	alloydb   *alloydb.Service
	bigquery  *bigquery.Service

	mu     sync.Mutex
	number string // of the project, once it was asked for
	// scanned is how many bytes questions about bills have scanned
	scanned int64

	beside acquaintance
}

// openSession makes the clients; no call is made.
func (p *Provider) openSession(ctx context.Context, a cloud.Account) (*session, error) {
	t := &patient{provider: p, project: cmp.Or(a.NativeID, a.ID)}
	if a.EndpointURL != "" {
		endpoint, err := url.Parse(a.EndpointURL)
		if err != nil {
			return nil, errInvalid("endpointURL is not an address")
		}
		t.endpoint = endpoint
	}
	s := &session{provider: p, account: a, tokenHTTP: plainClient(minting{t})}
	who, err := p.openCredentials(a, s.tokenHTTP)
	if err != nil {
		return nil, err
	}
	if s.project, err = projectOf(a, who); err != nil {
		return nil, err
	}
	tokens := auth.NewCachedTokenProvider(who.tokens, &auth.CachedTokenProviderOptions{DisableAsyncRefresh: true})
	s.tokens = tokens
	return s, s.openClients(ctx, plainClient(&bearer{tokens, t}))
}

// projectOf returns the project that the account is: the one that it was connected for, or which its credentials name.
func projectOf(a cloud.Account, who identity) (string, error) {
	id := cmp.Or(a.NativeID, a.Credentials["projectID"], who.project)
	switch {
	case id == "":
		return "", errInvalid("credentials.projectID is missing: these credentials may open several projects")
	case !projectID.MatchString(id):
		return "", errInvalid("%.100q is not the id of a Google Cloud project", id)
	}
	return id, nil
}

// openClients makes the REST clients over one HTTP client, which knows credentials, limits and addresses.
func (s *session) openClients(ctx context.Context, c *http.Client) error {
	o := []option.ClientOption{option.WithHTTPClient(c)}
	var errs [12]error
	s.compute, errs[0] = compute.NewService(ctx, o...)
	s.sql, errs[1] = sqladmin.NewService(ctx, o...)
	s.gke, errs[2] = container.NewService(ctx, o...)
	s.run, errs[3] = run.NewService(ctx, o...)
	s.projects, errs[4] = resourcemanager.NewService(ctx, o...)
	s.assets, errs[5] = cloudasset.NewService(ctx, o...)
	s.metrics, errs[6] = monitoring.NewService(ctx, o...)
	s.stations, errs[7] = workstations.NewService(ctx, o...)
	s.notebooks, errs[8] = notebooks.NewService(ctx, o...)
	s.dataproc, errs[9] = dataproc.NewService(ctx, o...)
	s.alloydb, errs[10] = alloydb.NewService(ctx, o...)
	s.bigquery, errs[11] = bigquery.NewService(ctx, o...)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("make the clients of Google Cloud: %w", err)
	}
	return nil
}

// Identify returns the id of the project. A workload identity provider that takes tokens for whatever audience would open for
// every organization here: it is class Refused. Emulators do not check audiences, so it is not asked of them.
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
		return "", &cloud.Error{Class: cloud.Refused, Op: "resourcemanager.projects.get", Code: p.State, Message: fmt.Sprintf("the project %s is not active", p.ProjectId)}
	}
	return p.ProjectId, nil
}

// readProject reads the project, and keeps its number.
func (s *session) readProject(ctx context.Context) (*resourcemanager.Project, error) {
	p, err := call("resourcemanager.projects.get", s.projects.Projects.Get("projects/"+s.project).Context(ctx).Do)
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

// Regions lists the regions that are up: of those that the account names, or of all.
func (c *conn) Regions(ctx context.Context) ([]string, error) {
	var names []string
	for page, n := "", 0; n < maxPages; n++ {
		out, err := call("compute.regions.list",
			c.compute.Regions.List(c.project).MaxResults(500).PageToken(page).Context(ctx).Do)
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
	return nil, errUnsupported("project %s has more than %d pages of regions", c.project, maxPages)
}
