package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// wireRecorder is a server in front of a cluster. It writes down every request: method, path, query, the headers that
// choose a format, and the body.
type wireRecorder struct {
	next http.Handler

	mu    sync.Mutex
	lines map[string]int
}

// ServeHTTP records the request and hands it on.
func (w *wireRecorder) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	line := r.Method + " " + r.URL.RequestURI() + " [Accept: " + r.Header.Get("Accept") + "] [Content-Type: " +
		r.Header.Get("Content-Type") + "] " +
		version.ReplaceAllString(strings.TrimSpace(string(body)), `"resourceVersion":"N"`)
	w.mu.Lock()
	w.lines[strings.TrimSpace(line)]++
	w.mu.Unlock()
	w.next.ServeHTTP(out, r)
}

// takeRequests returns the requests so far, each once with its count, sorted because some of them leave side by side.
func (w *wireRecorder) takeRequests() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(w.lines)) {
		fmt.Fprintf(&b, "%dx %s\n", w.lines[line], line)
	}
	w.lines = map[string]int{}
	return b.String()
}

// record puts a recorder between the connection of the fixture and the handler.
func (f *fixture) record(next http.Handler) *wireRecorder {
	w := &wireRecorder{next: next, lines: map[string]int{}}
	server := httptest.NewTLSServer(w) // it has the certificate of the twin's server
	f.Cleanup(server.Close)
	a := f.account(kubernetestwin.Token)
	a.Credentials["kubeconfig"] = strings.ReplaceAll(a.Credentials["kubeconfig"], f.URL(), server.URL)
	f.conn = f.connect(a)
	return w
}

// TestWire_RequestsAndResultsAreTheGoldenOnes holds the requests that leave, and the values that this package makes of
// the answers. The files were recorded with client-go, so that the package's own client is held to it.
func TestWire_RequestsAndResultsAreTheGoldenOnes(t *testing.T) {
	for name, do := range map[string]func(f *fixture) []any{
		"listings": (*fixture).wireListings, "autoscaling": (*fixture).wireAutoscaling,
		"permissions": (*fixture).wirePermissions, "selectors": (*fixture).wireSelectors, "names": (*fixture).wireNames,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			w := f.record(f.Cluster)
			results := do(f)
			var b strings.Builder
			b.WriteString("# requests\n" + w.takeRequests() + "# results\n")
			for _, r := range results {
				text, err := json.MarshalIndent(r, "", " ")
				f.must(err)
				fmt.Fprintf(&b, "%s\n", text)
			}
			golden(t, filepath.Join("testdata", "wire-"+name+".golden"), b.String())
		})
	}
}

// result is a value or its error, as text.
func result(v any, err error) any {
	if err != nil {
		return err.Error()
	}
	return v
}

// wireListings lists a cluster whose objects have every field that is read, and reads the states of the found objects.
func (f *fixture) wireListings() []any {
	f.Plant(morning)
	f.tellAll()
	f.Page = 2
	f.Fill()
	found := cloudtest.ListAll(f.T, f.conn, "cluster", cloudtest.KindsOf("kubernetes")...)
	slices.SortFunc(found, func(a, b cloud.Resource) int { return strings.Compare(a.Type+a.UID, b.Type+b.UID) })
	var out []any
	for _, r := range found {
		r.CreatedAt = r.CreatedAt.UTC()
		out = append(out, r)
		if k, ok := cloud.KindOf(r.Type); ok && !k.Collected {
			got, err := f.conn.Read(f.Context(), r.Type, "cluster", []string{r.UID})
			out = append(out, result(got, err))
		}
	}
	return out
}

