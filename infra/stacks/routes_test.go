package stacks_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// route is one path of the API in template.yaml.
type route struct {
	folder, path, method string
	public               bool
}

// operations returns the declared operations, by the folders of their functions.
func operations() map[string][]rest.Op {
	out, p := map[string][]rest.Op{}, &platform.Platform{}
	for _, f := range functions.All() {
		for _, g := range f.Operations(p) {
			out[f.Name] = append(out[f.Name], g.Ops()...)
		}
	}
	return out
}

// method is the template's description of one method of a path.
type method struct {
	Security    []map[string][]string `yaml:"security"`
	Integration struct {
		Type        string `yaml:"type"`
		Credentials string `yaml:"credentials"`
		URI         string `yaml:"uri"`
	} `yaml:"x-amazon-apigateway-integration"`
}

// liveFunction matches the address of a function's alias live, and captures the function's folder.
var liveFunction = regexp.MustCompile(`function:lamplighter-\$\{Stage\}-(\w+):live/invocations$`)

// routesOf reads the routes of the template by itself, so that a mistake of cmd/lamplighter/local/gateway's reader
// shows too.
func routesOf(t *testing.T) []route {
	t.Helper()
	var doc struct {
		Resources struct {
			API struct {
				Properties struct {
					Body struct {
						Paths map[string]map[string]method `yaml:"paths"`
					} `yaml:"DefinitionBody"`
				} `yaml:"Properties"`
			} `yaml:"Api"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(readAll(t)[stacks.Root], &doc); err != nil {
		t.Fatal(err)
	}
	var out []route
	for path, methods := range doc.Resources.API.Properties.Body.Paths {
		for name, m := range methods {
			out = append(out, m.route(t, path, name))
		}
	}
	return out
}

// route returns the route of a path's method.
func (m method) route(t *testing.T, path, name string) route {
	t.Helper()
	folder := liveFunction.FindStringSubmatch(m.Integration.URI)
	if folder == nil || m.Integration.Type != "aws_proxy" || m.Integration.Credentials != "${GatewayRole.Arn}" {
		t.Fatalf("%s calls no live function as GatewayRole: %+v", path, m.Integration)
	}
	none := false
	for _, s := range m.Security {
		_, none = s["NONE"]
	}
	verb := strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(name, "x-amazon-apigateway-"), "-method"))
	return route{folder: folder[1], path: path, method: verb, public: none}
}

// serving returns the route that API Gateway takes for a path: the most specific one.
func serving(routes []route, path string) (route, bool) {
	var best route
	found := false
	for _, r := range routes {
		if matches(r.path, path) && (!found || fixed(r.path) > fixed(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// fixed returns the number of segments that are no parameters, empty ones included. A path without parameters has the
// highest number.
func fixed(pattern string) int {
	if !strings.Contains(pattern, "{") {
		return len(pattern) + 1
	}
	n := 0
	for segment := range strings.SplitSeq(pattern, "/") {
		if !strings.HasPrefix(segment, "{") {
			n++
		}
	}
	return n
}

func matches(pattern, path string) bool {
	expr := regexp.QuoteMeta(pattern)
	expr = strings.ReplaceAll(expr, `\{proxy\+\}`, ".+")
	expr = anySegment.ReplaceAllString(expr, "[^/]+")
	return regexp.MustCompile("^" + expr + "$").MatchString(path)
}

// anySegment matches a path parameter in a quoted pattern.
var anySegment = regexp.MustCompile(`\\\{[^}]+\\\}`)

// placeholder matches a path parameter of an operation.
var placeholder = regexp.MustCompile(`\{[^}]+\}`)

func TestTheTemplateRoutesEveryOperationToItsFunction(t *testing.T) {
	routes := routesOf(t)
	ops := operations()
	if len(ops) < 5 {
		t.Fatalf("only %d groups", len(ops))
	}
	for folder, declared := range ops {
		for _, op := range declared {
			r, ok := serving(routes, placeholder.ReplaceAllString(op.Path, "x"))
			switch {
			case !ok:
				t.Errorf("%s %s (%s) has no route in template.yaml: run `make registry`; its function is %s", op.Method,
					op.Path, op.ID, folder)
			case r.folder != folder:
				t.Errorf("%s %s (%s) is routed to the function %s, but declared in functions/%s: correct the "+
					"Routes of the declarations", op.Method, op.Path, op.ID,
					r.folder, folder)
			case r.method != "ANY":
				t.Errorf("%s is routed for %s only, so that another method would be 404 instead of 405: route ANY",
					op.Path, r.method)
			case op.Public && !r.public:
				t.Errorf("%s %s (%s) is public, yet its route asks the authorizer: run `make registry`", op.Method,
					op.Path, op.ID)
			case !op.Public && r.public:
				t.Errorf("%s %s (%s) needs a caller, yet its route %s skips the authorizer", op.Method, op.Path, op.ID,
					r.path)
			}
		}
	}
}

func TestTheTemplateExemptsNothingButPublicOperations(t *testing.T) {
	var public []string
	for _, declared := range operations() {
		for _, op := range declared {
			if op.Public {
				public = append(public, op.Path)
			}
		}
	}
	for _, r := range routesOf(t) {
		if r.public && !slices.Contains(public, r.path) {
			t.Errorf("%s skips the authorizer, but no public operation has this path", r.path)
		}
	}
}
