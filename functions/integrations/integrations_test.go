package integrations

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/ssrfguard"
	"lamplighter.dev/shared/testkit/apitest"
)

var (
	ada  = apitest.Caller(apitest.Org, "ada", "owner")
	vera = apitest.Caller(apitest.Org, "vera", "viewer")
	eve  = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture is an organization with a twin of each service.
type fixture struct {
	*apitest.Fixture
	*twin
	services *receiver.IntegrationServices
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t), twin: newTwin(t)}
	f.Join(apitest.Org, "ada", "owner") // a receiver gets only events that its maker may read
	f.Settings.CustomEndpoints = true
	f.Workers = lambdacall.Local{inventory.Connector: func(_ context.Context, in json.RawMessage) (any, error) {
		var q inventory.Question
		f.Must(json.Unmarshal(in, &q))
		if q.Ask != inventory.AskVerify || q.Account.Name != "Open" {
			return nil, fault.New(fault.Invalid, "the cloud refuses the credentials")
		}
		return inventory.Verified{NativeID: "123456789012"}, nil
	}}
	f.Mount(Operations)
	store := receiver.NewIntegrationStore(f.Table, f.Sealer)
	f.services = receiver.NewIntegrationServices(store, f.Platform.Clock, f.Workers, ssrfguard.Policy{Private: true})
	return f
}

// good returns a configuration of a kind that its twin accepts.
func (f *fixture) good(kind string) map[string]string {
	account := registryAccount
	return map[string]map[string]string{
		"github": {"token": goodToken, "baseURL": f.URL},
		"gitlab": {"token": goodToken, "baseURL": f.URL + "/"},
		"ecr":    {"cloudAccountID": account, "region": "eu-west-1"},
		"gar": {
			"host": "europe-west1-docker.pkg.dev", "serviceAccountKey": `{"type":"service_account"}`,
			"endpointURL": f.URL,
		},
		"acr":       {"host": "octo.azurecr.io", "username": "robot", "password": goodSecret, "endpointURL": f.URL},
		"dockerhub": {"username": "octo", "token": goodToken, "endpointURL": f.URL},
		"jira":      {"siteURL": f.URL, "email": goodMail, "apiToken": goodToken, "project": "OPS"},
		"pagerduty": {"routingKey": goodKey, "endpointURL": f.URL},
	}[kind]
}

// connect connects a service with the good configuration, overridden by other.
func (f *fixture) connect(kind string, other map[string]string) IssuedIntegration {
	f.Helper()
	config := f.good(kind)
	maps.Copy(config, other)
	return apitest.Data[IssuedIntegration](f.Call(ada, "POST /integrations",
		map[string]any{"kind": kind, "name": kind, "config": config}))
}

// registryAccount is the ID of the account that gives access to the registry ecr.
const registryAccount = "ca_01k00000000000000000000000"

func (f *fixture) putRegistryAccount(org string) {
	f.Put(inventory.AccountKey(org, registryAccount),
		inventory.Account{ID: registryAccount, Provider: "aws", Name: "Open"})
}

func TestIntegrations_ARegistryNamesAnAccountOfTheOwnOrganization(t *testing.T) {
	f := newFixture(t)
	f.putRegistryAccount(apitest.OtherOrg)
	body := map[string]any{"kind": "ecr", "name": "Images", "config": f.good("ecr")}
	f.Call(ada, "POST /integrations", body).Want(http.StatusBadRequest, "config.cloudAccountID", registryAccount,
		"there is no such cloud account")
	f.putRegistryAccount(apitest.Org)
	made := apitest.Data[IssuedIntegration](f.Call(ada, "POST /integrations", body))
	f.Equal("holds",
		apitest.Read[inventory.Account](f.Fixture, inventory.AccountKey(apitest.Org, registryAccount)).Uses, int64(1))
	gone := "ca_01k11111111111111111111111"
	change := map[string]any{"config": map[string]string{"cloudAccountID": gone}}
	f.Call(ada, "PUT /integrations/"+made.ID, change).Want(http.StatusBadRequest, "config.cloudAccountID", gone)
	f.Write(table.Delete(inventory.AccountKey(apitest.Org, registryAccount)))
	f.Call(ada, "PUT /integrations/"+made.ID, map[string]any{"name": "Pictures"}).Want(http.StatusOK, "Pictures")
}

