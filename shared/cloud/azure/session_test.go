package azure_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// identity makes tokens that name their audience, or fails.
type identity struct{ err error }

func (i identity) IdentityToken(_ context.Context, audience string) (string, error) {
	return "signed for " + audience, i.err
}

func federated() cloud.Account {
	a := principal("")
	a.AuthMethod, a.Credentials = "workload_identity_federation",
		map[string]string{"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client}
	return a
}

func openFederated(t *testing.T, tw *azuretwin.Cloud, i identity) cloud.Conn {
	t.Helper()
	o := options(tw)
	o.Identity = i
	c, err := azure.New(o).Connect(t.Context(), federated())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnect_OneTokenServesManyCalls(t *testing.T) {
	tw, c := connect(t)
	for range 3 {
		if got, err := c.Identify(t.Context()); err != nil || got != azuretwin.Subscription {
			t.Fatalf("Identify = %q, %v", got, err)
		}
	}
	calls := tw.Calls("entra:token")
	if len(calls) != 1 ||
		calls[0].Body["scope"] != "https://management.core.windows.net//.default openid offline_access profile" {
		t.Errorf("tokens were asked for as %+v; want once, for the resource manager", calls)
	}
	for _, k := range tw.Calls("Microsoft.Resources/subscriptions/read") {
		if k.Token != "Bearer twin-token-1" {
			t.Errorf("a call went out with %q", k.Token)
		}
	}
}

func TestConnect_FederationShowsATokenOfTheOrganisation(t *testing.T) {
	tw := &azuretwin.Cloud{Assertion: "signed for api://AzureADTokenExchange/org_1"}
	got, err := openFederated(t, tw, identity{}).Identify(t.Context())
	if err != nil || got != azuretwin.Subscription {
		t.Fatalf("Identify = %q, %v", got, err)
	}
	calls := tw.Calls("entra:token")
	if len(calls) != 2 || calls[0].Body["client_assertion"] != "signed for api://AzureADTokenExchange" ||
		calls[1].Body["client_assertion"] != "signed for api://AzureADTokenExchange/org_1" {
		t.Errorf("tokens were asked for as %+v; want first the one that must not open, then the organization's", calls)
	}
	if calls[1].Body["client_assertion_type"] != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" ||
		calls[1].Body["client_secret"] != nil {
		t.Errorf("the token was asked for with %+v", calls[1].Body)
	}
}

func TestConnect_AnApplicationThatTakesAnyTokenIsRefused(t *testing.T) {
	tw := &azuretwin.Cloud{Assertion: "signed for api://AzureADTokenExchange"}
	_, err := openFederated(t, tw, identity{}).Identify(t.Context())
	wantClass(t, "Identify of an unsafe application", err, cloud.Refused)
	if !strings.Contains(err.Error(), "anybody who knows its id") ||
		!strings.Contains(err.Error(), "api://AzureADTokenExchange/org_1") {
		t.Errorf("the message %q does not say what is wrong and what to do", err)
	}
}

func TestConnect_AnInstallationWithoutIdentityIsToldSo(t *testing.T) {
	ours := &cloud.Error{Class: cloud.Refused, Code: "NoIdentity", Message: "no identity here"}
	_, err := openFederated(t, &azuretwin.Cloud{}, identity{ours}).Identify(t.Context())
	if e, ok := errors.AsType[*cloud.Error](err); !ok || e.Code != "NoIdentity" {
		t.Errorf("Identify = %v; want what the identity said", err)
	}
}

func TestConnect_RefusedCredentialsAreToldInEntrasWords(t *testing.T) {
	tests := map[string]struct {
		change func(*cloud.Account)
		code   string
	}{
		"a wrong secret": {func(a *cloud.Account) {
			a.Credentials["clientSecret"] = "wrong-secret"
		}, "AADSTS7000215"},
		"an unknown application": {func(a *cloud.Account) {
			a.Credentials["clientID"] = "11111111-0000-0000-0000-000000000000"
		}, "AADSTS700016"},
		"an unknown tenant": {func(a *cloud.Account) {
			a.Credentials["tenantID"] = "22222222-0000-0000-0000-000000000000"
		}, ""},
		"another subscription": {func(a *cloud.Account) {
			a.NativeID = "33333333-0000-0000-0000-000000000000"
		}, "SubscriptionNotFound"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := principal(azuretwin.Secret)
			tt.change(&a)
			_, err := open(t, &azuretwin.Cloud{}, a).Identify(t.Context())
			wantClass(t, "Identify", err, cloud.Refused)
			if e, ok := errors.AsType[*cloud.Error](err); !ok || tt.code != "" && e.Code != tt.code ||
				strings.Contains(e.Message, "Trace ID") || strings.Contains(e.Message, "\n") {
				t.Errorf("error %+v; want code %s and one line", e, tt.code)
			}
		})
	}
}

func TestConnect_ATokenThatEndsIsRefusedAsSuch(t *testing.T) {
	tw, c := connect(t)
	if _, err := c.Identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	tw.EndTokens()
	_, err := c.Identify(t.Context())
	wantClass(t, "Identify with a revoked token", err, cloud.Refused)
}

func TestConnect_RefusesWhatIsIncomplete(t *testing.T) {
	with := func(method string, c map[string]string) cloud.Account {
		return cloud.Account{Provider: "azure", AuthMethod: method, Credentials: c}
	}
	at := func(url string) cloud.Account { a := principal("s"); a.EndpointURL = url; return a }
	named := func(id string) cloud.Account { a := principal("s"); a.NativeID = id; return a }
	tests := map[string]struct {
		account cloud.Account
		custom  bool
		private bool
		says    string
	}{
		"a principal without a secret": {account: with("service_principal",
			map[string]string{"tenantID": "t1", "clientID": "c1"}), says: "clientSecret"},
		"a federation without a tenant": {account: with("workload_identity_federation",
			map[string]string{"clientID": "c1"}), says: "tenantID"},
		"a federation without identity": {account: federated(), says: "no identity of its own"},
		"a tenant that is an address": {account: with("service_principal",
			map[string]string{"tenantID": "a/../b", "clientID": "c", "clientSecret": "s"}), says: "tenantID"},
		"a method of another cloud":   {account: with("assume_role", nil), says: `"assume_role"`},
		"a subscription that is none": {account: named("my-subscription"), says: `"my-subscription"`},
		"an endpoint where none is":   {account: at("http://127.0.0.1:5000"), says: "no custom endpoints"},
		"an endpoint that is no address": {
			account: at("file:///etc/passwd"), custom: true,
			says: "must begin with https://",
		},
		"an endpoint of this machine": {
			account: at("https://127.0.0.1:5000"), custom: true,
			says: "private or special network",
		},
		"an endpoint without TLS": {
			account: at("http://cloud.example.com"), custom: true,
			says: "must begin with https://",
		},
		"an endpoint that is metadata": {
			account: at("http://169.254.169.254/"), custom: true, private: true,
			says: "link-local or metadata address",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(&azuretwin.Cloud{})
			o.CustomEndpoints, o.PrivateAddresses = tt.custom, tt.private
			c, err := azure.New(o).Connect(t.Context(), tt.account)
			wantClass(t, "Connect", err, cloud.Invalid)
			if c != nil || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Connect = %v and the error %q, which does not say %q", c, err, tt.says)
			}
		})
	}
}

