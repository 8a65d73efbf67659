package cloudaccounts_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	someGUID   = "11111111-2222-3333-4444-aaaabbbbcccc"
	tenantGUID = "99999999-2222-3333-4444-aaaabbbbcccc"
	pool       = "projects/123456789012/locations/global/workloadIdentityPools/lamplighter/providers/lamplighter"
	robot      = "lamplighter@my-project-123.iam.gserviceaccount.com"
)

// renamed is the simulated cloud under the name of another provider. It stores the settings of the last connection.
// Its account number is native, or else the claimed one.
type renamed struct {
	cloud.Provider
	name, native string
	mu           sync.Mutex
	opened       cloud.Account
}

func (r *renamed) Name() string { return r.name }

func (r *renamed) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	r.mu.Lock()
	r.opened = a
	r.mu.Unlock()
	a.Provider, a.AuthMethod, a.Credentials = "simulated", "simulated", map[string]string{"size": "10", "regions": "1"}
	if r.native != "" {
		a.Credentials["accountID"] = r.native
	}
	return r.Provider.Connect(ctx, a)
}

func (r *renamed) lastSettings() cloud.Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened
}

// withProvider makes the connector one that has the provider.
func withProvider(r *renamed) func(*platform.Platform) {
	return func(p *platform.Platform) {
		r.Provider = simulated.New(p.Table, p.Clock)
		p.Workers = lambdacall.Local{inventory.Connector: connector.Handler(p, cloud.Providers{r.name: r})}
	}
}

// keyFile is a service account's key, with these fields instead.
func keyFile(t *testing.T, change keys) string {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der := apitest.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	k := keys{
		"type": "service_account", "project_id": "my-project-123", "private_key_id": "abc", "client_email": robot,
		"client_id":   "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"auth_uri":    "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://oauth2.googleapis.com/token",
		"auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
		"universe_domain":             "googleapis.com",
	}
	maps.Copy(k, change)
	return string(apitest.Value(json.Marshal(k))(t))
}

const kubeconfigText = `{apiVersion: v1, kind: Config, current-context: b, ` +
	`contexts: [{name: a, context: {cluster: x, user: root}},
 {name: b, context: {cluster: x, user: robot}}], ` +
	`clusters: [{name: x, cluster: {server: "https://k8s.example.com:6443"}}],
 users: [{name: root, user: {token: hush-hush}}, {name: robot, user: {token: abc.def}}]}`

// accountOf is a body for the provider.
func accountOf(provider, native, method string, credentials keys) fields {
	return fields{"provider": provider, "cloudAccountID": native, "authMethod": method, "credentials": credentials}
}

func TestConnect_TakesEveryMethodOfTheContract(t *testing.T) {
	federated := keys{"workloadIdentityProvider": "//iam.googleapis.com/" + pool, "serviceAccountEmail": robot}
	kept := keyFile(t, nil)
	var fieldsOfKey keys
	if err := json.Unmarshal([]byte(kept), &fieldsOfKey); err != nil {
		t.Fatal(err)
	}
	principal := keys{"tenantID": tenantGUID, "clientID": someGUID, "clientSecret": "hush-hush"}
	for name, tt := range map[string]struct {
		body   fields
		native string // that is stored
		holds  keys   // the expected settings of the provider: these values, or texts that contain them
	}{
		"static keys of AWS": {
			accountOf("aws", "111122223333", "static_keys",
				keys{"accessKeyID": "AKIA", "secretAccessKey": "hush-hush", "other": "x"}), "111122223333",
			keys{"secretAccessKey": "hush-hush"},
		},
		"temporary credentials of AWS": {
			accountOf("aws", "111122223333", "temporary_credentials",
				keys{"accessKeyID": "AKIA", "secretAccessKey": "hush-hush", "sessionToken": "s"}), "111122223333",
			keys{"sessionToken": "s"},
		},
		"a role of AWS": {accountOf("aws", "111122223333", "assume_role",
			keys{"roleArn": "arn:aws:iam::111122223333:role/x"}), "111122223333", keys{"externalID": "lamplighter-"}},
		"a service principal": {accountOf("azure", strings.ToUpper(someGUID), "service_principal",
			principal), someGUID, principal},
		"federation of Azure": {
			accountOf("azure", someGUID, "workload_identity_federation",
				keys{"tenantID": "contoso.onmicrosoft.com", "clientID": strings.ToUpper(someGUID)}), someGUID,
			keys{"tenantID": "contoso.onmicrosoft.com", "clientID": someGUID},
		},
		"a key of a service account": {accountOf("gcp", "my-project-123", "service_account",
			keys{"serviceAccountKey": kept}), "my-project-123", keys{"serviceAccountKey": `"client_email":"` + robot}},
		"the key's own fields": {
			accountOf("gcp", "example.com:my-project", "service_account", fieldsOfKey),
			"example.com:my-project",
			keys{"serviceAccountKey": `"client_email":"` + robot},
		},
		"federation of Google": {accountOf("gcp", "my-project-123", "workload_identity_federation",
			federated), "my-project-123", federated},
		"federation, as gcloud prints it": {accountOf("gcp", "my-project-123", "workload_identity_federation",
			keys{"workloadIdentityProvider": pool, "serviceAccountEmail": robot}), "my-project-123", federated},
		"a project by its number": {accountOf("gcp", "123456789012", "workload_identity_federation",
			federated), "my-project-123", federated},
		"a kubeconfig without the number": {accountOf("kubernetes", "", "kubeconfig",
			keys{"kubeconfig": kubeconfigText}), someGUID, keys{"kubeconfig": "abc.def"}},
		"a kubeconfig with its own number": {accountOf("kubernetes", someGUID, "kubeconfig",
			keys{"kubeconfig": kubeconfigText}), someGUID, keys{"kubeconfig": "https://k8s.example.com:6443"}},
		"a kubeconfig and the address of a Prometheus": {
			accountOf("kubernetes", someGUID, "kubeconfig", keys{
				"kubeconfig": kubeconfigText, "prometheusURL": "https://prometheus.example.com/tenant",
				"prometheusToken": "hush-hush",
			}), someGUID,
			keys{"prometheusURL": "https://prometheus.example.com/tenant", "prometheusToken": "hush-hush"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &renamed{name: tt.body["provider"].(string), native: tt.native}
			s := newFixture(t, withProvider(r))
			answer := s.call(alice, "POST", "/cloud-accounts", accountBody(tt.body))
			a := apitest.Data[connection.Account](answer)
			if a.CloudAccountID != tt.native || a.Provider != r.name || strings.Contains(answer.Body, "hush-hush") {
				t.Errorf("%s; want the number %s, and no secret", answer.Body, tt.native)
			}
			got := r.lastSettings()
			for field, part := range tt.holds {
				if !strings.Contains(got.Credentials[field], part) {
					t.Errorf("opened with %v; want %s in %s", got.Credentials, part, field)
				}
			}
			if text := got.Credentials["kubeconfig"] + got.Credentials["other"]; strings.Contains(text, "hush-hush") ||
				got.Credentials["other"] != "" {
				t.Errorf("kept more than is needed: %v", got.Credentials)
			}
		})
	}
}

