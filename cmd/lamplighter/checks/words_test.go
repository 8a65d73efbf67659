package checks

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// check 46: a fixed word in the path of one operation is never taken for the id of another operation, even if a
// record has that name.
func TestWordsInPathsAreNeverIDs(t *testing.T) {
	ops := probe.DeclaredOperations()
	g := rest.NewGroup("Test")
	for _, op := range ops {
		path := op.Path // the same paths, whose answers tell which operation it was
		rest.Handle(g, rest.Op{ID: op.ID, Method: op.Method, Path: path, Summary: op.ID, Public: true},
			func(context.Context, *struct{}) (string, error) { return op.ID, nil })
	}
	handler, _ := rest.Mount(&platform.Platform{}, g)
	reached := func(method, path string) (string, error) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("")))
		if w.Code != http.StatusOK {
			return "", fmt.Errorf("%d %s", w.Code, w.Body)
		}
		_, id, _ := strings.Cut(w.Body.String(), `{"data":"`)
		return strings.TrimSuffix(strings.TrimSpace(id), `"}`), nil
	}
	shadows := 0
	for _, op := range ops {
		if got, err := reached(op.Method, probe.ExamplePath(op)); got != op.ID || err != nil {
			t.Errorf("%s %s reaches %q, %v", op.Method, probe.ExamplePath(op), got, err)
		}
		for _, other := range ops {
			if op.ID == other.ID || op.Method != other.Method || !fits(other.Path, op.Path) {
				continue
			}
			shadows++
			got, err := reached(op.Method, probe.ExamplePath(op))
			if got != op.ID || err != nil {
				t.Errorf("%s %s is taken for an id of %s: %q, %v", op.Method, op.Path, other.ID, got, err)
			}
			t.Logf("%s %s goes before %s", op.Method, op.Path, other.Path)
		}
	}
	if shadows < 3 {
		t.Errorf("%d words stand where ids stand: /users/me and /actions/bulk/latest are two", shadows)
	}
}

// fits reports whether the path wide, with its parameters, also matches the path narrow.
func fits(wide, narrow string) bool {
	a, b := strings.Split(wide, "/"), strings.Split(narrow, "/")
	if len(a) != len(b) || wide == narrow {
		return false
	}
	more := false
	for i := range a {
		switch param := strings.HasPrefix(a[i], "{"); {
		case param && !strings.HasPrefix(b[i], "{"):
			more = true
		case !param && a[i] != b[i]:
			return false
		}
	}
	return more
}
