package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

type screenInput struct {
	Screen string `path:"screen" doc:"The screen"`
}

func ownPath(ctx context.Context) rest.Raw { return rest.Raw{Body: []byte(rest.RequestPath(ctx))} }

func TestRouter_ASlashAtTheEndIsIgnoredOnThePagesOfTheConsoleAlone(t *testing.T) {
	g := rest.NewGroup("")
	for path, console := range map[string]bool{
		"/": false, "/console": true, "/console/{screen}": true, "/teams": false,
	} {
		op := rest.Op{
			ID: "op" + path, Method: http.MethodGet, Path: path, Public: true, Console: console, Produces: "text/plain",
		}
		if strings.Contains(path, "{") {
			rest.Handle(g, op, func(ctx context.Context, _ *screenInput) (rest.Raw, error) { return ownPath(ctx), nil })
			continue
		}
		rest.Handle(g, op, func(ctx context.Context, _ *struct{}) (rest.Raw, error) { return ownPath(ctx), nil })
	}
	h, _ := rest.Mount(&platform.Platform{}, g)
	for path, status := range map[string]int{
		"/": 200, "/console": 200, "/console/": 200, "/console/costs": 200, "/console/costs/": 200, "/teams": 200,
		"/teams/": 404, "/console//": 404, "//": 404, "/console/costs//": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://x"+path, nil))
		if w.Code != status || status == http.StatusOK && w.Body.String() != path {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
}