func TestIntegrations_EachKindIsConnectedTestedAndDisconnected(t *testing.T) {
	f := newFixture(t)
	f.putRegistryAccount(apitest.Org)
	kinds := apitest.Data[[]receiver.IntegrationKind](f.Call(vera, "GET /integrations/catalogue"))
	f.Equal("kinds", len(kinds), 8)
	for _, k := range kinds {
		t.Run(k.Kind, func(t *testing.T) {
			made := f.connect(k.Kind, nil)
			path := "/integrations/" + made.ID
			if !id.IsValid("int", made.ID) || made.Status != "untested" ||
				(made.WebhookSecret != nil) != k.SendsEvents || (made.WebhookURL != nil) != k.SendsEvents {
				t.Errorf("%+v", made)
			}
			got := apitest.Data[IntegrationTest](f.Call(ada, "POST "+path+"/test"))
			if !got.Success || got.Message == "" {
				t.Errorf("%+v", got)
			}
			read := f.Call(vera, "GET "+path).AtMost(2).Want(http.StatusOK, `"status":"connected"`)
			for _, secret := range []string{goodToken, goodKey, goodSecret, "service_account\\\"}"} {
				if strings.Contains(read.Body, secret) {
					t.Errorf("a secret is told: %s", read.Body)
				}
			}
			for _, field := range k.Fields {
				if field.Secret && !strings.Contains(read.Body, `{"name":"`+field.Name+`","configured":true}`) {
					t.Errorf("%s is not configured: %s", field.Name, read.Body)
				}
			}
			for _, request := range []string{
				"GET " + path, "DELETE " + path, "POST " + path + "/test",
				"PUT " + path + " {}",
			} {
				f.Call(eve, request).Want(http.StatusNotFound, made.ID)
			}
			f.Call(vera, "POST "+path+"/test").Want(http.StatusForbidden)
			f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
			f.Call(ada, "GET "+path).Want(http.StatusNotFound)
		})
	}
	f.Equal("left", apitest.Data[rest.List[Integration]](f.Call(ada, "GET /integrations").AtMost(1)).Total, 0)
	for _, row := range f.Audited(apitest.Org) {
		for _, secret := range []string{goodToken, goodKey, goodSecret} {
			if strings.Contains(apitest.JSON(row), secret) {
				t.Errorf("the audit log has %s", apitest.JSON(row))
			}
		}
	}
}

func TestIntegrations_ARefusedTestSaysWhatTheServiceSaid(t *testing.T) {
	f := newFixture(t)
	for kind, c := range map[string]struct {
		other map[string]string
		word  string
	}{
		"github":    {map[string]string{"token": "bad"}, "GitHub answered with status 401"},
		"gitlab":    {map[string]string{"token": "bad"}, "GitLab answered with status 401"},
		"jira":      {map[string]string{"apiToken": "bad"}, "Jira answered with status 401"},
		"dockerhub": {map[string]string{"token": "bad"}, "Docker Hub answered with status 401"},
		"acr":       {map[string]string{"password": "bad"}, "octo.azurecr.io answered with status 401"},
		"gar": {
			map[string]string{"serviceAccountKey": "{}"},
			"europe-west1-docker.pkg.dev answered with status 401",
		},
		"pagerduty": {map[string]string{"routingKey": strings.Repeat("x", 32)}, "'routing_key' is invalid"},
		"ecr":       {nil, "there is no cloud account"},
	} {
		t.Run(kind, func(t *testing.T) {
			f.putRegistryAccount(apitest.Org)
			made := f.connect(kind, c.other)
			f.Write(table.Delete(inventory.AccountKey(apitest.Org, registryAccount)))
			got := apitest.Data[IntegrationTest](f.Call(ada, "POST /integrations/"+made.ID+"/test"))
			if got.Success || !strings.Contains(got.Message, c.word) {
				t.Errorf("%+v", got)
			}
			f.Call(ada, "GET /integrations/"+made.ID).Want(http.StatusOK, `"status":"failed"`)
		})
	}
	f.Close()
	made := apitest.Data[IssuedIntegration](f.Call(ada, "POST /integrations",
		map[string]any{"kind": "github", "name": "silent", "config": f.good("github")}))
	got := apitest.Data[IntegrationTest](f.Call(ada, "POST /integrations/"+made.ID+"/test"))
	if got.Success || !strings.Contains(got.Message, "nobody answers") {
		t.Errorf("%+v", got)
	}
}