// plain is an account at a twin over http on loopback.
func plain(t *testing.T, h http.Handler, a cloud.Account) cloud.Conn {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o := options(nil)
	o.CustomEndpoints, o.PrivateAddresses, o.Identity = true, true, identity{}
	a.EndpointURL = srv.URL
	c, err := azure.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnect_ACustomEndpointIsAllOfAzureAndMayBeHTTP(t *testing.T) {
	tw := &azuretwin.Cloud{Page: 2}
	for n := range 5 {
		tw.AddVM("web-"+string(rune('a'+n)), region, nil)
	}
	c := plain(t, tw, principal(azuretwin.Secret))
	if got, err := c.Identify(t.Context()); err != nil || got != azuretwin.Subscription {
		t.Fatalf("Identify = %q, %v", got, err)
	}
	seen := 0
	for page := ""; ; {
		got, err := c.List(t.Context(), "azure-vm", region, page)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(got.Resources)
		if page = got.Next; page == "" {
			break
		}
	}
	if seen != 5 {
		t.Errorf("listed %d machines; want 5", seen)
	}
	// The twin's links have the scheme https, as Azure's do. Permissions are read over several pages of them.
	tw.SetRoles(azuretwin.Role{Actions: []string{"*/read"}}, azuretwin.Role{Actions: []string{"Microsoft.Compute/*"}},
		azuretwin.Role{Actions: []string{"Microsoft.Web/*"}})
	if got, err := c.Permissions(t.Context()); err != nil || len(got) == 0 {
		t.Errorf("Permissions = %v, %v", got, err)
	}
}

// The user chooses a custom endpoint, so it must receive nothing that would open Azure.
func TestConnect_ACustomEndpointIsNotShownOurIdentity(t *testing.T) {
	tw := &azuretwin.Cloud{Assertion: "lamplighter"}
	if _, err := plain(t, tw, federated()).Identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, k := range tw.Calls("entra:token") {
		if k.Body["client_assertion"] != "lamplighter" {
			t.Errorf("the endpoint was shown %q; want a placeholder", k.Body["client_assertion"])
		}
	}
}

func TestConnect_ACustomEndpointCannotSendTheSecretElsewhere(t *testing.T) {
	elsewhere := &azuretwin.Cloud{}
	other := httptest.NewServer(elsewhere)
	t.Cleanup(other.Close)
	host := strings.TrimPrefix(other.URL, "http://")
	misled := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"https://` + r.Host + `/t/v2.0","authorization_endpoint":"https://` + host +
			`/a","token_endpoint":"https://` + host + `/` + azuretwin.Tenant + `/oauth2/v2.0/token"}`))
	})
	if _, err := plain(t, misled, principal(azuretwin.Secret)).Identify(t.Context()); err == nil {
		t.Error("Identify succeeded at an endpoint that has no tokens")
	}
	if n := len(elsewhere.Calls("")); n != 0 {
		t.Errorf("the other host was called %d times; want not at all", n)
	}
}

