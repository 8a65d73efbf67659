package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// filters has a parameter of each kind.
type filters struct {
	rest.Window
	rest.Page
	Kinds []string `query:"kind" enum:"red,blue" doc:"Only these kinds"`
	Names []string `query:"name"`
	Tags  []string `query:"tag,explode"`
	Ratio float64  `query:"ratio"`
	On    bool     `query:"on"`
	Text  string   `query:"text"`
}

// mountFilters mounts one operation, which answers with its parameters.
func mountFilters(t *testing.T) (http.Handler, *rest.API) {
	t.Helper()
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{ID: "filter", Method: http.MethodGet, Path: "/filter", Public: true},
		func(_ context.Context, in *filters) (string, error) {
			return fmt.Sprintf("%s %s %q %q %q %q", in.From.Format(time.RFC3339Nano), in.To.Format(time.RFC3339Nano),
				in.Kinds, in.Names, in.Tags, in.Text), nil
		})
	return rest.Mount(&platform.Platform{}, g)
}

func askFilters(h http.Handler, target string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	var out struct {
		Data  string
		Error struct{ Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		return w.Code, w.Body.String()
	}
	return w.Code, out.Data + out.Error.Message
}

const never = "0001-01-01T00:00:00Z"

func TestParameters_Forms(t *testing.T) {
	h, api := mountFilters(t)
	for query, want := range map[string]string{
		"":                                   never + ` ` + never + ` [] [] [] ""`,
		"from=2026-11-22":                    `2026-11-22T00:00:00Z ` + never + ` [] [] [] ""`,
		"from=2026-11-22T01:00:00.5%2b02:00": `2026-11-21T23:00:00.5Z ` + never + ` [] [] [] ""`,
		"to=1969-12-31":                      never + ` 1970-01-01T00:00:00Z [] [] [] ""`,
		"kind=red,blue&name=a,b&tag=a,b":     never + ` ` + never + ` ["red" "blue"] ["a" "b"] ["a,b"] ""`,
		"kind=red&kind=blue&name=a,b&name=c&tag=a&tag=b": never + ` ` + never +
			` ["red" "blue"] ["a" "b" "c"] ["a" "b"] ""`,
		"name=&text=&tag=": never + ` ` + never + ` [] [] [] ""`,
	} {
		if code, got := askFilters(h, "/filter?"+query); code != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %s", query, code, got, want)
		}
	}
	for query, want := range map[string]string{
		"from=":                "from: it is empty: send a time, or leave it out",
		"kind=":                "kind: it is empty: send one of red, blue, or leave it out",
		"limit":                "limit: it is empty: send a number, or leave it out",
		"ratio=&page=1":        "ratio: it is empty: send a number, or leave it out",
		"on=":                  "on: it is empty: send true or false, or leave it out",
		"kind=red,":            "kind: one of its values is empty",
		"name=a,,b":            "name: one of its values is empty",
		"name=a&name=":         "name: one of its values is empty",
		"name=,":               "name: one of its values is empty",
		"text=a&text=b":        "text: it is given 2 times, but may have only one value",
		"page=1&page=1&page=1": "page: it is given 3 times, but may have only one value",
		"kind=red&kind=green":  `kind[1]: it must be one of red, blue, got "green"`,
		"from=22.11.2026": `from: expected a time as RFC 3339, such as 2026-11-22T09:30:00Z, ` +
			`or a date, such as 2026-11-22, got "22.11.2026"`,
		"from=2026-11-23&to=2026-11-22": "from: 2026-11-23T00:00:00Z is after to, which is 2026-11-22T00:00:00Z",
	} {
		if code, got := askFilters(h, "/filter?"+query); code != http.StatusBadRequest || got != want {
			t.Errorf("%s: %d %s, want %s", query, code, got, want)
		}
	}
	if doc := string(api.YAML()); !strings.Contains(doc,
		"description: Only these kinds. Separate several values by commas, or repeat the parameter") ||
		!strings.Contains(doc, "description: Separate several values by commas, or repeat the parameter") {
		t.Errorf("the description does not say how lists are given:\n%s", doc)
	}
}

