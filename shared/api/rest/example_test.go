package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// NewLamp is the body of createLamp. Optional members have omitempty.
type NewLamp struct {
	Name  string `json:"name" minLength:"1" maxLength:"64"`
	Watts int    `json:"watts,omitempty" minimum:"1" maximum:"100"`
}

// Lamp is the record of the examples. Each of its members is always present.
type Lamp struct {
	Name  string `json:"name"`
	Watts int    `json:"watts"`
}

// lamps can be sorted by two fields; the first is the default.
type lamps struct{}

var _ rest.Orders[Lamp] = lamps{}

func (lamps) Orders() []rest.Order[Lamp] {
	return []rest.Order[Lamp]{
		rest.OrderByText("name", func(l Lamp) string { return l.Name }),
		rest.OrderBy("watts", func(l Lamp) int { return l.Watts }),
	}
}

// lampGroup declares two operations on lamps, which are stored in all. An Op is next to its handler.
func lampGroup(all *[]Lamp) *rest.Group {
	g := rest.NewGroup("Lamps")
	type listInput struct {
		rest.Page
		rest.Sort[Lamp, lamps]
	}
	rest.Handle(g, rest.Op{
		ID: "listLamps", Method: http.MethodGet, Path: "/lamps", SignedIn: true, Summary: "List lamps",
	}, func(_ context.Context, in *listInput) (rest.List[Lamp], error) {
		in.Apply(*all)
		return rest.PageOf(*all, in.Page), nil
	})
	rest.Handle(g, rest.Op{
		ID: "createLamp", Method: http.MethodPost, Path: "/lamps", SignedIn: true, Reads: true,
		Summary: "Hang up a lamp",
	}, func(_ context.Context, in *struct{ Body NewLamp }) (Lamp, error) {
		for _, l := range *all {
			if l.Name == in.Body.Name {
				return Lamp{},
					fault.New(fault.Conflict, "name: there is a lamp %q already: choose another name", l.Name)
			}
		}
		*all = append(*all, Lamp(in.Body))
		return Lamp(in.Body), nil
	})
	return g
}

// answers prints the answer of handler to a request of a signed-in user.
func answers(handler http.Handler, method, path, body string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, withCaller(r, identity.Caller{User: "usr_anna", Org: "org_1"}))
	fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
}

// An operation is declared as an Op next to its handler, mounted and called. Inputs that violate the tags are refused
// before the handler is called. An error of package fault becomes an answer with the status of its kind.
func Example() {
	var all []Lamp
	handler, api := rest.Mount(&platform.Platform{}, lampGroup(&all))
	answers(handler, http.MethodPost, "/lamps", `{"name":"porch","watts":4}`)
	answers(handler, http.MethodPost, "/lamps", `{"name":"porch"}`)
	answers(handler, http.MethodPost, "/lamps", `{"name":"hall","watts":400}`)
	answers(handler, http.MethodGet, "/lamps", "")
	fmt.Println(strings.Contains(string(api.YAML()), "operationId: createLamp"))
	// Output:
	// 200 {"data":{"name":"porch","watts":4}}
	// 409 {"error":{"message":"name: there is a lamp \"porch\" already: choose another name"}}
	// 400 {"error":{"message":"watts: it must be 100 or less, got 400"}}
	// 200 {"data":{"items":[{"name":"porch","watts":4}],"total":1,"page":1,"limit":20}}
	// true
}

// A page of a list in memory: the items of the page, and the total of all pages.
func ExamplePageOf() {
	all := []string{"attic", "barn", "cellar", "den", "entry"}
	page := rest.PageOf(all, rest.Page{Page: 2, Limit: 2})
	fmt.Println(page.Items, page.Total)
	shouted := rest.MapItems(page, strings.ToUpper)
	fmt.Println(shouted.Items, shouted.Total)
	// Output:
	// [cellar den] 5
	// [CELLAR DEN] 5
}

// A list declares once the fields for sorting. Embedded in the input, Sort adds sort_by and sort_order, and refuses
// other fields.
func ExampleSort() {
	all := []Lamp{{"porch", 4}, {"Hall", 9}, {"attic", 2}}
	handler, _ := rest.Mount(&platform.Platform{}, lampGroup(&all))
	answers(handler, http.MethodGet, "/lamps?limit=1", "")
	answers(handler, http.MethodGet, "/lamps?sort_by=watts&sort_order=desc&limit=1", "")
	answers(handler, http.MethodGet, "/lamps?sort_by=colour", "")
	// Output:
	// 200 {"data":{"items":[{"name":"attic","watts":2}],"total":3,"page":1,"limit":1}}
	// 200 {"data":{"items":[{"name":"Hall","watts":9}],"total":3,"page":1,"limit":1}}
	// 400 {"error":{"message":"sort_by: it must be one of name, watts, got \"colour\""}}
}