func TestIntegrations_BadInputIsRefusedByFieldAndNeverShowsASecret(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		kind   string
		config map[string]string
		words  []string
	}{
		"no token": {
			"github",
			map[string]string{"token": ""},
			[]string{"config.token", "missing"},
		},
		"an unknown field": {
			"github",
			map[string]string{"tokne": "x"},
			[]string{"tokne", "token, baseURL"},
		},
		"metadata": {
			"gitlab",
			map[string]string{"baseURL": "http://169.254.169.254"},
			[]string{"config.baseURL", "metadata"},
		},
		"a line break": {
			"jira",
			map[string]string{"apiToken": "hush\r\nX: y"},
			[]string{"config.apiToken", "printable"},
		},
		"a header in a user": {
			"acr",
			map[string]string{"username": "a\nb"},
			[]string{"config.username", "control"},
		},
		"a host that only ends like Google's": {
			"gar",
			map[string]string{"host": "evilgcr.io"},
			[]string{"config.host", "evilgcr.io", "eu.gcr.io"},
		},
		"a host that only ends like Artifact's": {
			"gar",
			map[string]string{"host": "evildocker.pkg.dev"},
			[]string{"config.host", "evildocker.pkg.dev"},
		},
		"a host below one of Artifact's": {
			"gar",
			map[string]string{"host": "eu-docker.pkg.dev.evil.example"},
			[]string{"config.host"},
		},
		"a host that only ends like Azure's": {
			"acr",
			map[string]string{"host": "evilazurecr.io"},
			[]string{"config.host", "evilazurecr.io"},
		},
		"Azure's domain alone": {
			"acr",
			map[string]string{"host": "azurecr.io"},
			[]string{"config.host", "below azurecr.io"},
		},
		"another host": {
			"acr",
			map[string]string{"host": "azurecr.io.evil.example"},
			[]string{"config.host", "evil", "azurecr.io"},
		},
		"a path in a host": {
			"gar",
			map[string]string{"host": "evil.example/docker.pkg.dev"},
			[]string{"config.host"},
		},
		"no key": {
			"gar",
			map[string]string{"serviceAccountKey": "hush"},
			[]string{"config.serviceAccountKey", "JSON"},
		},
		"no project": {
			"jira",
			map[string]string{"project": `OPS" OR 1=1`},
			[]string{"config.project", "OPS"},
		},
		"no address of a person": {
			"jira",
			map[string]string{"email": "nobody"},
			[]string{"config.email", "nobody"},
		},
		"a short key": {
			"pagerduty",
			map[string]string{"routingKey": "hush"},
			[]string{"config.routingKey", "32"},
		},
		"another region": {
			"pagerduty",
			map[string]string{"region": "moon"},
			[]string{"config.region", "moon", "us, eu"},
		},
		"no id of an account": {
			"ecr",
			map[string]string{"cloudAccountID": "123"},
			[]string{"config.cloudAccountID", "123"},
		},
		"no region of AWS": {
			"ecr",
			map[string]string{"region": "../x"},
			[]string{"config.region", "../x"},
		},
		"too long a token": {
			"github",
			map[string]string{"token": strings.Repeat("x", 9000)},
			[]string{"config.token", "8192"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := f.good(c.kind)
			maps.Copy(config, c.config)
			got := f.Call(ada, "POST /integrations",
				map[string]any{"kind": c.kind, "name": "x", "config": config}).Want(http.StatusBadRequest, c.words...)
			if strings.Contains(got.Body, "hush") || strings.Contains(got.Body, goodToken) {
				t.Errorf("a secret is repeated: %s", got.Body)
			}
		})
	}
	f.Call(ada, "POST /integrations", `{"kind":"gitea","name":"x","config":{}}`).Want(http.StatusBadRequest, "kind")
	f.Settings.CustomEndpoints = false
	f.Mount(Operations)
	f.Call(ada, "POST /integrations",
		map[string]any{"kind": "pagerduty", "name": "x", "config": f.good("pagerduty")}).Want(http.StatusBadRequest,
		"config.endpointURL")
	if len(f.asked) != 0 {
		t.Errorf("asked: %v", f.asked)
	}
}

