package stacks_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/platform"
)

// root is the repository, as tests of this package see it.
const root = "../.."

var update = flag.Bool("update", false, "write what functions declare into the templates, which is `make registry`")

// readAll returns the committed templates and infra/shared.yaml, by their paths.
func readAll(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		out[f.Path] = f.Text
	}
	if out[stacks.Shared], err = os.ReadFile(filepath.Join(root, stacks.Shared)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTemplate_SaysWhatFunctionsDeclare compares the parts of the templates that come from declarations with the
// declarations. With -update, as in `make registry`, it writes them.
func TestTemplate_SaysWhatFunctionsDeclare(t *testing.T) {
	r := newRegistry(t, functions.All())
	r.write()
	if len(r.missing) > 0 {
		t.Fatalf("the templates have no place for %s: give each function a list Policies with the two comment lines "+
			"that its neighbours have, in one stack", strings.Join(r.missing, ", "))
	}
	for path, have := range readAll(t) {
		want := r.files[path]
		switch {
		case want == string(have):
		case *update:
			if err := os.WriteFile(filepath.Join(root, path), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s does not say what functions declare: run `make registry` and read the difference; "+
				"it begins with\n%s",
				path, firstDifference(string(have), want))
		}
	}
}

// registry writes the declarations of functions into the templates.
type registry struct {
	functions []functions.Function
	files     map[string]string // the templates and infra/shared.yaml, by their paths
	pools     map[string]int    // the concurrent executions that each wing may reserve
	handed    [][2]string       // the names that the root hands down, with their values there
	types     map[string]string // the parameters of the root and their types
	routes    []functions.Route
	missing   []string // the places that were not found once
}

func newRegistry(t *testing.T, fs []functions.Function) *registry {
	t.Helper()
	r := &registry{functions: fs, files: map[string]string{}, types: map[string]string{}}
	for path, text := range readAll(t) {
		r.files[path] = string(text)
	}
	handed, _, _ := strings.Cut(afterLine(r.files[stacks.Shared], "HandedDown:"), "\n\n")
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): (.*)$`).FindAllStringSubmatch(handed, -1) {
		r.handed = append(r.handed, [2]string{m[1], m[2]})
	}
	var shared struct {
		Pools map[string]int `yaml:"ReservedConcurrency"`
	}
	if err := yaml.Unmarshal([]byte(r.files[stacks.Shared]), &shared); err != nil {
		t.Fatal(err)
	}
	r.pools = shared.Pools
	var doc struct {
		Parameters map[string]struct {
			Type string `yaml:"Type"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(r.files[stacks.Root]), &doc); err != nil {
		t.Fatal(err)
	}
	for name, p := range doc.Parameters {
		r.types[name] = p.Type
	}
	var err error
	if r.routes, err = functions.Routes(&platform.Platform{}, fs); err != nil {
		t.Fatal(err)
	}
	return r
}

// afterLine returns the text after a line.
func afterLine(text, line string) string {
	_, after, _ := strings.Cut(text, "\n"+line+"\n")
	return after
}

// write writes every part: first the copied parts of the children, then the children, then the root, which hands down
// the names that the children use.
func (r *registry) write() {
	r.put("LAMPLIGHTER_MACHINES", `(?m)LAMPLIGHTER_MACHINES: .*$`,
		"LAMPLIGHTER_MACHINES: "+strings.Join(functions.Machines(r.functions), ","), []string{stacks.Shared})
	r.put("LAMPLIGHTER_PARTITIONS", `(?m)LAMPLIGHTER_PARTITIONS: .*$`,
		`LAMPLIGHTER_PARTITIONS: "`+strings.Join(orgPartitions(r.functions), ",")+`"`, r.children())
	for _, f := range r.functions {
		if policy := policyOf(&f.Declaration); len(policy) > 0 {
			r.between("        # declared in functions/"+f.Name+"/declaration.go\n", "        # so far\n",
				"        - Version: \"2012-10-17\"\n          Statement:\n"+strings.Join(policy, ""), r.children())
		}
	}
	for _, child := range r.children() {
		r.writeReserved(child)
		r.writeChild(child)
	}
	r.between("        # the routes, of what functions declare: written by `make registry`\n", "        # so far\n",
		pathsOf(r.routes), []string{stacks.Root})
	r.between("        # lower limits of what strangers may call, by method, for ANY has no settings: "+
		"written by `make registry`\n", "        # so far\n", throttlesOf(r.routes), []string{stacks.Root})
}

