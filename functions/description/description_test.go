package description_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/functions/description"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/resttest"
)

// mountGroup serves the group. Its source is the API that it is mounted in.
func mountGroup() (http.Handler, *rest.API) {
	var api *rest.API
	p := &platform.Platform{Settings: platform.Settings{Version: "v1.2.3"}}
	h, api := rest.Mount(p, description.Operations(p, description.Source{
		YAML: func() ([]byte, error) { return api.YAML(), nil },
		JSON: func() ([]byte, error) { return api.JSON(), nil },
	}))
	return h, api
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestHealth(t *testing.T) {
	h, _ := mountGroup()
	if w := get(h, "/healthz"); w.Code != http.StatusOK ||
		w.Body.String() != `{"data":{"status":"ok","version":"v1.2.3"}}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDocuments(t *testing.T) {
	h, api := mountGroup()
	y, j := get(h, "/openapi.yaml"), get(h, "/openapi.json")
	if y.Header().Get("Content-Type") != "application/yaml" || y.Body.String() != string(api.YAML()) {
		t.Errorf("YAML: %s %.200s", y.Header(), y.Body)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(j.Body.Bytes(), &got), json.Unmarshal(api.JSON(), &want)); err != nil {
		t.Fatal(err)
	}
	if j.Header().Get("Content-Type") != "application/json" || !reflect.DeepEqual(got, want) {
		t.Errorf("JSON is not what the YAML says: %s %.300s", j.Header(), j.Body)
	}
}

// TestFile serves the document as AWS does, from a file beside the function.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openapi.yaml")
	if err := os.WriteFile(path, []byte("openapi: 3.1.0\ninfo: {title: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &platform.Platform{}
	h, _ := rest.Mount(p, description.Operations(p, description.FileSource(path)))
	if w := get(h, "/openapi.json"); w.Body.String() != `{"info":{"title":"x"},"openapi":"3.1.0"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := get(h, "/openapi.yaml"); w.Body.String() != "openapi: 3.1.0\ninfo: {title: x}\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	h, _ = rest.Mount(p, description.Operations(p, description.FileSource(path+".none")))
	if w := get(h, "/openapi.json"); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), path) {
		t.Errorf("without the file: %d %s", w.Code, w.Body)
	}
}

// TestPage wants a page that needs nothing from elsewhere, and a policy that holds it to that.
func TestPage(t *testing.T) {
	h, _ := mountGroup()
	w := get(h, "/docs")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %s", w.Code, w.Header())
	}
	for _, foreign := range regexp.MustCompile(
		`(?:src|href|url|import|fetch)\W{0,3}https?://[^"')\s]+`).FindAllString(w.Body.String(), -1) {
		t.Errorf("the page loads %s", foreign)
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{
		"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'",
		"script-src 'sha256-", "style-src 'sha256-",
	} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(w.Body.String(), "{{") || strings.Contains(w.Body.String(), "innerHTML") {
		t.Error("a part of the page was not filled in, or the page writes markup")
	}
}

func TestContract(t *testing.T) {
	h, api := mountGroup()
	if seen := resttest.FuzzOperations(t, h, api.YAML(), resttest.Options{Requests: 5}); seen[http.StatusOK] != 20 {
		t.Errorf("answers: %v", seen)
	}
}
