// Package checks tests that the sources of this repository follow its rules: imports, names, sizes, globals, waits,
// template.yaml and the data model.
package checks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
)

const module = "lamplighter.dev/"

// pkg is a package of this module, as `go list` describes it.
type pkg struct {
	ImportPath   string
	Name         string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// path returns the package's path in the module: "shared/engine/table".
func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, module) }

// list returns go list's packages for the patterns, from the root of the repository.
func list(t *testing.T, patterns ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go",
		append([]string{"list", "-e", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Deps"}, patterns...)...)
	cmd.Dir, cmd.Stderr = "../../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// functionOf returns the folder under functions/ that contains a package, or "".
func functionOf(path string) string {
	rest, ok := strings.CutPrefix(path, "functions/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// wings maps each folder of shared/ to the folders that it may import besides itself: the folders below it. Only
// tests and packages that serve tests import testkit.
var wings = map[string][]string{
	"domain":     {"cloud", "people", "api", "engine", "foundation"},
	"cloud":      {"api", "engine", "foundation"},
	"people":     {"api", "engine", "foundation"},
	"api":        {"engine", "foundation"},
	"engine":     {"foundation"},
	"foundation": {},
	"testkit":    {"domain", "cloud", "people", "api", "engine", "foundation"},
}

// wingOf returns the wing of a package, or "" if it is outside shared/.
func wingOf(path string) string {
	rest, ok := strings.CutPrefix(path, "shared/")
	if !ok {
		return ""
	}
	wing, _, _ := strings.Cut(rest, "/")
	return wing
}

// forbiddenByWing returns the reason why product code of from may not import to, or "" if it may.
func forbiddenByWing(from, to string) string {
	own, other := wingOf(from), wingOf(to)
	below, known := wings[own]
	switch {
	case other == "" || own == other:
		return ""
	case other == "testkit" && !servesTests(from):
		return "shared/testkit is imported by tests alone"
	case own == "" || servesTests(from):
		return ""
	case !known:
		return fmt.Sprintf("%q is no wing of shared/: see docs/architecture.md", own)
	case !slices.Contains(below, other):
		return fmt.Sprintf("imports run down the wings, and %s does not lie below %s", other, own)
	}
	return ""
}

// servesTests reports whether only tests import the package.
func servesTests(path string) bool {
	return wingOf(path) == "testkit" || path == "cmd/lamplighter/testenv"
}

func TestImports_RunDownTheWings(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		seen[wingOf(p.path())] = true
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if why := forbiddenByWing(p.path(), to); ours && why != "" {
				t.Errorf("%s imports %s: %s", p.path(), to, why)
			}
		}
	}
	for wing := range wings {
		if !seen[wing] {
			t.Errorf("no package is in shared/%s", wing)
		}
	}
}

func TestForbiddenByWing_AnImportThatRunsUpIsRefused(t *testing.T) {
	for _, c := range []struct {
		from, to string
		refused  bool
	}{
		{"shared/domain/inventory", "shared/people/teams", false},
		{"shared/domain/inventory", "shared/domain/execution", false},
		{"shared/people/sessions", "shared/domain/inventory", true},
		{"shared/cloud/aws", "shared/people/sessions", true},
		{"shared/api/rest", "shared/people/sessions", true},
		{"shared/engine/table", "shared/api/audit", true},
		{"shared/foundation/seal", "shared/engine/table", true},
		{"shared/api/rest", "shared/testkit/apitest", true},
		{"functions/actions", "shared/testkit/apitest", true},
		{"shared/testkit/tabletest", "shared/testkit/npmpeer", false},
		{"shared/elsewhere/x", "shared/engine/table", true},
		{"functions/actions", "shared/domain/execution", false},
	} {
		if why := forbiddenByWing(c.from, c.to); (why != "") != c.refused {
			t.Errorf("%s imports %s: %q", c.from, c.to, why)
		}
	}
}

func TestImportsFollowTheArchitecture(t *testing.T) {
	for _, p := range list(t, "./...") {
		imports := p.Imports
		if functionOf(p.path()) == "" { // a function's tests may put other functions behind it: that deploys nothing
			imports = slices.Concat(imports, p.TestImports, p.XTestImports)
		}
		for _, imported := range imports {
			to, ours := strings.CutPrefix(imported, module)
			if why := forbidden(p.path(), to); ours && why != "" {
				t.Errorf("%s imports %s: %s", p.path(), to, why)
			}
		}
	}
}

// forbidden returns the reason why from may not import to, or "" if it may.
func forbidden(from, to string) string {
	own, other := functionOf(from), functionOf(to)
	switch {
	case from == "cmd/lamp" && to != "shared/api/client" && wingOf(to) != "foundation":
		return "a shell calls lamp at every Tab: it links nothing of the service"
	case strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(from, "cmd/lamplighter"):
		return "cmd/ puts the parts together and is imported by nobody"
	case to == "functions" && (own != "" || strings.HasPrefix(from, "shared/")):
		return "the registry knows the functions, and they do not know it"
	case other == "":
		return ""
	case own == other:
		return ""
	case own != "":
		return "a function never imports another: what two need moves to shared/"
	case strings.HasPrefix(from, "shared/"):
		return "shared/ never imports functions/"
	case from != "functions" && !strings.HasPrefix(from, "cmd/lamplighter"):
		return "only the registry, cmd/lamplighter and the lambda mains import functions/"
	}
	return ""
}

// Workers declare that they link the SDKs of clouds. Every other function is an API function, or as light as one.
func workers() []string {
	var out []string
	for _, f := range functions.All() {
		if f.Clouds || f.SDKs {
			out = append(out, f.Name)
		}
	}
	return out
}

// heavy lists the packages that API functions must not link: the SDKs of clouds, CDK, and the SDK's own configuration
// loader.
var heavy = []string{
	"lamplighter.dev/shared/cloud/aws", "lamplighter.dev/shared/cloud/gcp", "lamplighter.dev/shared/cloud/providers",
	"google.golang.org/api",
	"github.com/aws/aws-sdk-go-v2/config", "github.com/aws/aws-sdk-go-v2/service/ec2",
	"github.com/aws/aws-sdk-go-v2/service/rds",
	"github.com/aws/aws-sdk-go-v2/service/autoscaling", "github.com/aws/aws-sdk-go-v2/service/ecs",
	"github.com/aws/aws-sdk-go-v2/service/eks", "github.com/aws/aws-sdk-go-v2/service/sts", "github.com/aws/aws-cdk-go",
	"github.com/aws/jsii-runtime-go", "cloud.google.com/go", "github.com/Azure/azure-sdk-for-go", "k8s.io",
}

func TestAPIFunctionsLinkNoCloudSDK(t *testing.T) {
	mains := slices.DeleteFunc(list(t, "./functions/..."), func(p pkg) bool {
		return !strings.HasSuffix(p.path(), "/lambda")
	})
	if len(mains) < len(workers())+5 {
		t.Fatalf("only %d functions found", len(mains))
	}
	for _, p := range mains {
		if p.Name != "main" {
			t.Errorf("%s is package %s, where a main belongs", p.path(), p.Name)
		}
		if slices.Contains(workers(), functionOf(p.path())) {
			continue
		}
		for _, d := range p.Deps {
			if i := slices.IndexFunc(heavy, func(h string) bool {
				return d == h || strings.HasPrefix(d, h+"/")
			}); i >= 0 {
				t.Errorf("%s links %s: API functions speak shared/cloud and leave clouds to the workers", p.path(), d)
			}
		}
	}
}

// TestNamesSayTheSubject refuses names of files and folders that do not name their contents.
func TestNamesSayTheSubject(t *testing.T) {
	bags := []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "models", "misc", "base"}
	for path := range sources(t) {
		for part := range strings.SplitSeq(strings.TrimSuffix(path, ".go"), string(filepath.Separator)) {
			if slices.Contains(bags, strings.TrimSuffix(part, "_test")) {
				t.Errorf("%s: %q says nothing about what is in it", path, part)
			}
		}
	}
}

// TestOnlyTheClockReadsTheTime checks that all code except tests uses the injected clock.
func TestOnlyTheClockReadsTheTime(t *testing.T) {
	reads := []string{"Now", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until"}
	for path, file := range sources(t) {
		if strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, filepath.Join("shared", "foundation", "clock")) || forTests(path) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil && slices.Contains(reads, s.Sel.Name) {
				t.Errorf("%s reads time.%s: take the injected clock.Clock", path, s.Sel.Name)
			}
			return true
		})
	}
}

// forTests reports whether a file is in a package that only tests import.
func forTests(path string) bool { return servesTests(filepath.ToSlash(filepath.Dir(path))) }

// TestFilesAreOneThing limits the length of files, so that a file can be read in one go.
func TestFilesAreOneThing(t *testing.T) {
	const most = 500
	for path := range sources(t) {
		b, err := os.ReadFile(filepath.Join("../../..", path))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n > most {
			t.Errorf("%s has %d lines; %d are the most: it is more than one thing", path, n, most)
		}
	}
}

// sources returns the parsed Go files of the repository by their paths.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	for _, top := range []string{"cmd", "functions", "infra", "shared", "events"} {
		err := fs.WalkDir(os.DirFS("../../.."), top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../..", path), nil,
				parser.SkipObjectResolution)
			out[path] = file
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d files found", len(out))
	}
	return out
}