// writeChild writes the shared part of a child, and the parameters for the names that it uses, into the child and
// into the root.
func (r *registry) writeChild(child string) {
	const end = "# so far\n"
	only := []string{child}
	r.between("# from infra/shared.yaml: written by `make registry`\n", end,
		"Globals:\n"+afterLine(r.files[stacks.Shared], "Globals:"), only)
	begin := "# what this file names of template.yaml: written by `make registry`\n"
	r.between(begin, end, "", only)
	var declared, given strings.Builder
	declared.WriteString("Parameters:\n")
	given.WriteString("      Parameters:\n")
	for _, name := range r.names(r.files[child]) {
		fmt.Fprintf(&declared, "  %s: {Type: %s}\n", name, r.typeOf(name))
		fmt.Fprintf(&given, "        %s: %s\n", name, r.given(name))
	}
	r.between(begin, end, declared.String(), only)
	r.between("      # handed down to "+child+": written by `make registry`\n", "      # so far\n", given.String(),
		[]string{stacks.Root})
}

// children returns the paths of the templates below the root.
func (r *registry) children() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.files)), func(path string) bool {
		return path == stacks.Root || path == stacks.Shared
	})
}

// named matches references to a parameter or a resource: !Ref Name, and ${Name} in a text.
var named = regexp.MustCompile(`!Ref (\w+)\b(?:[^:]|$)|\$\{(\w+)\}`)

// names returns the names that a child refers to and does not define, in order.
func (r *registry) names(text string) []string {
	var out []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2]
		if name != "AWS" && !strings.Contains(text, "\n  "+name+":") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// typeOf returns the type of a child's parameter.
func (r *registry) typeOf(name string) string {
	if r.given(name) != "!Ref "+name || r.types[name] == "" {
		return "String"
	}
	return r.types[name]
}

// given returns the value that the root gives its child for a name.
func (r *registry) given(name string) string {
	for _, h := range r.handed {
		if h[0] == name {
			return h[1]
		}
	}
	return "!Ref " + name
}

// pathsOf returns the paths of the API's description, in YAML. A path without its own security has the authorizer.
func pathsOf(routes []functions.Route) string {
	var b strings.Builder
	b.WriteString("        paths:\n")
	for _, r := range routes {
		fmt.Fprintf(&b, "          %s:\n            x-amazon-apigateway-any-method:\n", r.Path)
		if r.Public {
			b.WriteString("              security: [{NONE: []}]\n")
		}
		fmt.Fprintf(&b, "              responses: {}\n              x-amazon-apigateway-integration:\n"+
			"                {type: aws_proxy, httpMethod: POST, credentials: !Sub \"${GatewayRole.Arn}\", "+
			"uri: !Sub \"%s%s\"}\n",
			"arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"+
				"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:lamplighter-${Stage}-",
			r.Function+":live/invocations")
	}
	return b.String()
}

// put replaces the match of a pattern. The files must have exactly one match; otherwise place is reported as missing.
func (r *registry) put(place, pattern, text string, in []string) {
	re, found := regexp.MustCompile(pattern), 0
	for _, path := range in {
		if n := len(re.FindAllString(r.files[path], -1)); n > 0 {
			found += n
			r.files[path] = re.ReplaceAllString(r.files[path], text)
		}
	}
	if found != 1 {
		r.missing = append(r.missing, place)
	}
}

// between replaces the text between two lines. Exactly one file must have both lines; otherwise begin is reported as
// missing.
func (r *registry) between(begin, end, text string, in []string) {
	found := 0
	for _, path := range in {
		before, after, ok := strings.Cut(r.files[path], begin)
		_, after, closed := strings.Cut(after, end)
		if ok && closed {
			found++
			r.files[path] = before + begin + text + end + after
		}
	}
	if found != 1 {
		r.missing = append(r.missing, strings.TrimSpace(strings.TrimLeft(begin, " #")))
	}
}

// firstDifference returns the first line of want that have has not in its place.
func firstDifference(have, want string) string {
	lines := strings.Split(have, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(lines) || lines[i] != line {
			return fmt.Sprintf("line %d: %s", i+1, line)
		}
	}
	return "its end"
}
