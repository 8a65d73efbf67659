package gcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

const workloadProvider = "//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/" +
	"lamplighter/providers/aws"

func federated() cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "gcp", AuthMethod: "workload_identity_federation",
		Credentials: map[string]string{
			"workloadIdentityProvider": workloadProvider,
			"serviceAccountEmail":      gcptwin.Email,
		},
	}
}

func oauthAccount() cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "gcp", NativeID: gcptwin.Project, AuthMethod: "oauth",
		Credentials: map[string]string{"refreshToken": gcptwin.RefreshToken},
	}
}

func TestAServiceAccountMakesOneTokenForManyCalls(t *testing.T) {
	tw, c := connect(t)
	for range 3 {
		if got, err := c.Identify(t.Context()); got != gcptwin.Project || err != nil {
			t.Fatalf("Identify = %q, %v", got, err)
		}
	}
	if n := len(tw.Calls("oauth2.token")); n != 1 {
		t.Errorf("%d tokens were made; want 1", n)
	}
}

func TestARefreshTokenOpensItsProject(t *testing.T) {
	tw := &gcptwin.Cloud{}
	if got, err := open(t, tw, oauthAccount()).Identify(t.Context()); got != gcptwin.Project || err != nil {
		t.Errorf("Identify = %q, %v", got, err)
	}
	a := oauthAccount()
	a.Credentials["refreshToken"] = "1//revoked"
	_, err := open(t, tw, a).Identify(t.Context())
	wantClass(t, "Identify with a revoked token", err, cloud.Refused)
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Op != "oauth2.token" || e.Code != "invalid_grant" || e.Message != "Token has been expired or revoked." {
		t.Errorf("error %+v; want Google's own code and words", e)
	}
}

func TestAFederatedAccountIsOpenedForItsOrganization(t *testing.T) {
	tw, who := &gcptwin.Cloud{}, &gcptwin.Identity{}
	tw.AddWorkloadPool(workloadProvider, gcp.Audience("org_1"), gcptwin.Email)
	o := options(tw)
	o.Identity = who
	c, err := gcp.New(o).Connect(t.Context(), federated())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Identify(t.Context()); got != gcptwin.Project || err != nil {
		t.Fatalf("Identify = %q, %v", got, err)
	}
	if got := who.Audiences(); !slices.Equal(got, []string{"https:" + workloadProvider, "lamplighter/org_1"}) {
		t.Errorf("tokens for %v; want one that must be refused, and one for the organization", got)
	}
	if n := len(tw.Calls("iam.serviceAccounts.getAccessToken")); n != 1 {
		t.Errorf("impersonated %d times", n)
	}
}

// The names of a customer's provider and service account alone must not open them through this service.
func TestAProviderThatTakesAnyAudienceIsRefused(t *testing.T) {
	tw := &gcptwin.Cloud{}
	tw.AddWorkloadPool(workloadProvider, "", gcptwin.Email)
	_, err := open(t, tw, federated()).Identify(t.Context())
	wantClass(t, "Identify", err, cloud.Refused)
	if err == nil || !strings.Contains(err.Error(), "for any organization") ||
		!strings.Contains(err.Error(), "lamplighter/org_1") {
		t.Errorf("the message %v does not say what is wrong and what to do", err)
	}
	other := federated()
	other.Org = "org_2"
	tw.AddWorkloadPool(workloadProvider, gcp.Audience("org_1"), gcptwin.Email)
	_, err = open(t, tw, other).Identify(t.Context())
	wantClass(t, "Identify by another organization", err, cloud.Refused)
}

func TestAServiceAccountThatMayNotBeImpersonatedIsRefusedInGooglesWords(t *testing.T) {
	tw := &gcptwin.Cloud{}
	tw.AddWorkloadPool(workloadProvider, gcp.Audience("org_1"), "other@"+gcptwin.Project+".iam.gserviceaccount.com")
	_, err := open(t, tw, federated()).List(t.Context(), cloud.GCPCompute, region, "")
	wantClass(t, "List", err, cloud.Refused)
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Op != "iam.serviceAccounts.getAccessToken" ||
		!strings.Contains(e.Message, "Permission 'iam.serviceAccounts.getAccessToken' denied") {
		t.Errorf("error %+v", e)
	}
}