func TestIntegrations_ASecretStaysUnlessItWouldGoElsewhere(t *testing.T) {
	f := newFixture(t)
	made := f.connect("jira", nil)
	path := "/integrations/" + made.ID
	f.Call(ada, "PUT "+path, `{"config":{"project":"DEV"}}`).Want(http.StatusOK, `"project":"DEV"`,
		`"email":"`+goodMail)
	f.Equal("with the secret that it had", apitest.Data[IntegrationTest](f.Call(ada, "POST "+path+"/test")).Success,
		true)
	thief := newTwin(t)
	f.Call(ada, "PUT "+path,
		map[string]any{"config": map[string]string{"siteURL": thief.URL}}).Want(http.StatusBadRequest, "config.siteURL",
		"config.apiToken")
	f.Call(ada, "POST "+path+"/test").Want(http.StatusOK)
	if len(thief.asked) != 0 {
		t.Errorf("the secret went to %v", thief.asked)
	}
	f.Call(ada, "PUT "+path,
		map[string]any{"config": map[string]string{"siteURL": thief.URL, "apiToken": goodToken}}).Want(http.StatusOK,
		`"status":"untested"`)
	f.Call(ada, "PUT "+path, `{"config":{"apiToken":""}}`).Want(http.StatusBadRequest, "config.apiToken", "missing")
	f.Call(ada, "PUT "+path, `{"config":null}`).Want(http.StatusBadRequest, "config")
	f.Call(ada, "PUT "+path, `{"name":"Issues","enabled":false,"eventTypes":["budget.exceeded"]}`).Want(http.StatusOK,
		"Issues", "budget.exceeded")
	f.Call(ada, "PUT "+path, `{"eventTypes":["x"]}`).Want(http.StatusBadRequest, "eventTypes")
	for _, it := range apitest.Value(f.Table.Query(f.In(apitest.Org),
		table.Query{PK: table.OrgPK(apitest.Org) + "INTEGRATION", Limit: 10}))(f).Items {
		if strings.Contains(string(it.Data), goodToken) {
			t.Errorf("the store has %s", it.Data)
		}
	}
}

// TestIntegrations_EachFieldThatLeadsElsewhereNeedsTheSecretAgain: a change of any field that determines the
// destination of a secret must include that secret.
func TestIntegrations_EachFieldThatLeadsElsewhereNeedsTheSecretAgain(t *testing.T) {
	const thief = "https://thief.example.com"
	for kind, fields := range map[string]map[string]string{
		"github": {"baseURL": thief}, "gitlab": {"baseURL": thief}, "jira": {"siteURL": thief},
		"dockerhub": {"endpointURL": thief},
		"gar":       {"host": "us-docker.pkg.dev", "endpointURL": ""},
		"acr":       {"host": "thief.azurecr.io", "endpointURL": thief},
		"pagerduty": {"region": "eu", "endpointURL": thief},
	} {
		f := newFixture(t)
		made := f.connect(kind, nil)
		for field, value := range fields {
			got := f.Call(ada, "PUT /integrations/"+made.ID, map[string]any{"config": map[string]string{field: value}})
			got.Want(http.StatusBadRequest, "config."+field+":", "send that again")
		}
	}
}