func TestIdentify_FindsTheOnlySubscription(t *testing.T) {
	unnamed := principal(azuretwin.Secret)
	unnamed.NativeID = ""
	if got, err := open(t, &azuretwin.Cloud{}, unnamed).Identify(t.Context()); err != nil ||
		got != azuretwin.Subscription {
		t.Errorf("Identify = %q, %v", got, err)
	}
	_, err := open(t, &azuretwin.Cloud{Subscriptions: []string{}}, unnamed).Identify(t.Context())
	wantClass(t, "Identify where no subscription is seen", err, cloud.Refused)
	_, err = open(t, &azuretwin.Cloud{Subscriptions: []string{azuretwin.Subscription, "x"}},
		unnamed).Identify(t.Context())
	wantClass(t, "Identify where several are seen", err, cloud.Invalid)
}

func TestRegions_AreThePhysicalOnesThatTheAccountNames(t *testing.T) {
	all, err := open(t, &azuretwin.Cloud{}, principal(azuretwin.Secret)).Regions(t.Context())
	if err != nil || strings.Join(all, " ") != "northeurope swedencentral westeurope" {
		t.Errorf("Regions = %v, %v", all, err)
	}
	a := principal(azuretwin.Secret)
	a.Regions = []string{"westeurope", "atlantis"}
	some, err := open(t, &azuretwin.Cloud{}, a).Regions(t.Context())
	if err != nil || strings.Join(some, " ") != "westeurope" {
		t.Errorf("Regions = %v, %v", some, err)
	}
}

func TestConnect_ACallThatHangsEndsByItself(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	o := options(roundTripper(func(r *http.Request) (*http.Response, error) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return nil, r.Context().Err()
	}))
	o.Timeout, o.Attempts = 5*time.Millisecond, 2
	c, err := azure.New(o).Connect(t.Context(), principal(azuretwin.Secret))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Identify(t.Context())
	wantClass(t, "Identify of a cloud that hangs", err, cloud.Transient)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
