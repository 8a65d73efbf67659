package cloudorganisations_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/testkit/apitest"
)

// oauthFixture is the group with a Google of its own, and a cloud that accepts all credentials.
type oauthFixture struct {
	*fixture
	google *google
	cloud  *renamed
}

func newOAuthFixture(t *testing.T) *oauthFixture {
	t.Helper()
	f := &oauthFixture{google: newGoogle(t), cloud: &renamed{name: "gcp"}}
	f.fixture = newFixture(t, withProvider(f.cloud), func(p *platform.Platform) {
		p.Settings.GoogleCloud, p.Settings.BaseURL = f.google.client(), "https://lamplighter.test"
	})
	return f
}

// timedOAuthFixture goes by a clock that is moved by hand.
func timedOAuthFixture(t *testing.T) (*oauthFixture, func(time.Duration)) {
	t.Helper()
	f := &oauthFixture{google: newGoogle(t), cloud: &renamed{name: "gcp"}}
	timed := apitest.New(t)
	timed.Settings.GoogleCloud = f.google.client()
	f.cloud.Provider = simulated.New(timed.Table, timed.Platform.Clock)
	timed.Workers = lambdacall.Local{inventory.Connector: connector.Handler(timed.Platform,
		cloud.Providers{"gcp": f.cloud})}
	timed.Mount(cloudaccounts.Operations, cloudorganisations.Operations)
	f.fixture = &fixture{timed}
	return f, timed.Clock.Advance
}

// beginOAuth asks for the address, and goes there.
func (f *oauthFixture) beginOAuth(t *testing.T, c identity.Caller, query string) fields {
	t.Helper()
	begun := apitest.Data[cloudorganisations.OAuthURL](f.call(c, "GET", "/connect/gcp/oauth-url"+query, nil))
	back := f.google.visit(t, begun.URL)
	if back["state"] != begun.State {
		t.Fatalf("sent away with %s, back with %v", begun.State, back)
	}
	return back
}

func (f *oauthFixture) exchangeCode(c identity.Caller, back fields) cloudorganisations.GoogleGrant {
	f.Helper()
	return apitest.Data[cloudorganisations.GoogleGrant](f.call(c, "POST", "/connect/gcp/oauth-exchange", back))
}

func (f *oauthFixture) checkRefusal(c identity.Caller, step string, body fields, says string) {
	f.Helper()
	got := f.call(c, "POST", "/connect/gcp/oauth-"+step, body)
	if got.Status != 400 || !strings.Contains(unquote(got.Body), says) || strings.Contains(got.Body, "hush-hush") {
		f.Errorf("%d %s; want 400 with %q, and no secret", got.Status, got.Body, says)
	}
}

func TestOAuth_ThreeStepsConnectAProject(t *testing.T) {
	f := newOAuthFixture(t)
	back := f.beginOAuth(t, alice, "")
	callback := "/connect/gcp/oauth-callback?" + url.Values{
		"code":  {back["code"].(string)},
		"state": {back["state"].(string)},
	}.Encode()
	if shown := f.call(identity.Caller{}, "GET", callback, nil).Want(200); !strings.Contains(shown.Body,
		"/connect/gcp/oauth-exchange") || strings.Contains(shown.Body, back["code"].(string)) {
		t.Errorf("the browser shows %s", shown.Body)
	}
	got := f.exchangeCode(alice, back)
	if len(got.Projects) != 450 || got.Projects[0].ProjectID != "my-project-0000" ||
		got.Projects[449].Name != "Project 449" || got.More {
		t.Errorf("%d projects, the first %+v", len(got.Projects), got.Projects[0])
	}
	answer := f.call(alice, "POST", "/connect/gcp/oauth-finalize",
		fields{"connectionID": got.ConnectionID, "projectID": "my-project-0007", "name": "Seven"})
	a := apitest.Data[connection.Account](answer)
	if a.Provider != "gcp" || a.CloudAccountID != "my-project-0007" || a.Name != "Seven" || a.AuthMethod != "oauth" ||
		a.PermissionLevel != "read_only" || a.JobID == nil {
		t.Errorf("%+v", a)
	}
	if opened := f.cloud.lastSettings(); opened.Credentials["refreshToken"] != refreshToken ||
		opened.AuthMethod != "oauth" {
		t.Errorf("the project is opened with %+v", opened)
	}
	if strings.Contains(answer.Body, "hush-hush") {
		t.Errorf("the answer tells a secret: %s", answer.Body)
	}
	f.checkRefusal(alice, "finalize", fields{"connectionID": got.ConnectionID, "projectID": "my-project-0008"},
		"connectionID: unknown, used")
}