// TestRegistry_AStoredHostIsCheckedBeforeItIsCalled: a stored host that an older version accepted but that is not a
// registry's host receives no request.
func TestRegistry_AStoredHostIsCheckedBeforeItIsCalled(t *testing.T) {
	f := newFixture(t)
	made := f.connect("gar", nil)
	f.Change(table.Key{PK: table.OrgPK(apitest.Org) + "INTEGRATION", SK: made.ID},
		table.Set("config", map[string]string{"host": "evilgcr.io", "endpointURL": f.URL}))
	got := apitest.Data[IntegrationTest](f.Call(ada, "POST /integrations/"+made.ID+"/test"))
	if got.Success || !strings.Contains(got.Message, "config.host") || len(f.asked) != 0 {
		t.Errorf("%+v, asked %v", got, f.asked)
	}
}

func TestIntegrations_TheSecretOfWebhooksIsToldOnceAndCanBeMadeAnew(t *testing.T) {
	f := newFixture(t)
	made := f.connect("github", nil)
	path := "/integrations/" + made.ID
	if want := f.Settings.BaseURL + "/webhooks/github?integration=" + made.ID + "&organisation=" +
		apitest.Org; *made.WebhookURL != want || !strings.HasPrefix(*made.WebhookSecret, "whsec_") {
		t.Errorf("%s, %s", *made.WebhookURL, *made.WebhookSecret)
	}
	if got := f.Call(ada, "GET "+path); strings.Contains(got.Body, *made.WebhookSecret) {
		t.Error("it is told again")
	}
	f.Call(ada, "PUT "+path, `{"name":"Code"}`).Want(http.StatusOK, `"webhookSecret":null`)
	next := apitest.Data[IssuedIntegration](f.Call(ada, "PUT "+path, `{"rotateWebhookSecret":true}`))
	if next.WebhookSecret == nil || *next.WebhookSecret == *made.WebhookSecret {
		t.Errorf("%v", next.WebhookSecret)
	}
	store := receiver.NewIntegrationStore(f.Table, f.Sealer)
	i := apitest.Value(store.Read(f.In(apitest.Org), apitest.Org, made.ID))(f)
	f.Equal("the secret", apitest.Value(store.OpenInbound(f.In(apitest.Org), apitest.Org, &i))(f), *next.WebhookSecret)
	for n := range 12 {
		f.Clock.Advance(time.Second)
		r := receiver.Received{Event: "push", Repository: "octo/shop", At: f.Clock.Now()}
		apitest.Value(store.Receive(f.In(apitest.Org), apitest.Org, made.ID, r, []string{string(rune('a' + n))}))(f)
	}
	got := apitest.Data[IntegrationDetail](f.Call(vera, "GET "+path))
	if got.LastReceivedAt == nil || !got.LastReceivedAt.Equal(f.Clock.Now()) || len(got.Received) != shownReceived ||
		!got.Received[0].At.Equal(f.Clock.Now()) {
		t.Errorf("%+v", got)
	}
	f.connect("gitlab", nil)
	f.Equal("of a kind", apitest.Data[rest.List[Integration]](f.Call(ada, "GET /integrations?kind=gitlab,jira")).Total,
		1)
}

// TestIntegrations_AnEchoTellsNoSecret: if a service echoes our request, its secrets do not appear in our answers.
func TestIntegrations_AnEchoTellsNoSecret(t *testing.T) {
	f := newFixture(t)
	f.echoes = true
	for _, kind := range []string{"github", "gitlab", "jira", "dockerhub", "acr", "gar", "pagerduty"} {
		made := f.connect(kind, nil)
		got := f.Call(ada, "POST /integrations/"+made.ID+"/test").Want(http.StatusOK, `"success":false`, "status 418")
		body := got.Body + f.Call(vera, "GET /integrations/"+made.ID).Body
		for _, secret := range []string{
			goodToken, goodKey, goodSecret, "service_account",
			"b3BzQGV4YW1wbGUuY29tOmdvb2Q",
		} {
			if strings.Contains(body, secret) {
				t.Errorf("%s: %s", kind, body)
			}
		}
	}
}