func TestMount_RefusesWhatBreaksTheConventions(t *testing.T) {
	type nested struct {
		Parts []struct {
			When *time.Time `json:"when"`
		} `json:"parts"`
	}
	op := rest.Op{ID: "bad", Method: http.MethodPost, Path: "/bad", Public: true}
	for name, c := range map[string]struct {
		add  func(*rest.Group)
		want string
	}{
		"a time.Time in a query": {func(g *rest.Group) {
			rest.Handle(g, op, func(context.Context, *struct {
				From time.Time `query:"from"`
			},
			) (string, error) {
				return "", nil
			})
		}, "From of its input is a time.Time: make it a rest.Time"},
		"a time.Time deep in a body": {func(g *rest.Group) {
			rest.Handle(g, op, func(context.Context, *struct{ Body nested }) (string, error) { return "", nil })
		}, "Body.Parts.When of its input is a time.Time"},
		"a member of an answer that may be left out": {func(g *rest.Group) {
			rest.Handle(g, op, func(context.Context, *struct{}) (rest.List[struct {
				Note string `json:"note,omitempty"`
			}], error,
			) {
				return rest.List[struct {
					Note string `json:"note,omitempty"`
				}]{}, nil
			})
		}, "Items.Note of its answer is left out when it has no value"},
	} {
		t.Run(name, func(t *testing.T) {
			g := rest.NewGroup("Resources")
			c.add(g)
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s, want %s", got, c.want)
				}
			}()
			rest.Mount(&platform.Platform{}, g)
		})
	}
}

// mountRefusal mounts an operation that answers with err.
func mountRefusal(err error) http.Handler {
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{ID: "refuse", Method: http.MethodGet, Path: "/refuse", Public: true},
		func(context.Context, *struct{}) (string, error) {
			return "", err
		})
	h, _ := rest.Mount(&platform.Platform{}, g)
	return h
}

func TestErrors_ShowLittleOfWhatWasSent(t *testing.T) {
	long, wide := strings.Repeat("a", 900_000), strings.Repeat("😀", 1000)
	ids := strings.Repeat(`"res_01k6v0e4y0c2b7m9q8r5t3w1xz", `, 20)
	for name, c := range map[string]struct {
		err  error
		most int
	}{
		"a quotation":                    {fault.New(fault.Invalid, "name: %q is none", long), 250},
		"a quotation of wide characters": {fault.New(fault.Invalid, "name: %q is none", wide), 250},
		"what %.64q lets through":        {fault.New(fault.Invalid, "name: %.64q is none", wide), 250},
		"what has to be escaped": {fault.New(fault.Invalid, "name: %q is none",
			strings.Repeat("\u202e\"", 500)), 250},
		"a word":                    {fault.New(fault.NotFound, "there is no %s here", long), 250},
		"a word of wide characters": {fault.New(fault.NotFound, "there is no %s here", wide), 250},
		"several":                   {fault.New(fault.Invalid, "neither %q nor %q nor %q", long, wide, long), 250},
		"many":                      {fault.New(fault.NotFound, "no resource has the id %s", ids), 350},
		"a failure of the clients":  {fault.New(fault.Unauthenticated, "%s", long), 250},
	} {
		code, got := askFilters(mountRefusal(c.err), "/refuse")
		if len(got) > c.most || !utf8.ValidString(got) || code == http.StatusOK || !strings.Contains(got, "…") {
			t.Errorf("%s: %d bytes: %.600s", name, len(got), got)
		}
	}
	if _, got := askFilters(mountRefusal(fault.New(fault.Conflict, "it is used by %s: detach it", ids)),
		"/refuse"); !strings.Contains(got, ids) {
		t.Errorf("what uses a thing is cut: %s", got)
	}
	if _, got := askFilters(mountRefusal(fault.New(fault.Invalid, "a: %q, b: %q", "x", "y")),
		"/refuse"); got != `a: "x", b: "y"` {
		t.Errorf("what is short is changed: %s", got)
	}
}

func TestErrors_OfManyMembersAreCounted(t *testing.T) {
	s := openReply(t)
	tags := make([]string, 500)
	for i := range tags {
		tags[i] = fmt.Sprintf(`"%s%03d":%d`, strings.Repeat("k", 300), i, i)
	}
	w := s.sendRequest(anna, "POST /things", `{"name":"a","tags":{`+strings.Join(tags, ",")+`}}`)
	if got := w.Body.String(); w.Code != http.StatusBadRequest || len(got) > 400 ||
		!strings.Contains(got, "and 499 more") && !strings.Contains(got, "and 498 more") {
		t.Errorf("%d, %d bytes: %.600s", w.Code, len(got), got)
	}
	if w = s.sendRequest(anna, "POST /things",
		`{"name":"a","spec":{"size":`+strings.Repeat("9", 900_000)+`}}`); w.Code != http.StatusBadRequest ||
		w.Body.Len() > 400 {
		t.Errorf("a number of 900 kB: %d, %d bytes", w.Code, w.Body.Len())
	}
}