func TestOAuth_WithoutAClientSaysWhatToConfigure(t *testing.T) {
	s := newFixture(t)
	for _, path := range []string{"GET /connect/gcp/oauth-url", "POST /connect/gcp/oauth-exchange"} {
		got := s.Call(alice, path, fields{"code": "c", "state": "s"})
		if got.Status != 400 || !strings.Contains(got.Body, "GCPClientID") ||
			!strings.Contains(got.Body, "LAMPLIGHTER_GCP_CLIENT_ID") ||
			!strings.Contains(got.Body, "/connect/gcp/oauth-callback") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

func TestOAuth_AStateIsGoodOnceInItsSession(t *testing.T) {
	other := alice
	other.Session = "another"
	pat := alice
	pat.Session, pat.Method = "", identity.MethodPAT
	colleague := apitest.Caller("org_a", "carol", "*:*")
	f, advance := timedOAuthFixture(t)
	const says = "state: unknown, used, expired or of another session"
	back := f.beginOAuth(t, alice, "")
	for _, c := range []identity.Caller{other, pat, colleague, bob} {
		f.checkRefusal(c, "exchange", back, says)
	}
	f.checkRefusal(alice, "exchange", fields{"code": back["code"], "state": strings.Repeat("A", 52)}, says)
	if n := f.google.called("/token"); n != 0 {
		t.Errorf("the code was sent %d times", n)
	}
	f.exchangeCode(alice, back) // that others tried did not use it up
	f.checkRefusal(alice, "exchange", back, says)
	late := f.beginOAuth(t, alice, "")
	advance(10*time.Minute + time.Second)
	f.checkRefusal(alice, "exchange", late, says)
}

func TestOAuth_OfTwentyWithOneStateOneIsSent(t *testing.T) {
	f := newOAuthFixture(t)
	back := f.beginOAuth(t, alice, "")
	var wg sync.WaitGroup
	statuses := make([]int, 20)
	for i := range statuses {
		wg.Go(func() { statuses[i] = f.call(alice, "POST", "/connect/gcp/oauth-exchange", back).Status })
	}
	wg.Wait()
	won := 0
	for _, st := range statuses {
		if st == 200 {
			won++
		}
	}
	if won != 1 || f.google.called("/token") != 1 {
		t.Errorf("%d of 20 exchanged the code, which was sent %d times", won, f.google.called("/token"))
	}
}

func TestOAuth_AConnectionIsOfItsSessionAndEnds(t *testing.T) {
	f, advance := timedOAuthFixture(t)
	got := f.exchangeCode(alice, f.beginOAuth(t, alice, ""))
	other := alice
	other.Session = "another"
	final := fields{"connectionID": got.ConnectionID, "projectID": "my-project-0001"}
	f.checkRefusal(other, "finalize", final, "connectionID:")
	f.checkRefusal(bob, "finalize", final, "connectionID:")
	advance(30*time.Minute + time.Second)
	f.checkRefusal(alice, "finalize", final, "connectionID:")
}

// A project that the person cannot open does not end the connection.
func TestOAuth_AnotherProjectCanBeTried(t *testing.T) {
	f := newOAuthFixture(t)
	got := f.exchangeCode(alice, f.beginOAuth(t, alice, ""))
	f.cloud.native = "my-project-0002"
	f.checkRefusal(alice, "finalize", fields{"connectionID": got.ConnectionID, "projectID": "my-project-0001"},
		"they open account my-project-0002")
	f.checkRefusal(alice, "finalize", fields{"connectionID": got.ConnectionID, "projectID": "Not A Project"},
		"cloudAccountID")
	a := apitest.Data[connection.Account](f.call(alice, "POST", "/connect/gcp/oauth-finalize",
		fields{"connectionID": got.ConnectionID, "projectID": "my-project-0002", "permissionLevel": "read_write"}))
	if a.Name != "my-project-0002" || a.PermissionLevel != "read_write" {
		t.Errorf("%+v", a)
	}
}

func TestOAuth_RenewsTheCredentialsOfAnAccount(t *testing.T) {
	f := newOAuthFixture(t)
	a := apitest.Data[connection.Account](f.call(alice, "POST", "/cloud-accounts", fields{
		"provider": "gcp", "cloudAccountID": "my-project-0003", "name": "Shop",
		"authMethod": "workload_identity_federation", "permissionLevel": "read_write",
		"credentials": keys{
			"workloadIdentityProvider": "projects/123456789012/locations/global/workloadIdentityPools/" +
				"lamplighter/providers/lamplighter",
			"serviceAccountEmail": "lamplighter@my-project-123.iam.gserviceaccount.com",
		},
	}))
	f.waitIdle()
	got := f.exchangeCode(alice, f.beginOAuth(t, alice, "?accountID="+a.ID))
	f.checkRefusal(alice, "finalize", fields{"connectionID": got.ConnectionID, "projectID": "my-project-0004"},
		"renews the account "+a.ID)
	b := apitest.Data[connection.Account](f.call(alice, "POST", "/connect/gcp/oauth-finalize",
		fields{"connectionID": got.ConnectionID, "projectID": "my-project-0003"}))
	if b.ID != a.ID || b.AuthMethod != "oauth" || b.Name != a.Name || b.PermissionLevel != a.PermissionLevel {
		t.Errorf("%+v; want %s with authMethod oauth", b, a.ID)
	}
	if opened := f.cloud.lastSettings(); opened.Credentials["refreshToken"] != refreshToken {
		t.Errorf("the project is opened with %+v", opened)
	}
	for _, c := range []struct {
		who identity.Caller
		id  string
	}{{alice, "ca_nothing"}, {bob, a.ID}} {
		if got := f.call(c.who, "GET", "/connect/gcp/oauth-url?accountID="+c.id, nil); got.Status != 400 ||
			!strings.Contains(unquote(got.Body), `there is no cloud account "`+c.id) {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
}

func TestOAuth_FailuresAreToldInGooglesWords(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *oauthFixture, back fields)
		status int
		says   string
	}{
		"a code that is made up": {func(_ *oauthFixture, back fields) {
			back["code"] = "made-up"
		}, 400, "invalid_grant: Malformed auth code."},
		"a wrong secret": {func(f *oauthFixture, _ fields) {
			f.Settings.GoogleCloud.Secret = "wrong"
		}, 400, "LAMPLIGHTER_GCP_CLIENT_SECRET"},
		"no refresh token": {func(f *oauthFixture, _ fields) {
			f.google.silent = true
		}, 400, "no refresh token"},
		"projects that are not listed": {func(f *oauthFixture, _ fields) {
			f.google.refuse = 403
		}, 400, "Cloud Resource Manager API has not been used"},
		"a Google that is broken": {func(f *oauthFixture, _ fields) { f.google.refuse = 503 }, 503, "try again"},
		"a Google that is away":   {func(f *oauthFixture, _ fields) { f.google.Close() }, 503, "try again"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newOAuthFixture(t)
			back := f.beginOAuth(t, alice, "")
			tt.change(f, back)
			got := f.call(alice, "POST", "/connect/gcp/oauth-exchange", back)
			if got.Status != tt.status && (tt.status != 503 || got.Status != 500) ||
				!strings.Contains(got.Body, tt.says) || strings.Contains(got.Body, "hush-hush") {
				t.Errorf("%d %s; want %d with %q", got.Status, got.Body, tt.status, tt.says)
			}
		})
	}
}

func TestOAuth_OnlyThoseWhoMayConnectAccounts(t *testing.T) {
	f := newOAuthFixture(t)
	f.call(viewer, "GET", "/connect/gcp/oauth-url", nil).Want(403)
	f.call(viewer, "POST", "/connect/gcp/oauth-exchange", fields{"code": "c", "state": "s"}).Want(403)
	f.call(viewer, "POST", "/connect/gcp/oauth-finalize",
		fields{"connectionID": "c", "projectID": "my-project"}).Want(403)
}

// A grant belongs to the endpoint that the account had when the person began. An endpoint that replaced it meanwhile
// gets nothing.
func TestOAuth_AGrantIsNotSentToAnEndpointThatChangedMeanwhile(t *testing.T) {
	const thief = "https://thief.example.com"
	f := newOAuthFixture(t)
	federated := keys{
		"workloadIdentityProvider": "projects/123456789012/locations/global/workloadIdentityPools/" +
			"lamplighter/providers/lamplighter",
		"serviceAccountEmail": "lamplighter@my-project-123.iam.gserviceaccount.com",
	}
	a := apitest.Data[connection.Account](f.call(alice, "POST", "/cloud-accounts", fields{
		"provider": "gcp", "cloudAccountID": "my-project-0003", "name": "Shop",
		"authMethod": "workload_identity_federation", "permissionLevel": "read_write",
		"credentials": federated,
	}))
	f.waitIdle()
	got := f.exchangeCode(alice, f.beginOAuth(t, alice, "?accountID="+a.ID))
	f.call(alice, "PUT", "/cloud-accounts/"+a.ID, fields{"endpointURL": thief, "credentials": federated}).Want(200)
	f.waitIdle()
	f.checkRefusal(alice, "finalize", fields{"connectionID": got.ConnectionID, "projectID": "my-project-0003"},
		"endpointURL of the account "+a.ID+" was changed")
	if opened := f.cloud.lastSettings(); opened.Credentials["refreshToken"] != "" {
		t.Errorf("%s was sent %v", opened.EndpointURL, opened.Credentials)
	}
	// a person who begins now has seen the endpoint
	got = f.exchangeCode(alice, f.beginOAuth(t, alice, "?accountID="+a.ID))
	f.call(alice, "POST", "/connect/gcp/oauth-finalize",
		fields{"connectionID": got.ConnectionID, "projectID": "my-project-0003"}).Want(200)
	f.waitIdle()
	f.call(alice, "PUT", "/cloud-accounts/"+a.ID, fields{"endpointURL": nil}).Want(400, "endpointURL",
		"authMethod oauth cannot be sent")
}
