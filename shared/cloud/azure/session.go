package azure

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/endpoint"
	"lamplighter.dev/shared/foundation/fault"
)

// federation is the authMethod that needs no secret.
const federation = "workload_identity_federation"

// placeholder is the assertion that a custom endpoint is shown.
const placeholder = "lamplighter"

var (
	entraName      = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]{0,127}$`) // a GUID, or a tenant's domain
	subscriptionID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// Audience is the audience of this service's tokens for the subscriptions of an organization (workload identity
// federation). The federated credential of the customer's application names it. Names of tenants, applications and
// subscriptions are not secret: with one audience for all organizations, an organization could open another's
// subscription by naming it (the confused deputy).
func Audience(org string) string { return anyAudience + "/" + org }

// anyAudience is the audience that Entra suggests. It names no organization.
const anyAudience = "api://AzureADTokenExchange"

// openConn makes a connection to an account.
func (p *Provider) openConn(a cloud.Account) (*conn, error) {
	if a.NativeID != "" && !subscriptionID.MatchString(a.NativeID) {
		return nil, cloud.ErrInvalid("%.64q is not the id of an Azure subscription", a.NativeID)
	}
	o := p.clientOptions(a)
	token, err := p.newCredential(a, o, Audience(a.Org))
	if err != nil {
		return nil, err
	}
	c, err := arm.NewClient("lamplighter", "v1.0.0", token,
		&arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true})
	if err != nil {
		return nil, cloud.ErrInvalid("the account cannot be opened: %v", err)
	}
	out := &conn{
		account: a, tokens: token, client: &armClient{c.Pipeline(), c.Endpoint()},
		metrics: newMetricClient(a, token, o), clock: p.options.Clock,
		storage: newPipeline(token, storageScope, o),
	}
	out.OpenChange = out.changing
	if a.EndpointURL != "" {
		out.storageEndpoint = o.Cloud.Services[azcloud.ResourceManager].Endpoint
	}
	if a.AuthMethod == federation && a.EndpointURL == "" {
		out.stranger, err = p.newCredential(a, o, anyAudience)
	}
	return out, err
}

// newMetricClient makes the client of metrics. A custom endpoint is its host, too.
func newMetricClient(a cloud.Account, token azcore.TokenCredential, o policy.ClientOptions) metricClient {
	m := metricClient{pipeline: newPipeline(token, metricsScope, o)}
	if a.EndpointURL != "" {
		m.endpoint = o.Cloud.Services[azcloud.ResourceManager].Endpoint
	}
	return m
}

// newPipeline makes the pipeline of a service that takes tokens of its own.
func newPipeline(token azcore.TokenCredential, scope string, o policy.ClientOptions) runtime.Pipeline {
	bearer := runtime.NewBearerTokenPolicy(token, []string{scope}, nil)
	return runtime.NewPipeline("lamplighter", "v1.0.0", runtime.PipelineOptions{PerRetry: []policy.Policy{bearer}}, &o)
}

// clientOptions are the options of the clients for tokens and for the resource manager.
func (p *Provider) clientOptions(a cloud.Account) policy.ClientOptions {
	o := policy.ClientOptions{
		Cloud:            azcloud.AzurePublic,
		Transport:        p.http,
		Retry:            p.retries(),
		Telemetry:        policy.TelemetryOptions{ApplicationID: "lamplighter"},
		PerRetryPolicies: []policy.Policy{p.pacerOf(a)},
	}
	if a.EndpointURL != "" {
		o.Cloud, o.Transport = p.customCloud(a.EndpointURL)
	}
	return o
}

// customCloud makes the address every host of Azure, including the host of tokens. The SDK sends credentials only
// over https, so it gets an https address; if the operator allows http, the transport changes the scheme for this one
// host.
func (p *Provider) customCloud(address string) (azcloud.Configuration, policy.Transporter) {
	u, err := url.Parse(address)
	if err != nil { // it has been checked
		u = &url.URL{}
	}
	secure := "https://" + u.Host + strings.TrimSuffix(u.Path, "/")
	conf := azcloud.Configuration{
		ActiveDirectoryAuthorityHost: secure,
		Services: map[azcloud.ServiceName]azcloud.ServiceConfiguration{
			azcloud.ResourceManager: {Endpoint: secure, Audience: "https://management.azure.com"},
		},
	}
	return conf, endpoint.NewClient(only{u.Scheme, u.Host, p.guarded}, p.options.Timeout)
}

// only carries requests to one host, so that an endpoint cannot send its account's secrets elsewhere.
type only struct {
	scheme, host string
	next         http.RoundTripper
}

// RoundTrip refuses other hosts.
func (o only) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != o.host {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper must, also on errors
		}
		return nil, fault.New(fault.Invalid, "the endpoint names another host, %.128q", r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme = o.scheme
	return o.next.RoundTrip(r)
}

// retries are the options for retries of errors that may pass within seconds. An address that the guard refuses
// appears as a failed dial.
func (p *Provider) retries() policy.RetryOptions {
	return policy.RetryOptions{
		MaxRetries: int32(p.options.Attempts - 1), TryTimeout: p.options.Timeout,
		RetryDelay: p.options.Backoff, MaxRetryDelay: p.options.MaxBackoff,
		ShouldRetry: func(resp *http.Response, err error) bool {
			if err != nil {
				_, ours := errors.AsType[*cloud.Error](err)
				return !ours && !fault.Is(err, fault.Invalid)
			}
			return resp.StatusCode == http.StatusTooManyRequests || cloud.IsTransientStatus(resp.StatusCode)
		},
	}
}

// newCredential makes the tokens of the account's authMethod.
func (p *Provider) newCredential(a cloud.Account, o policy.ClientOptions, audience string) (azcore.TokenCredential,
	error,
) {
	switch a.AuthMethod {
	case "service_principal":
		if err := checkGiven(a.Credentials, "tenantID", "clientID", "clientSecret"); err != nil {
			return nil, err
		}
		return azidentity.NewClientSecretCredential(a.Credentials["tenantID"], a.Credentials["clientID"],
			a.Credentials["clientSecret"],
			&azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: true})
	case federation:
		if err := checkGiven(a.Credentials, "tenantID", "clientID"); err != nil {
			return nil, err
		}
		assertion, err := p.assertionOf(a, audience)
		if err != nil {
			return nil, err
		}
		c, err := azidentity.NewClientAssertionCredential(a.Credentials["tenantID"], a.Credentials["clientID"],
			keepError(assertion),
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: true})
		return asserting{c}, err
	default:
		return nil, cloud.ErrInvalid("authMethod %q is not one of service_principal, %s", a.AuthMethod, federation)
	}
}

// asserting is a credential that returns the errors of its assertion unchanged. The SDK alone keeps only their text.
type asserting struct{ azcore.TokenCredential }

type keptError struct{}

// GetToken returns the credential's.
func (a asserting) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	var kept error
	t, err := a.TokenCredential.GetToken(context.WithValue(ctx, keptError{}, &kept), o)
	if err != nil && kept != nil {
		return t, kept
	}
	return t, err
}

func keepError(assertion func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := assertion(ctx)
		if kept, ok := ctx.Value(keptError{}).(*error); ok {
			*kept = err
		}
		return token, err
	}
}

// checkGiven checks that the credentials are there; names of tenants and applications go into addresses.
func checkGiven(c map[string]string, names ...string) error {
	for _, n := range names {
		if c[n] == "" {
			return cloud.ErrInvalid("credentials.%s is missing", n)
		}
		if n != "clientSecret" && !entraName.MatchString(c[n]) {
			return cloud.ErrInvalid("credentials.%s %.128q is not an id of Microsoft Entra", n, c[n])
		}
	}
	return nil
}

// assertionOf returns the source of the token that identifies this service. A custom endpoint gets a placeholder,
// because it could use our token at Azure.
func (p *Provider) assertionOf(a cloud.Account, audience string) (func(context.Context) (string, error), error) {
	if a.EndpointURL != "" {
		return func(context.Context) (string, error) { return placeholder, nil }, nil
	}
	if p.options.Identity == nil {
		return nil, cloud.ErrInvalid("authMethod %s: this installation has no identity of its own", federation)
	}
	return func(ctx context.Context) (string, error) {
		return p.options.Identity.IdentityToken(ctx, audience)
	}, nil
}

// demandAudience tries the application with a token that names no organization. If the application accepts it, the
// error is class Refused, because it would accept every organization here.
func (c *conn) demandAudience(ctx context.Context) error {
	if c.stranger == nil {
		return nil
	}
	_, err := c.stranger.GetToken(ctx,
		policy.TokenRequestOptions{Scopes: []string{"https://management.azure.com/.default"}})
	if err == nil {
		return &cloud.Error{
			Class: cloud.Refused, Op: "Microsoft Entra token", Code: "UnsafeFederation",
			Message: "the application " +
				c.account.Credentials["clientID"] + " takes tokens of this service for the audience " + anyAudience +
				", so anybody who knows its id could use it through this service; leave it the federated " +
				"credential with " +
				"the audience " +
				Audience(c.account.Org) + " alone",
		}
	}
	if err = classifyError("", err); cloud.ClassOf(err) == cloud.Refused {
		if e, ok := errors.AsType[*cloud.Error](err); ok && e.Code == "NoIdentity" {
			return err
		}
		return nil
	}
	return err
}