// wireAutoscaling makes, changes, gives back and removes HorizontalPodAutoscalers.
func (f *fixture) wireAutoscaling() []any {
	var out []any
	f.Add("deployments", kubernetestwin.Named("scaled", "bare", 2))
	f.Add("deployments", kubernetestwin.Named("scaled", "rich", 2))
	f.Add("horizontalpodautoscalers", kubernetestwin.Targeting("scaled", "rich", richHPA()))
	cpu, cooldown := int64(70), int64(120)
	for _, name := range []string{"bare", "rich"} {
		before := f.readScaling(name)
		out = append(out, before)
		want := cloud.Autoscaling{Min: 2, Max: 5, Desired: 3, TargetCPUPercent: &cpu, CooldownSeconds: &cooldown}
		for _, to := range []cloud.Autoscaling{want, before} {
			out = append(out, fmt.Sprint(f.setScaling(name, to)))
			f.Settle()
			out = append(out, f.readScaling(name))
		}
	}
	f.Remove("horizontalpodautoscalers", "scaled/rich")
	var again cloud.Autoscaling
	f.must(json.Unmarshal([]byte(`{"min":1,"max":9,"desired":2}`), &again))
	again.Native = out[5].(cloud.Autoscaling).Native
	return append(out, fmt.Sprint(f.setScaling("rich", again)), f.readScaling("rich"))
}

func (f *fixture) wirePermissions() []any {
	f.Deny("patch deployments.apps")
	got, err := f.conn.Permissions(f.Context())
	return []any{result(got, err)}
}

// wireSelectors stops a workload whose pods are selected by expressions.
func (f *fixture) wireSelectors() []any {
	o := kubernetestwin.Named("shop", "web", 2)
	o["spec"].(fields)["selector"] = fields{
		"matchLabels": fields{"tier": "front", "app": "web"},
		"matchExpressions": []any{
			fields{"key": "zone", "operator": "In", "values": []any{"b", "a"}},
			fields{"key": "canary", "operator": "DoesNotExist"},
			fields{"key": "build", "operator": "Exists"},
			fields{"key": "stage", "operator": "NotIn", "values": []any{"test"}},
		},
	}
	f.Add("deployments", o)
	f.Add("poddisruptionbudgets", fields{
		"metadata": fields{"namespace": "shop", "name": "web"},
		"spec":     fields{"minAvailable": 1, "selector": fields{"matchLabels": fields{"app": "web"}}},
	})
	at := uid("deployments", "shop/web")
	before := f.state(deployment, at)
	err := f.act(cloud.Stop, deployment, cloud.Target{UID: at, Snapshot: before.Snapshot})
	f.settle()
	got, readErr := f.conn.Read(f.Context(), deployment, "cluster", []string{at})
	return []any{before, fmt.Sprint(err), result(got, readErr)}
}

// wireNames reads objects by names that could lead elsewhere.
func (f *fixture) wireNames() []any {
	var out []any
	for _, at := range []string{
		"shop/..", "../web", "shop/.", "shop/a%2fb", "shop/a?b=c", "shop/a b", "shop/a#b",
		"shop/ü",
	} {
		got, err := f.conn.Read(f.Context(), deployment, "cluster", []string{uid("deployments", at)})
		out = append(out, at, result(got, err))
	}
	return out
}

// TestWire_AnswersThatAreErrors holds the class, the code and the words of errors, from the cluster and from a proxy
// before it.
func TestWire_AnswersThatAreErrors(t *testing.T) {
	status := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the words","reason":%q,"code":%d}`
	var b strings.Builder
	for _, code := range []int{
		200, 204, 302, 400, 401, 403, 404, 405, 406, 409, 410, 415, 422, 429, 500, 501, 503,
		504,
	} {
		for _, body := range []struct{ kind, text string }{
			{"application/json", fmt.Sprintf(status, "Forbidden", code)},
			{"application/json", fmt.Sprintf(status, "", code)},
			{"text/plain", "words of a proxy\n"},
			{"text/html", "<h1>words</h1>"},
			{"application/json", `{"a":1}`},
			{"application/json", `[]`},
			{"", ""},
		} {
			f := newFixture(t)
			f.record(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", body.kind)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body.text)
			}))
			_, err := f.conn.Identify(t.Context())
			class, op, name := cloud.ClassOf(err), "", ""
			if e, ok := err.(*cloud.Error); ok { //nolint:errorlint // it is not wrapped
				op, name = e.Op, e.Code
			}
			fmt.Fprintf(&b, "%d %s %.20q: class %v, op %q, code %q: %v\n", code, body.kind, body.text, class, op, name,
				err)
		}
	}
	golden(t, filepath.Join("testdata", "wire-errors.golden"), b.String())
}
