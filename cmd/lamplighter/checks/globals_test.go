package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNoProcessGlobals refuses state that outlives the platform it was read for. With such state two platforms in one
// process would see each other's values, a test would see the values of the test before, and no call could end it.
// State belongs to a value: of a handler, of a store, or of the platform (platform.Shared). In all code except tests
// the test refuses
//   - an import of weak, because a global imitates such an owner by it,
//   - a package variable of a mutable type: a map or pool of sync, a lock, an atomic value, a memo, a list or a
//     channel, also as a field of its own type,
//   - a package variable that a function changes: assigns, deletes from, clears.
//
// A literal table that is only read is allowed, and so is a value of sync.OnceValue: it depends on no event, and is
// computed late only so that no start pays for it.
func TestNoProcessGlobals(t *testing.T) {
	for dir, files := range folders(t) {
		for _, complaint := range processGlobals(files) {
			t.Errorf("%s: %s", dir, complaint)
		}
	}
}

func TestProcessGlobals_AreFound(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		found  bool
	}{
		"a table": {`var t = map[string]int{"a": 1}; func f() int { return t["a"] }`, false},
		"a table that is worked out": {
			`var t = func() map[string]int { m := map[string]int{}; m["a"] = 1; return m }()`, false,
		},
		"a constant that is made late": {`var t = sync.OnceValue(func() int { return 1 })`, false},
		"a local of the same name":     {`var t = 1; func f() { t := 2; t = 3; _ = t }`, false},
		"a parameter of the same name": {
			`var t = map[int]int{}; func f(t map[int]int) { t[1] = 2; delete(t, 1) }`,
			false,
		},
		"a field of the same name": {`var t = 1; type x struct{ t int }; func (x *x) f() { x.t = 2 }`, false},
		"weak":                     {`import "weak"; func f(p *int) { _ = weak.Make(p) }`, true},
		"a sync.Map":               {`var t sync.Map`, true},
		"a pool":                   {`var t = sync.Pool{New: nil}`, true},
		"a memo":                   {`var t = memo.New(parse)`, true},
		"a lock":                   {`var mu sync.Mutex`, true},
		"an atomic":                {`var n atomic.Int64`, true},
		"a channel":                {`var c = make(chan int, 1)`, true},
		"a list":                   {`var l = list.New()`, true},
		"a cache of its own": {
			`type cache struct { mu sync.Mutex; m map[string]int }; var t = &cache{}`,
			true,
		},
		"a cache of its own, by a type": {`type cache struct { m sync.Map }; var t cache`, true},
		"a map that is filled":          {`var t = map[string]int{}; func f(k string) { t[k] = 1 }`, true},
		"a map that is emptied":         {`var t = map[string]int{}; func f(k string) { delete(t, k) }`, true},
		"a counter":                     {`var n int; func f() { n++ }`, true},
		"a last value":                  {`var last string; func f(s string) { last = s }`, true},
		"a list that grows":             {`var all []int; func f() { all = append(all, 1) }`, true},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x;"+c.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := processGlobals([]*ast.File{file}); (len(got) > 0) != c.found {
				t.Errorf("complaints: %q", got)
			}
		})
	}
}

// folders returns the files of each folder, without tests and without packages that only tests import.
func folders(t *testing.T) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	for path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") || forTests(path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../..", path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Dir(path)] = append(out[filepath.Dir(path)], file)
	}
	return out
}

// processGlobals returns a complaint for each refused variable and import of a package.
func processGlobals(files []*ast.File) []string {
	var out []string
	vars, types := map[string]*ast.ValueSpec{}, map[string]ast.Expr{}
	for _, f := range files {
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); path == "weak" {
				out = append(out, "imports weak: hand the value down, or keep it by platform.Shared")
			}
		}
		for _, d := range f.Decls {
			noteDeclared(d, vars, types)
		}
	}
	for name, v := range vars {
		if (v.Type != nil && changes(v.Type, types)) || slices.ContainsFunc(v.Values, func(e ast.Expr) bool {
			return changes(e, types)
		}) {
			out = append(out, name+" is made to change: let it be a field of a value, or keep it by platform.Shared")
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			for _, name := range changed(d, vars) {
				out = append(out,
					name+" is changed by a function: let it be a field of a value, or keep it by platform.Shared")
			}
		}
	}
	return out
}

// noteDeclared records the variables and types of a declaration.
func noteDeclared(d ast.Decl, vars map[string]*ast.ValueSpec, types map[string]ast.Expr) {
	g, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			types[s.Name.Name] = s.Type
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if g.Tok == token.VAR && name.Name != "_" {
					vars[name.Name] = s
				}
			}
		}
	}
}

// restless lists, by package, the mutable types and the functions that return them.
var restless = map[string][]string{
	"sync":   {"Map", "Pool", "Mutex", "RWMutex", "Once", "Cond", "WaitGroup"},
	"atomic": {"Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value"},
	"memo":   {"Memo", "New"}, "list": {"List", "New"},
}

// changes reports whether a type, or the value of a variable, holds a mutable type. It ignores function types and the
// bodies of functions.
func changes(e ast.Expr, types map[string]ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncType:
			return false
		case *ast.ChanType:
			found = true
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(restless[x.Name], n.Sel.Name) {
				found = true
			}
		case *ast.CompositeLit:
			found = found || ownChanges(n.Type, types)
		}
		return !found
	})
	return found || ownChanges(e, types)
}

// ownChanges applies changes to the name of a type of the package.
func ownChanges(e ast.Expr, types map[string]ast.Expr) bool {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	name, ok := e.(*ast.Ident)
	if !ok || types[name.Name] == nil {
		return false
	}
	s, ok := types[name.Name].(*ast.StructType)
	return ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return changes(f.Type, nil) })
}

// changed lists the variables of the package that a function changes.
func changed(d ast.Decl, vars map[string]*ast.ValueSpec) []string {
	var out []string
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Body == nil {
		return nil
	}
	note := func(e ast.Expr) {
		if name := root(e); name != nil && vars[name.Name] != nil &&
			(name.Obj == nil || name.Obj.Decl == vars[name.Name]) {
			out = append(out, name.Name)
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if n.Tok != token.DEFINE {
					note(e)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.CallExpr:
			if b, ok := n.Fun.(*ast.Ident); ok && (b.Name == "delete" || b.Name == "clear") && len(n.Args) > 0 {
				note(n.Args[0])
			}
		}
		return true
	})
	return out
}

// root returns the variable at the start of e: m for m[k], v for v.f. It returns nil if e does not begin with a
// variable name.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
