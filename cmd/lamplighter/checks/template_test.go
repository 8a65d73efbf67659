package checks

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
)

// apiEvent is one route of template.yaml.
type apiEvent struct {
	folder, path, method string
	public               bool
}

// routesOf reads the routes of the template by itself, so that a mistake of cmd/lamplighter/local/gateway's reader shows too.
func routesOf(t *testing.T) []apiEvent {
	t.Helper()
	b, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Resources map[string]struct {
			Properties struct {
				CodeURI string               `yaml:"CodeUri"`
				Events  map[string]yaml.Node `yaml:"Events"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err = yaml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	var out []apiEvent
	for _, r := range doc.Resources {
		for _, node := range r.Properties.Events {
			var e struct {
				Type       string `yaml:"Type"`
				Properties struct {
					Path   string `yaml:"Path"`
					Method string `yaml:"Method"`
					Auth   struct {
						Authorizer string `yaml:"Authorizer"`
					} `yaml:"Auth"`
				} `yaml:"Properties"`
			}
			if node.Decode(&e); e.Type == "Api" { //nolint:errcheck // events of other types have other properties
				folder := strings.TrimPrefix(r.Properties.CodeURI, "build/")
				out = append(out,
					apiEvent{folder, e.Properties.Path, e.Properties.Method, e.Properties.Auth.Authorizer == "NONE"})
			}
		}
	}
	return out
}

// serving returns the route that API Gateway takes for a path: the most specific one.
func serving(routes []apiEvent, path string) (apiEvent, bool) {
	var best apiEvent
	found := false
	for _, r := range routes {
		if matches(r.path, path) && (!found || fixed(r.path) > fixed(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// fixed counts the segments of a route that are no parameters; the empty ones count too. The whole of a path is more.
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

// anySegment is a path parameter in a quoted pattern.
var anySegment = regexp.MustCompile(`\\\{[^}]+\\\}`)

// placeholder is a path parameter of an operation.
var placeholder = regexp.MustCompile(`\{[^}]+\}`)

func TestTheTemplateRoutesEveryOperationToItsFunction(t *testing.T) {
	routes := routesOf(t)
	p := &platform.Platform{}
	ops := local.Operations(p)
	if len(ops) < 5 {
		t.Fatalf("only %d groups", len(ops))
	}
	for folder, declared := range ops {
		for _, op := range declared {
			r, ok := serving(routes, placeholder.ReplaceAllString(op.Path, "x"))
			switch {
			case !ok:
				t.Errorf("%s %s (%s) has no route in template.yaml: add it to the function of build/%s", op.Method,
					op.Path, op.ID, folder)
			case r.folder != folder:
				t.Errorf("%s %s (%s) is routed to build/%s, but declared in functions/%s", op.Method, op.Path, op.ID,
					r.folder, folder)
			case r.method != "ANY":
				t.Errorf("%s is routed for %s only, so that another method would be 404 instead of 405: route ANY",
					op.Path, r.method)
			case op.Public && !r.public:
				t.Errorf("%s %s (%s) is public, yet its route asks the authorizer: give the path an event with Auth: "+
					"{Authorizer: NONE}", op.Method, op.Path, op.ID)
			case !op.Public && r.public:
				t.Errorf("%s %s (%s) needs a caller, yet its route %s skips the authorizer", op.Method, op.Path, op.ID,
					r.path)
			}
		}
	}
}

func TestTheTemplateExemptsNothingButPublicOperations(t *testing.T) {
	var public []string
	for _, declared := range local.Operations(&platform.Platform{}) {
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

func TestTheCommittedInterfaceDescriptionIsWhatTheOperationsSay(t *testing.T) {
	got, err := os.ReadFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := functions.Describe(&platform.Platform{}).YAML(); !bytes.Equal(got, want) {
		t.Error("openapi.yaml is not what the operations say: run `make openapi` and read the difference")
	}
}

// SES calls it SendEmail, and yet asks for the right to SendRawEmail where a mail is given as a whole, as shared/engine/mail/ses
// gives it. No emulator does.
func TestTheMailerMaySendAMailAsAWhole(t *testing.T) {
	b, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, mailer, _ := strings.Cut(string(b), "  MailerFunction:")
	mailer, _, _ = strings.Cut(mailer, "      Events:")
	if !strings.Contains(mailer, "Action: [ses:SendEmail, ses:SendRawEmail]") {
		t.Errorf("the mailer may not send:%s", mailer)
	}
}