func TestConnect_NamesWhatIsWrongWithCredentials(t *testing.T) {
	key := func(change keys) fields {
		return accountOf("gcp", "my-project-123", "service_account", keys{"serviceAccountKey": keyFile(t, change)})
	}
	azure := func(native, tenant, client string) fields {
		return accountOf("azure", native, "service_principal",
			keys{"tenantID": tenant, "clientID": client, "clientSecret": "hush-hush"})
	}
	federation := func(provider, email string) fields {
		return accountOf("gcp", "my-project-123", "workload_identity_federation",
			keys{"workloadIdentityProvider": provider, "serviceAccountEmail": email})
	}
	for name, tt := range map[string]struct {
		body fields
		says string
	}{
		"a subscription that is none": {azure("sub-1", someGUID, someGUID), "az account show"},
		"no subscription": {
			azure("", someGUID, someGUID),
			"cloudAccountID: is required for provider azure",
		},
		"a tenant that is an address": {
			azure(someGUID, "evil.example.com/x", someGUID),
			"credentials.tenantID",
		},
		"an application that is none": {azure(someGUID, tenantGUID, "app"), "credentials.clientID"},
		"a project that is none": {
			accountOf("gcp", "My Project", "service_account", keys{}),
			"the id of a project",
		},
		"OAuth without its three steps": {accountOf("gcp", "my-project-123", "oauth",
			keys{"refreshToken": "hush-hush"}), "/connect/gcp/oauth-url"},
		"no key": {
			accountOf("gcp", "my-project-123", "service_account", nil),
			"credentials.serviceAccountKey: is required",
		},
		"a key that is no JSON": {accountOf("gcp", "my-project-123", "service_account",
			keys{"serviceAccountKey": "hush-hush"}), "not the JSON of a key"},
		"a key that names a program to run": {key(keys{"type": "external_account"}), "not service_account"},
		"a key that sends its token elsewhere": {
			key(keys{"token_uri": "http://169.254.169.254/hush-hush"}),
			"token_uri is not Google's",
		},
		"a key of another universe": {
			key(keys{"universe_domain": "evil.example.com"}),
			"universe_domain",
		},
		"a key of nobody": {key(keys{"client_email": "me@example.com"}), "client_email"},
		"a key that is not one": {
			key(keys{"private_key": "hush-hush"}),
			"private_key is not a key in PEM",
		},
		"a pool that is an address": {
			federation("//evil.example.com/"+pool, robot),
			"credentials.workloadIdentityProvider",
		},
		"an impersonated somebody": {federation(pool, "../../x"), "credentials.serviceAccountEmail"},
		"a kubeconfig with a plugin": {
			accountOf("kubernetes", "", "kubeconfig",
				keys{"kubeconfig": strings.Replace(kubeconfigText, "token: abc.def", "exec: {command: sh}", 1)}),
			"credentials.kubeconfig: exec",
		},
		"a kubeconfig of the metadata service": {
			accountOf("kubernetes", "", "kubeconfig",
				keys{"kubeconfig": strings.Replace(kubeconfigText, "k8s.example.com:6443", "169.254.169.254", 1)}),
			"credentials.kubeconfig: server",
		},
		"a cluster by a name": {accountOf("kubernetes", "prod", "kubeconfig",
			keys{"kubeconfig": kubeconfigText}), "kube-system"},
		"a token for no Prometheus": {accountOf("kubernetes", "", "kubeconfig",
			keys{"kubeconfig": kubeconfigText, "prometheusToken": "hush-hush"}), "needs prometheusURL"},
		"a token for a Prometheus without TLS": {accountOf("kubernetes", "", "kubeconfig", keys{
			"kubeconfig": kubeconfigText, "prometheusURL": "http://prometheus.example.com",
			"prometheusToken": "hush-hush",
		}), "must begin with https://"},
		"a Prometheus at a metadata address": {accountOf("kubernetes", "", "kubeconfig", keys{
			"kubeconfig": kubeconfigText, "prometheusURL": "https://169.254.169.254",
		}), "credentials.prometheusURL"},
		"a cluster that says it is another one": {accountOf("kubernetes", tenantGUID, "kubeconfig",
			keys{"kubeconfig": kubeconfigText}), "they open account " + someGUID},
		"a credential that is longer than can be": {
			azure(someGUID, strings.Repeat("x", 40<<10), someGUID),
			"longer than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, withProvider(&renamed{name: tt.body["provider"].(string), native: someGUID}))
			got := s.call(alice, "POST", "/cloud-accounts", accountBody(tt.body))
			if got.Status != 400 || !strings.Contains(unquote(got.Body), tt.says) ||
				strings.Contains(got.Body, "hush-hush") {
				t.Errorf("%d %s; want 400 with %q, and no secret", got.Status, got.Body, tt.says)
			}
		})
	}
}