// silent fails the test when it is asked for our identity.
type silent struct{ t *testing.T }

func (s silent) IdentityToken(context.Context, string) (string, error) {
	s.t.Error("our identity was asked for")
	return "", errors.New("no")
}

// An endpoint replaces all of Google's hosts. It receives neither tokens of this installation nor credentials that
// would open Google.
func TestACustomEndpointIsEveryHostAndSeesNothingOfOurs(t *testing.T) {
	tw := &gcptwin.Cloud{}
	srv := httptest.NewServer(tw)
	defer srv.Close()
	o := options(nil)
	o.Transport, o.Identity = nil, silent{t}
	o.CustomEndpoints, o.PrivateAddresses = true, true
	at := func(a cloud.Account) cloud.Conn {
		a.EndpointURL = srv.URL
		c, err := gcp.New(o).Connect(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
	c := at(keyAccount(gcptwin.KeyFile())) // the twin takes an assertion for its own address only
	if got, err := c.Identify(t.Context()); got != gcptwin.Project || err != nil {
		t.Errorf("Identify = %q, %v", got, err)
	}
	for _, k := range gcp.New(o).Kinds() {
		if _, err := c.List(t.Context(), k.Type, region, ""); err != nil {
			t.Errorf("List of %s: %v", k.Type, err)
		}
	}
	_, err := at(oauthAccount()).Identify(t.Context())
	wantClass(t, "Identify with the placeholder client", err, cloud.Refused)
	tw.AddWorkloadPool(workloadProvider, "", gcptwin.Email)
	_, err = at(federated()).Identify(t.Context())
	wantClass(t, "Identify with the placeholder token", err, cloud.Refused)
	for _, k := range tw.Calls("") {
		if strings.Contains(k.Body, gcptwin.ClientSecret) {
			t.Errorf("our OAuth client was sent: %s", k.Body)
		}
	}
}

func TestConnectRefusesWhatIsIncomplete(t *testing.T) {
	with := func(method string, c map[string]string) cloud.Account {
		return cloud.Account{Provider: "gcp", NativeID: gcptwin.Project, AuthMethod: method, Credentials: c}
	}
	key := func(change map[string]string) cloud.Account {
		m := map[string]string{}
		if err := json.Unmarshal([]byte(gcptwin.KeyFile()), &m); err != nil {
			t.Fatal(err)
		}
		maps.Copy(m, change)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return with("service_account", map[string]string{"serviceAccountKey": string(b)})
	}
	at := func(url string) cloud.Account { a := key(nil); a.EndpointURL = url; return a }
	nowhere := oauthAccount()
	nowhere.NativeID = ""
	strange := oauthAccount()
	strange.NativeID = "../other"
	pool := func(p, e string) cloud.Account {
		return with("workload_identity_federation",
			map[string]string{"workloadIdentityProvider": p, "serviceAccountEmail": e})
	}
	tests := map[string]struct {
		account         cloud.Account
		custom, private bool
		bare            bool // an installation without an OAuth client and an identity
		says            string
	}{
		"no key": {account: with("service_account", nil), says: "serviceAccountKey is missing"},
		"a key that is no JSON": {account: with("service_account",
			map[string]string{"serviceAccountKey": "hunter2hunter2"}), says: "not the JSON text"},
		"a key of a user": {
			account: key(map[string]string{"type": "authorized_user"}),
			says:    `"authorized_user"`,
		},
		"a key without an address": {account: key(map[string]string{"client_email": ""}), says: "client_email"},
		"a key without a key": {
			account: key(map[string]string{"private_key": "x"}),
			says:    "private_key in credentials.serviceAccountKey cannot be read",
		},
		"no refresh token":       {account: with("oauth", nil), says: "refreshToken is missing"},
		"no OAuth client":        {account: oauthAccount(), bare: true, says: "no OAuth client"},
		"a token of no project":  {account: nowhere, says: "projectID is missing"},
		"a project that is none": {account: strange, says: `"../other"`},
		"no provider":            {account: pool("", gcptwin.Email), says: "workloadIdentityProvider is missing"},
		"a provider that is none": {
			account: pool("//evil.example.com/x", gcptwin.Email),
			says:    "is not of the form",
		},
		"an address that is a path": {
			account: pool(workloadProvider, "../x@p.iam.gserviceaccount.com"),
			says:    "is not the address",
		},
		"an address of somewhere else": {
			account: pool(workloadProvider, "ada@example.com"),
			says:    "is not the address",
		},
		"no identity":               {account: federated(), bare: true, says: "no identity of its own"},
		"a method of another cloud": {account: with("static_keys", nil), says: `"static_keys"`},
		"an endpoint where none is": {account: at("http://127.0.0.1:5000"), says: "no custom endpoints"},
		"an endpoint that is no address": {
			account: at("file:///etc/passwd"), custom: true,
			says: "must begin with https://",
		},
		"an endpoint of this machine": {
			account: at("https://127.0.0.1:5000"), custom: true,
			says: "private or special network",
		},
		"an endpoint that is metadata": {
			account: at("http://169.254.169.254/"), custom: true, private: true,
			says: "link-local or metadata address",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(&gcptwin.Cloud{})
			o.CustomEndpoints, o.PrivateAddresses = tt.custom, tt.private
			if tt.bare {
				o.OAuth, o.Identity = gcp.OAuthClient{}, nil
			}
			_, err := gcp.New(o).Connect(t.Context(), tt.account)
			wantClass(t, "Connect", err, cloud.Invalid)
			if err != nil && (!strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("the error %q does not say %q, or says too much", err, tt.says)
			}
		})
	}
}

func TestOnlyRegionsThatAreUpAreListed(t *testing.T) {
	tw, c := connect(t)
	got, err := c.Regions(t.Context())
	if want := []string{"europe-west1", "us-central1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Regions = %v, %v; want %v", got, err, want)
	}
	a := keyAccount(gcptwin.KeyFile())
	a.Regions = []string{"us-central1", "mars-north1"}
	if got, err = open(t, tw, a).Regions(t.Context()); err != nil || !slices.Equal(got, []string{"us-central1"}) {
		t.Errorf("Regions of an account that names two = %v, %v; want the one that there is", got, err)
	}
}

func TestPermissionsAreAskedOfGoogle(t *testing.T) {
	tw, c := connect(t)
	tw.Lacks = []string{"compute.instances.stop", "cloudsql.instances.list"}
	got, err := c.Permissions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for _, p := range got {
		status[p.Capability+" "+p.Action] = p.Status
	}
	for what, want := range map[string]string{
		"start_stop compute.instances.stop": "denied", "discover cloudsql.instances.list": "denied",
		"discover resourcemanager.projects.get": "granted",
		"start_stop run.services.update":        "granted", "scale run.services.update": "granted",
		"scale compute.instances.stop": "",
	} {
		if status[what] != want {
			t.Errorf("%s is %q; want %q", what, status[what], want)
		}
	}
	tw.AddFault(gcptwin.Fault{
		Op: "resourcemanager.projects.testIamPermissions", Reason: "PERMISSION_DENIED",
		Message: "not here", Status: 403, Times: -1,
	})
	got, err = c.Permissions(t.Context())
	if err != nil || got[0].Status != "unknown" || !strings.Contains(got[0].Message, "not here") {
		t.Errorf("where Google does not tell: %+v, %v; want unknown, with its words", got[0], err)
	}
}
