package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"lamplighter.dev/shared/api/client"
)

// schema is a schema of the interface, as far as these tests read it.
type schema struct {
	Ref        string            `yaml:"$ref"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
	OneOf      []schema          `yaml:"oneOf"`
	AnyOf      []schema          `yaml:"anyOf"`
	Additional any               `yaml:"additionalProperties"`
	Required   []string          `yaml:"required"`
	Enum       []any             `yaml:"enum"`
}

type media map[string]struct {
	Schema schema `yaml:"schema"`
}

type operation struct {
	ID         string `yaml:"operationId"`
	Parameters []struct {
		Name string `yaml:"name"`
		In   string `yaml:"in"`
	} `yaml:"parameters"`
	RequestBody struct {
		Content media `yaml:"content"`
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Content media `yaml:"content"`
	} `yaml:"responses"`
}

// description is openapi.yaml.
type description struct {
	Paths      map[string]map[string]yaml.Node `yaml:"paths"`
	Components struct {
		Schemas map[string]schema `yaml:"schemas"`
	} `yaml:"components"`
}

func readDescription(t *testing.T) description {
	t.Helper()
	b, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err = yaml.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// operation returns the operation of "GET /teams".
func (d description) operation(t *testing.T, request string) operation {
	t.Helper()
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	node, ok := d.Paths[path][strings.ToLower(method)]
	if !ok {
		t.Fatalf("the interface has no %s", request)
	}
	var o operation
	if err := node.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

func (d description) resolve(s schema) schema {
	for s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	for _, alternatives := range [][]schema{s.OneOf, s.AnyOf} {
		for _, a := range alternatives { // an object, or null
			if r := d.resolve(a); len(r.Properties) > 0 || r.Items != nil {
				return r
			}
		}
	}
	return s
}

// data returns the schema of the member data of the successful answer.
func (d description) data(o operation) schema {
	for status, r := range o.Responses {
		if strings.HasPrefix(status, "2") {
			if m, ok := r.Content["application/json"]; ok {
				return d.resolve(d.resolve(m.Schema).Properties["data"])
			}
		}
	}
	return schema{}
}

// member returns the schema of a member, also of a member: "forecastUSD.mean".
func (d description) member(s schema, path string) (schema, bool) {
	s = d.resolve(s)
	first, rest, more := strings.Cut(path, ".")
	inner, ok := s.Properties[first]
	if !ok || !more {
		return d.resolve(inner), ok
	}
	return d.member(inner, rest)
}

// parameters returns the names of the query parameters.
func (o operation) parameters() []string {
	var out []string
	for _, p := range o.Parameters {
		if p.In == "query" {
			out = append(out, p.Name)
		}
	}
	return out
}

func TestInterface_HasTheMembersAndParametersOfTheKinds(t *testing.T) {
	d := readDescription(t)
	for _, k := range kinds {
		list := d.operation(t, "GET "+k.list)
		record, parameters := d.data(list), list.parameters()
		if items, ok := record.Properties["items"]; ok {
			record = d.resolve(items)
		}
		if record.Items != nil {
			record = d.resolve(*record.Items)
		}
		filters := slices.Clone(k.filters)
		if k.search {
			filters = append(filters, "search")
		}
		if !k.unpaged {
			filters = append(filters, "page", "limit")
		}
		for _, f := range filters {
			if !slices.Contains(parameters, f) {
				t.Errorf("%s: GET %s has no parameter %s", k.name, k.list, f)
			}
		}
		for _, c := range append(k.columns, column{"", k.nameMember()}) {
			if _, ok := d.member(record, c.path); !ok {
				t.Errorf("%s: the records of GET %s have no member %s", k.name, k.list, c.path)
			}
		}
		if k.one != "" {
			if _, ok := d.member(d.data(d.operation(t, "GET "+k.one)), k.nameMember()); !ok {
				t.Errorf("%s: GET %s has no member %s", k.name, k.one, k.nameMember())
			}
		}
		if hasSearch := slices.Contains(parameters, "search"); hasSearch != k.search {
			t.Errorf("%s: search is %t, and GET %s has search: %t", k.name, k.search, k.list, hasSearch)
		}
	}
}

func TestInterface_HasTheFiltersOfBulkActions(t *testing.T) {
	filter := readDescription(t).Components.Schemas["BulkFilter"]
	for _, f := range append(slices.Clone(resourceFilters), "schedulable") {
		if _, ok := filter.Properties[f]; !ok {
			t.Errorf("a bulk action has no filter %s", f)
		}
	}
}

// calls are the bodies and answers of lamp and the client, by operation. in is what is sent, out what is read: of the
// member data, or of its items with item.
var calls = []struct {
	request string
	in, out any
	item    bool
}{
	{request: "POST /auth/login", in: client.Credentials{}, out: client.Session{}},
	{request: "POST /auth/refresh", in: struct {
		A string `json:"refreshToken"`
		B string `json:"tenantID"`
	}{}, out: client.Session{}},
	{request: "POST /auth/logout"},
	{request: "GET /users/me", out: client.User{}},
	{request: "GET /organisations", out: client.Organisation{}, item: true},
	{request: "GET /healthz"},
	{request: "POST /actions/bulk", in: bulkOrder{}, out: bulkAnswer{}},
	{request: "GET /actions/bulk/{bulkActionID}", out: bulkStatus{}},
	{request: "POST /resources/by-uids", in: uidsOrder{}, out: details{}, item: true},
	{request: "GET /cloud-accounts", out: accountDetails{}, item: true},
	{request: "POST /overrides", in: overrideOrder{}, out: identified{}},
	{request: "POST /resource-groups/{groupID}/overrides", in: struct {
		A string `json:"action"`
		B string `json:"expiresAt"`
		C string `json:"reason"`
	}{}, out: identified{}},
	{request: "DELETE /overrides/{overrideID}"},
	{request: "POST /resource-groups/{groupID}/wake-links", in: wakeLinkOrder{}, out: wakeLinkAnswer{}},
	{request: "POST /resources/{resourceID}/wake-links", in: wakeLinkOrder{}, out: wakeLinkAnswer{}},
	{request: "GET /schedules/{scheduleID}/preview", out: previewAnswer{}},
	{request: "POST /schedules/{scheduleID}/attachments", in: attachOrder{}, out: attachAnswer{}},
	{request: "GET /schedules/{scheduleID}/attachments", out: attachment{}, item: true},
	{request: "DELETE /schedules/{scheduleID}/attachments/{attachmentID}"},
	{request: "PUT /schedules/{scheduleID}", in: enableOrder{}, out: identified{}},
	{request: "GET /reports/costs/breakdown", out: breakdown{}},
	{request: "GET /budgets/summary", out: budgetSummary{}},
	{request: "GET /budgets/{budgetID}/status"},
	{request: "PATCH /reports/anomalies/{anomalyID}", in: judgement{}},
	{request: "POST /reports/query", in: question{}, out: reply{}},
	{request: "GET /reports/queries/{queryID}", out: reply{}},
}

func TestInterface_HasTheMembersThatAreSentAndRead(t *testing.T) {
	d := readDescription(t)
	for _, c := range calls {
		o := d.operation(t, c.request)
		if c.in != nil {
			d.compare(t, c.request+" body", d.resolve(o.RequestBody.Content["application/json"].Schema),
				reflect.TypeOf(c.in))
		}
		answer := d.data(o)
		if items, ok := answer.Properties["items"]; ok && c.item {
			answer = d.resolve(items)
		}
		if c.item && answer.Items != nil {
			answer = d.resolve(*answer.Items)
		}
		if c.out != nil {
			d.compare(t, c.request+" answer", answer, reflect.TypeOf(c.out))
		}
	}
}

// compare fails the test for each member of the type that the schema lacks.
func (d description) compare(t *testing.T, where string, s schema, of reflect.Type) {
	t.Helper()
	if s.Items != nil {
		s = d.resolve(*s.Items)
	}
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner, ok := s.Properties[name]
		if !ok {
			t.Errorf("%s: the interface has no member %s", where, name)
			continue
		}
		d.compare(t, where+"."+name, d.resolve(inner), f.Type)
	}
}

func TestInterface_HasTheParametersOfReports(t *testing.T) {
	d := readDescription(t)
	for request, names := range map[string][]string{
		"GET /reports/costs/breakdown":        {"cost", "dims", "limit", "filter", "period", "from", "to"},
		"GET /schedules/{scheduleID}/preview": {"from", "to"},
		"GET /reports/queries/{queryID}":      {"cursor"},
	} {
		for _, name := range names {
			if !slices.Contains(d.operation(t, request).parameters(), name) {
				t.Errorf("%s has no parameter %s", request, name)
			}
		}
	}
	for _, c := range budgetColumns {
		for _, path := range []string{"/budgets/summary", "/budgets/{budgetID}/status"} {
			record := d.data(d.operation(t, "GET "+path))
			if items, ok := record.Properties["items"]; ok {
				record = d.resolve(*d.resolve(items).Items)
			}
			if _, ok := d.member(record, c.path); !ok {
				t.Errorf("GET %s has no member %s", path, c.path)
			}
		}
	}
}

// TestInterface_NoCallIsForgotten compares the paths in the sources with calls and kinds, so that a new call is
// compared with the interface, too.
func TestInterface_NoCallIsForgotten(t *testing.T) {
	var known []string
	for _, c := range calls {
		_, path, _ := strings.Cut(c.request, " ")
		known = append(known, path)
	}
	for _, k := range kinds {
		known = append(known, k.list, k.one)
	}
	found := 0
	for _, path := range literals(t, ".", "../../shared/api/client") {
		if path == "/" || !strings.HasPrefix(path, "/") || strings.Contains(path, " ") {
			continue
		}
		if found++; !slices.Contains(known, path) {
			t.Errorf("%s is requested, and is not in calls", path)
		}
	}
	if found < 20 {
		t.Errorf("only %d paths were found in the sources", found)
	}
}

// literals returns the string literals of the packages, without their tests.
func literals(t *testing.T, dirs ...string) []string {
	t.Helper()
	t.Helper()
	var out []string
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if s, err := strconv.Unquote(l.Value); err == nil {
						out = append(out, s)
					}
				}
				return true
			})
		}
	}
	return out
}

func TestInterface_ADifferenceIsFound(t *testing.T) {
	var s schema
	if err := json.Unmarshal([]byte(`{"Properties":{"id":{}}}`), &s); err != nil {
		t.Fatal(err)
	}
	d := description{}
	if _, ok := d.member(s, "id"); !ok {
		t.Error("id is not found")
	}
	if _, ok := d.member(s, "name"); ok {
		t.Error("name is found")
	}
}
