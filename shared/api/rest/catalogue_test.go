package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/rest"
)

// mountColours mounts a catalogue, a whole list, and a page of a bare array.
func mountColours(t *testing.T) *sampleService {
	t.Helper()
	s := openReply(t)
	g := rest.NewGroup("Colours")
	rest.Handle(g, rest.Op{
		ID: "listColours", Method: http.MethodGet, Path: "/colours", SignedIn: true, Catalogue: true,
		Summary: "Colours",
	}, func(context.Context, *struct{}) ([]string, error) { return []string{"red", "blue"}, nil })
	rest.Handle(g, rest.Op{
		ID: "listNone", Method: http.MethodGet, Path: "/none", SignedIn: true, Summary: "None",
	}, func(context.Context, *struct{}) ([]string, error) { return nil, nil })
	rest.Handle(g, rest.Op{
		ID: "listShades", Method: http.MethodGet, Path: "/shades", SignedIn: true, Summary: "Shades",
	}, func(context.Context, *struct{ rest.Page }) (rest.Counted[string], error) {
		return rest.Counted[string]{Items: []string{"navy"}, Total: 70}, nil
	})
	rest.Handle(g, rest.Op{
		ID: "listTints", Method: http.MethodGet, Path: "/tints", SignedIn: true, Summary: "Tints",
	}, func(context.Context, *struct{ rest.Page }) ([]string, error) { return []string{"sky"}, nil })
	s.h, s.api = rest.Mount(s.p, g)
	return s
}

func TestCatalogue_IsSentAgainOnlyWhenItChanged(t *testing.T) {
	s := mountColours(t)
	first := s.sendRequest(anna, "GET /colours", "")
	tag := first.Header().Get("ETag")
	if first.Code != http.StatusOK || tag == "" || first.Header().Get("Cache-Control") != "private, max-age=3600" {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	for _, c := range []struct {
		name, sent string
		want       int
	}{
		{"the same", tag, http.StatusNotModified},
		{"a weak one", "W/" + tag, http.StatusNotModified},
		{"one of several", `"other", ` + tag, http.StatusNotModified},
		{"any", "*", http.StatusNotModified},
		{"another", `"other"`, http.StatusOK},
		{"none", "", http.StatusOK},
	} {
		w := s.sendRequest(anna, "GET /colours", "", "If-None-Match: "+c.sent)
		empty := w.Body.Len() == 0
		if w.Code != c.want || w.Header().Get("ETag") != tag || empty != (c.want == http.StatusNotModified) {
			t.Errorf("%s: %d %q %v; want %d", c.name, w.Code, w.Body, w.Header(), c.want)
		}
	}
}

func TestBareArrays_HaveTheNumberOfAllItems(t *testing.T) {
	s := mountColours(t)
	for path, want := range map[string]string{"/colours": "2", "/none": "0", "/shades": "70", "/tints": ""} {
		w := s.sendRequest(anna, "GET "+path, "")
		if got := w.Header().Get("X-Total-Count"); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d, X-Total-Count %q; want %q", path, w.Code, got, want)
		}
	}
	if body := s.sendRequest(anna, "GET /shades", "").Body.String(); body != `{"data":["navy"]}` {
		t.Errorf("a page: %s", body)
	}
}

func TestDescription_NamesTheHeadersOfCataloguesAndBareArrays(t *testing.T) {
	s := mountColours(t)
	b := s.api.YAML()
	for text, want := range map[string]int{"X-Total-Count:": 3, "ETag:": 1, "name: If-None-Match": 1, `"304":`: 1} {
		if got := strings.Count(string(b), text); got != want {
			t.Errorf("%s is there %d times; want %d", text, got, want)
		}
	}
}
