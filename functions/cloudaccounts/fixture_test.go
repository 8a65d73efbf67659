package cloudaccounts_test

import (
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// The callers: the administrators of two organizations, and one who may only look.
var (
	alice  = apitest.Caller("org_a", "alice", "*:*")
	bob    = apitest.Caller("org_b", "bob", "*:*")
	viewer = apitest.Caller("org_a", "vic", "*:read")
)

// fixture is the group in front of a simulated cloud, with discovery behind it.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T, change ...func(*platform.Platform)) *fixture {
	t.Helper()
	s := &fixture{apitest.On(t, apitest.PlatformAt(t, clock.System{}))}
	s.Settings.Simulated, s.Settings.CustomEndpoints = true, true
	providers := cloud.Providers{simulated.Name: simulated.New(s.Table, s.Platform.Clock)}
	s.Workers = lambdacall.Local{inventory.Connector: connector.Handler(s.Platform, providers)}
	s.RunMachines(apitest.Machines(t, "discovery"),
		map[string]workflow.Handler{"discovery": discovery.Handler(s.Platform, providers)})
	for _, f := range change {
		f(s.Platform)
	}
	s.Mount(cloudaccounts.Operations)
	return s
}

// call sends body, which is encoded unless it is a string, as c.
func (s *fixture) call(c identity.Caller, method, path string, body any) apitest.Answer {
	s.Helper()
	return s.Call(c, method+" "+path, body)
}

// accountBody returns a simulated account to connect; further values replace its own, nil removes them.
func accountBody(more ...map[string]any) map[string]any {
	out := map[string]any{
		"provider": "simulated", "cloudAccountID": "111122223333", "name": "Playground", "authMethod": "simulated",
		"permissionLevel": "read_write", "credentials": map[string]string{"size": "60", "regions": "2"},
	}
	for _, m := range more {
		for k, v := range m {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
	}
	return out
}

func (s *fixture) connectAccount(c identity.Caller, more ...map[string]any) connection.Account {
	s.Helper()
	return apitest.Data[connection.Account](s.call(c, "POST", "/cloud-accounts", accountBody(more...)))
}

func (s *fixture) getAccount(c identity.Caller, accountID string) connection.Account {
	s.Helper()
	return apitest.Data[connection.Account](s.call(c, "GET", "/cloud-accounts/"+accountID, nil))
}

// waitIdle waits until no discovery is under way.
func (s *fixture) waitIdle() {
	s.Helper()
	s.Must(s.Workflow.(*workflow.Embedded).Idle(s.Context())) //nolint:forcetypeassert // the fixture made it
}

// followDiscovery waits for the end of a discovery, and reads it.
func (s *fixture) followDiscovery(c identity.Caller, statusURL string) cloudaccounts.DiscoveryProgress {
	s.Helper()
	s.waitIdle()
	p := apitest.Data[cloudaccounts.DiscoveryProgress](s.call(c, "GET", statusURL, nil))
	if p.Status == "running" {
		s.Fatalf("discovery %s does not end", statusURL)
	}
	return p
}

// connectSettled returns an account whose first discovery has ended.
func (s *fixture) connectSettled(c identity.Caller, more ...map[string]any) connection.Account {
	s.Helper()
	a := s.connectAccount(c, more...)
	s.followDiscovery(c, "/cloud-accounts/"+a.ID+"/discover/"+*a.JobID)
	return s.getAccount(c, a.ID)
}
