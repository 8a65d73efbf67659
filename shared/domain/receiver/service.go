package receiver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// IntegrationServices makes requests to connected services.
type IntegrationServices struct {
	store   *IntegrationStore
	table   table.Store
	clock   clock.Clock
	workers lambdacall.Invoker // asks clouds; may be nil if Test is not called
	policy  ssrfguard.Policy
	client  *http.Client
}

// NewIntegrationServices returns a client for the integrations of s at addresses that p allows.
func NewIntegrationServices(s *IntegrationStore, c clock.Clock, workers lambdacall.Invoker,
	p ssrfguard.Policy,
) *IntegrationServices {
	return &IntegrationServices{s, s.table, c, workers, p, p.HTTPClient()}
}

// request is a request to a service.
type request struct {
	method, url string
	body        any // encoded as JSON; nil means no body
	headers     map[string]string
	user, pass  string            // for Basic authentication; empty means none
	config      map[string]string // of the integration; its values are redacted from messages
}

// ask makes a request. It returns fault.Unavailable when the service does not answer, and fault.Invalid when the
// address may not be called. A response of any status is not an error.
func (s *IntegrationServices) ask(ctx context.Context, q request) (Exchange, error) {
	if err := s.policy.CheckAddress(q.url); err != nil {
		return Exchange{}, err
	}
	var body bytes.Buffer
	if q.body != nil {
		if err := json.NewEncoder(&body).Encode(q.body); err != nil {
			return Exchange{}, fmt.Errorf("encode a request: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, &body)
	if err != nil {
		return Exchange{}, fault.NewWithCause(fault.Invalid, err, "the address cannot be called")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Lamplighter")
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, v := range q.headers {
		r.Header.Set(name, v)
	}
	if q.user != "" {
		r.SetBasicAuth(q.user, q.pass)
	}
	x, err := Do(s.client, s.clock, r)
	return x.Without(append(slices.Collect(maps.Values(q.config)), r.Header.Get("Authorization"))...), err
}

// refusal returns the error for an unsuccessful response: fault.Invalid when a retry cannot help, else
// fault.Unavailable.
func refusal(name string, x Exchange) error {
	k := fault.Invalid
	if x.Status >= http.StatusInternalServerError || x.Status == http.StatusTooManyRequests ||
		x.Status == http.StatusRequestTimeout {
		k = fault.Unavailable
	}
	why := ""
	switch {
	case x.Status == http.StatusUnauthorized:
		why = ": it does not accept the credential"
	case x.Status/100 == 3:
		why = ": redirects are not followed, name the address itself"
	case x.Message != "":
		why = ": " + x.Message
	}
	return fault.New(k, "%s answered with status %d%s", name, x.Status, why)
}

// Test checks the configuration of i with its service and returns the service's answer. It returns fault.Invalid when
// the service refuses, and fault.Unavailable when it does not answer.
func (s *IntegrationServices) Test(ctx context.Context, org string, i *Integration) (string, error) {
	c, err := s.store.Open(ctx, org, i)
	if err != nil {
		return "", err
	}
	entry, _ := IntegrationKindOf(i.Kind)
	if err = entry.checkForms(c); err != nil {
		return "", err
	}
	switch i.Kind {
	case GitHub:
		return s.whoAmI(ctx, "GitHub", "login", request{
			url:     join(c["baseURL"], "/user"),
			headers: map[string]string{"Authorization": "Bearer " + c["token"], "X-GitHub-Api-Version": "2022-11-28"},
			config:  c,
		})
	case GitLab:
		return s.whoAmI(ctx, "GitLab", "username",
			request{
				url: join(c["baseURL"], "/api/v4/user"), headers: map[string]string{"PRIVATE-TOKEN": c["token"]},
				config: c,
			})
	case Jira:
		return s.whoAmI(ctx, "Jira", "displayName",
			request{url: join(c["siteURL"], "/rest/api/3/myself"), user: c["email"], pass: c["apiToken"], config: c})
	case DockerHub:
		return s.testDockerHub(ctx, c)
	case GAR:
		return s.testRegistry(ctx, registry{c["host"], c[EndpointURL], "_json_key", c["serviceAccountKey"], c})
	case ACR:
		return s.testRegistry(ctx, registry{c["host"], c[EndpointURL], c["username"], c["password"], c})
	case ECR:
		return s.testAccount(ctx, org, c)
	case PagerDuty:
		return s.testPagerDuty(ctx, i, c)
	}
	return "", fault.New(fault.Internal, "integration %s is of kind %q, which cannot be tested", i.ID, i.Kind)
}

// join appends a path to an address with or without a trailing slash.
func join(base, path string) string { return strings.TrimRight(base, "/") + path }

// whoAmI asks a service for the owner of a credential.
func (s *IntegrationServices) whoAmI(ctx context.Context, name, field string, q request) (string, error) {
	q.method = http.MethodGet
	x, err := s.ask(ctx, q)
	if err != nil {
		return "", fault.Wrap("ask "+name, err)
	}
	if x.Status != http.StatusOK {
		return "", refusal(name, x)
	}
	var who map[string]any
	if err = json.Unmarshal(x.Body, &who); err != nil {
		return "", fault.New(fault.Invalid, "what answers there is not %s: its answer is not JSON", name)
	}
	text, _ := who[field].(string)
	if text == "" {
		return "", fault.New(fault.Invalid, "what answers there is not %s: its answer does not say who the "+
			"credential belongs to", name)
	}
	return fmt.Sprintf("%s knows the credential as %s", name, fault.CleanText(text, 100)), nil
}

// testDockerHub exchanges the credential for a token (Docker Hub API, "Create access token").
func (s *IntegrationServices) testDockerHub(ctx context.Context, c map[string]string) (string, error) {
	x, err := s.ask(ctx, request{
		method: http.MethodPost, url: join(cmp.Or(c[EndpointURL], "https://hub.docker.com"), "/v2/auth/token"),
		body: map[string]string{"identifier": c["username"], "secret": c["token"]}, config: c,
	})
	if err != nil {
		return "", fault.Wrap("ask Docker Hub", err)
	}
	if x.Status != http.StatusOK {
		return "", refusal("Docker Hub", x)
	}
	return "Docker Hub accepts the credential of " + c["username"], nil
}

// registry is a registry of images with its credential.
type registry struct {
	host, endpoint, user, pass string
	config                     map[string]string
}

// testRegistry makes the first request of every registry client (OCI distribution specification, "Determining
// support"): GET /v2/. If that demands a token, it requests one from the given realm, which must be on the registry's
// own host.
func (s *IntegrationServices) testRegistry(ctx context.Context, r registry) (string, error) {
	base := cmp.Or(r.endpoint, "https://"+r.host)
	x, err := s.ask(ctx,
		request{method: http.MethodGet, url: join(base, "/v2/"), user: r.user, pass: r.pass, config: r.config})
	if err != nil {
		return "", fault.Wrap("ask "+r.host, err)
	}
	if realm, service := bearer(x.Demands); x.Status == http.StatusUnauthorized && realm != "" {
		if !sameHost(realm, base) {
			return "", fault.New(fault.Invalid, "%s sends credentials elsewhere, which is not done", r.host)
		}
		q := url.Values{"service": {service}}
		if x, err = s.ask(ctx,
			request{
				method: http.MethodGet, url: realm + "?" + q.Encode(), user: r.user, pass: r.pass,
				config: r.config,
			}); err != nil {
			return "", fault.Wrap("ask "+r.host+" for a token", err)
		}
	}
	if x.Status != http.StatusOK {
		return "", refusal(r.host, x)
	}
	return r.host + " accepts the credential", nil
}

// challenge matches the parameters of a demand for a token (RFC 6750, 3).
var challenge = regexp.MustCompile(`(?i)\b(realm|service)="([^"]*)"`)

// bearer returns the realm and the service of a demand for a token, or "" when it demands none.
func bearer(demand string) (realm, service string) {
	if !strings.HasPrefix(strings.ToLower(demand), "bearer ") {
		return "", ""
	}
	for _, m := range challenge.FindAllStringSubmatch(demand, -1) {
		if strings.EqualFold(m[1], "realm") {
			realm = m[2]
		} else {
			service = m[2]
		}
	}
	return realm, service
}

func sameHost(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && ua.Host == ub.Host && ua.RawQuery == ""
}

// testAccount asks the cloud whether the account of a registry is still accessible.
func (s *IntegrationServices) testAccount(ctx context.Context, org string, c map[string]string) (string, error) {
	a, err := table.Read[inventory.Account](ctx, s.table, inventory.AccountKey(org, c["cloudAccountID"]))
	if fault.Is(err, fault.NotFound) {
		return "", fault.New(fault.Invalid, "config.cloudAccountID: there is no cloud account %s", c["cloudAccountID"])
	}
	if err != nil {
		return "", fault.Wrap("read account "+c["cloudAccountID"], err)
	}
	if a.Provider != "aws" {
		return "", fault.New(
			fault.Invalid, "config.cloudAccountID: %s is an account of %s, not of aws", a.ID, a.Provider)
	}
	var got inventory.Verified
	if err = inventory.AskConnector(ctx, s.workers, inventory.Question{Ask: inventory.AskVerify, Org: org, Account: a},
		&got); err != nil {
		return "", err
	}
	return fmt.Sprintf("the account %s is open; its registry is %s.dkr.ecr.%s.amazonaws.com", a.Name, got.NativeID,
		c["region"]), nil
}
