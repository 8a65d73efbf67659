package cloudaccounts_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// stage is the group in front of a simulated cloud, with discovery behind it.
type stage struct {
	t *testing.T
	p *platform.Platform
	h http.Handler
	d []byte // the interface description
}

func newStage(t *testing.T, change ...func(*platform.Platform)) *stage {
	t.Helper()
	c := clock.System{}
	kek, err := seal.OpenKeyFile(filepath.Join(t.TempDir(), "kek"))
	if err != nil {
		t.Fatal(err)
	}
	p := &platform.Platform{
		Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c, Sealer: seal.NewEnvelope(kek), Log: slog.New(slog.DiscardHandler),
		Settings: platform.Settings{Simulated: true, CustomEndpoints: true, PrivateAddresses: true},
	}
	providers := cloud.Providers{simulated.Name: simulated.New(p.Table, c)}
	p.Workers = lambdacall.Local{inventory.Connector: connector.Handler(p, providers)}
	p.Workflow = engine(t, p, providers)
	for _, f := range change {
		f(p)
	}
	h, api := rest.Mount(p, cloudaccounts.Operations(p))
	return &stage{t, p, h, api.JSON()}
}

// engine runs the discovery machine alone.
func engine(t *testing.T, p *platform.Platform, providers cloud.Providers) workflow.Engine {
	t.Helper()
	definition, err := os.ReadFile("../../statemachines/discovery.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"discovery.asl.json": {Data: definition}}
	machines, err := workflow.Machines(folder, map[string]string{"DiscoveryFunctionArn": "discovery"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := workflow.NewEmbedded(workflow.Parts{
		Store: p.Table, Clock: p.Clock, Machines: machines, Log: p.Log,
		Handlers: map[string]workflow.Handler{"discovery": discovery.Handler(p, providers)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// The callers: the administrators of two organizations, and one who may only look.
var (
	alice  = identity.Caller{Org: "org_a", User: "usr_alice", Email: "alice@example.com", Grants: grantsOf("*:*")}
	bob    = identity.Caller{Org: "org_b", User: "usr_bob", Email: "bob@example.com", Grants: grantsOf("*:*")}
	viewer = identity.Caller{Org: "org_a", User: "usr_vic", Email: "vic@example.com", Grants: grantsOf("*:read")}
)

func grantsOf(policy string) []grant.Grant {
	return []grant.Grant{{Policies: []string{policy}, Scope: "org"}}
}

// answer is what came back.
type answer struct {
	status int
	body   string
}

// call sends body, which is encoded unless it is a string, as c.
func (s *stage) call(c identity.Caller, method, path string, body any) answer {
	s.t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(b)
	}
	r := httptest.NewRequest(method, path, bytes.NewBufferString(text))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
	return answer{w.Code, w.Body.String()}
}

// data decodes {"data":…} of an answer that must have the status.
func data[T any](s *stage, a answer, status int) T {
	s.t.Helper()
	var out struct{ Data T }
	if a.status != status {
		s.t.Fatalf("status %d: %s; want %d", a.status, a.body, status)
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		s.t.Fatalf("decode %s: %v", a.body, err)
	}
	return out.Data
}

// body is a simulated account to connect; further values replace its own, nil removes them.
func body(more ...map[string]any) map[string]any {
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

func (s *stage) connect(c identity.Caller, more ...map[string]any) cloudaccounts.Account {
	s.t.Helper()
	return data[cloudaccounts.Account](s, s.call(c, "POST", "/cloud-accounts", body(more...)), http.StatusOK)
}

func (s *stage) get(c identity.Caller, accountID string) cloudaccounts.Account {
	s.t.Helper()
	return data[cloudaccounts.Account](s, s.call(c, "GET", "/cloud-accounts/"+accountID, nil), http.StatusOK)
}

// idle waits until no discovery is under way.
func (s *stage) idle() {
	s.t.Helper()
	if err := s.p.Workflow.(*workflow.Embedded).Idle(s.t.Context()); err != nil { //nolint:forcetypeassert // engine made it
		s.t.Fatal(err)
	}
}

// follow waits for the end of a discovery, and reads it.
func (s *stage) follow(c identity.Caller, statusURL string) cloudaccounts.DiscoveryProgress {
	s.t.Helper()
	s.idle()
	p := data[cloudaccounts.DiscoveryProgress](s, s.call(c, "GET", statusURL, nil), http.StatusOK)
	if p.Status == "running" {
		s.t.Fatalf("discovery %s does not end", statusURL)
	}
	return p
}

// settled is an account whose first discovery has ended.
func (s *stage) settled(c identity.Caller, more ...map[string]any) cloudaccounts.Account {
	s.t.Helper()
	a := s.connect(c, more...)
	s.follow(c, "/cloud-accounts/"+a.ID+"/discover/"+*a.JobID)
	return s.get(c, a.ID)
}