func TestConnect_NamesTheProvidersOfThisProcess(t *testing.T) {
	s := newFixture(t)
	got := s.call(alice, "POST", "/cloud-accounts",
		accountBody(accountOf("kubernetes", "", "kubeconfig", keys{"kubeconfig": kubeconfigText})))
	if want := `provider: "kubernetes" is not available in this deployment; available: simulated`; got.Status != 400 ||
		!strings.Contains(unquote(got.Body), want) {
		t.Errorf("%d %s; want 400 with %s", got.Status, got.Body, want)
	}
}

// A cluster is connected once, also if its number is left out and is known only after the cluster was asked.
func TestConnect_OneClusterIsConnectedOnce(t *testing.T) {
	s := newFixture(t, withProvider(&renamed{name: "kubernetes", native: someGUID}))
	b := accountOf("kubernetes", "", "kubeconfig", keys{"kubeconfig": kubeconfigText})
	s.connectAccount(alice, b)
	if got := s.call(alice, "POST", "/cloud-accounts", accountBody(b, fields{"name": "Again"})); got.Status != 409 ||
		!strings.Contains(got.Body, someGUID) {
		t.Errorf("%d %s; want 409 that names the cluster", got.Status, got.Body)
	}
}

// New credentials that the cloud refuses, or of another account, leave the old ones where they are.
func TestUpdate_KeepsCredentialsUntilNewOnesAreVerified(t *testing.T) {
	r := &renamed{name: "azure", native: someGUID}
	s := newFixture(t, withProvider(r))
	a := s.connectAccount(alice,
		accountOf("azure", someGUID, "service_principal",
			keys{"tenantID": tenantGUID, "clientID": someGUID, "clientSecret": "old"}))
	change := fields{"credentials": keys{"tenantID": tenantGUID, "clientID": someGUID, "clientSecret": "new"}}
	s.waitIdle()
	r.native = tenantGUID
	if got := s.call(alice, "PUT", "/cloud-accounts/"+a.ID, change); got.Status != 400 ||
		!strings.Contains(got.Body, "they open account "+tenantGUID) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	r.native = someGUID
	s.call(alice, "GET", "/cloud-accounts/"+a.ID+"/permissions", nil).Want(200)
	if got := r.lastSettings().Credentials["clientSecret"]; got != "old" {
		t.Errorf("after refused credentials the account is opened with %q", got)
	}
	s.waitIdle() // a discovery that ends meanwhile changes the account
	s.call(alice, "PUT", "/cloud-accounts/"+a.ID, change).Want(200)
	s.waitIdle()
	s.call(alice, "PUT", "/cloud-accounts/"+a.ID,
		fields{
			"authMethod":  "workload_identity_federation",
			"credentials": keys{"tenantID": tenantGUID, "clientID": someGUID},
		}).Want(200)
	s.call(alice, "GET", "/cloud-accounts/"+a.ID+"/permissions", nil).Want(200)
	if got := r.lastSettings(); got.AuthMethod != "workload_identity_federation" ||
		got.Credentials["clientSecret"] != "" {
		t.Errorf("opened as %+v", got)
	}
}
