package integrations

import (
	"maps"
	"net/http"
	"testing"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/ssrfguard"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/ssrfguardtest"
)

// TestIntegrations_HostileAddressesAreNotReached is check 60 for every address field of an integration: a hostile
// address is refused in a request, and also if it is in the store.
func TestIntegrations_HostileAddressesAreNotReached(t *testing.T) {
	f := newFixture(t)
	f.Settings.PrivateAddresses = false
	f.Mount(Operations)
	store := receiver.NewIntegrationStore(f.Table, f.Sealer)
	services := receiver.NewIntegrationServices(store, f.Platform.Clock, nil, ssrfguard.Policy{})
	org := apitest.Org
	for kind, field := range map[string]string{
		"github": "baseURL", "gitlab": "baseURL", "jira": "siteURL", "pagerduty": "endpointURL",
		"dockerhub": "endpointURL", "gar": "endpointURL", "acr": "endpointURL",
	} {
		for _, address := range append([]string{f.URL}, ssrfguardtest.Hostile...) {
			config := f.good(kind)
			config[field] = address
			f.Call(ada, "POST /integrations",
				map[string]any{"kind": kind, "name": "x", "config": config}).Want(http.StatusBadRequest,
				"config."+field)
			i := receiver.Integration{
				Kind: kind,
				Row:  receiver.Row{ID: id.New(receiver.IntegrationPrefix, f.Clock.Now())},
			}
			f.Must(store.Configure(f.In(org), org, &i,
				receiver.IntegrationRules{Addresses: ssrfguard.Policy{Private: true}, Endpoints: true}, f.good(kind)))
			maps.Copy(i.Config, map[string]string{field: address})
			if said, err := services.Test(f.In(org), org, &i); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s at %q: %s, %v", kind, address, said, err)
			}
		}
	}
	if len(f.asked) != 0 {
		t.Errorf("asked: %v", f.asked)
	}
}

// TestRegistry_CredentialsGoNowhereElse: a registry that refers to another token server does not make us send
// credentials there.
func TestRegistry_CredentialsGoNowhereElse(t *testing.T) {
	f := newFixture(t)
	thief := newTwin(t)
	f.realm = thief.URL + "/token"
	made := f.connect("acr", nil)
	got := apitest.Data[IntegrationTest](f.Call(ada, "POST /integrations/"+made.ID+"/test"))
	if got.Success || len(thief.asked) != 0 {
		t.Errorf("%+v, and the other was asked %v", got, thief.asked)
	}
}
