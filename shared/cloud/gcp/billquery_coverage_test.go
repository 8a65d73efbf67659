package gcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// executed are the constants with SQL, by the tests that execute it on an engine.
var executed = map[string][]string{
	"exportMonths": {"TestBillQuery_OnAnEngineAnswersWhatTheReaderReads", "TestTwin_AnswersLikeAnEngine"},
	"exportLines":  {"TestBillQuery_OnAnEngineOfEachSetOfColumns", "TestBillQuery_OnAnEngineOfRandomRows"},
	"focusMonths":  {"TestFocusQuery_OnAnEngineAnswersWhatTheReaderReads"},
	"focusLines":   {"TestFocusQuery_OnAnEngineAnswersWhatTheReaderReads"},
}

// TestBillQueries_AreAllExecutedOnAnEngine finds each text with SQL in the sources of this package. One that is not
// named above fails, and so does one that is no constant, because nothing could name it.
func TestBillQueries_AreAllExecutedOnAnEngine(t *testing.T) {
	found, tests := map[string]bool{}, map[string]bool{}
	for _, file := range parseSources(t) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				tests[f.Name.Name] = true
			}
		}
		if strings.HasSuffix(file.Name.Name, "_test") {
			continue
		}
		for _, name := range queriesIn(file) {
			found[name] = true
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(executed)); !slices.Equal(got, want) {
		t.Errorf("the package has the queries %q, tests execute %q", got, want)
	}
	for query, by := range executed {
		for _, test := range by {
			if !tests[test] {
				t.Errorf("%s: there is no test %s", query, test)
			}
		}
	}
}

// parseSources returns the sources of this package, and its external tests.
func parseSources(t *testing.T) (out []*ast.File) {
	t.Helper()
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == "billquery_coverage_test.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	return out
}

// queriesIn returns the names of the constants whose value is SQL, and the text of SQL that stands elsewhere.
func queriesIn(file *ast.File) (out []string) {
	constants := map[ast.Node]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			constants[spec.Values[0]] = spec.Names[0].Name
		}
		literal, ok := n.(*ast.BasicLit)
		if !ok || !strings.HasPrefix(strings.TrimLeft(literal.Value, "\"` \n\t"), "SELECT ") {
			return true
		}
		if name := constants[literal]; name != "" {
			out = append(out, name)
		} else {
			out = append(out, literal.Value)
		}
		return true
	})
	return out
}
