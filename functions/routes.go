package functions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// Route is a path of the API as API Gateway has it: "/actions/{proxy+}". Every method of it goes to one function, so
// that the function can tell an unknown path (404) from an unknown method (405).
type Route struct {
	Path     string
	Function string
	Public   bool // it has no authorizer
}

// Routes returns the routes of the API in the order of their paths. A public operation has a route of its own. The
// other operations of a function are reached by the routes that it declares, or else by the first segments of their
// paths.
func Routes(p *platform.Platform, fs []Function) ([]Route, error) {
	var out []Route
	for _, f := range fs {
		out = append(out, f.routes(p)...)
	}
	slices.SortFunc(out, func(a, b Route) int { return cmp.Compare(a.Path, b.Path) })
	for i := range len(out) - 1 {
		if a, b := out[i], out[i+1]; a.Path == b.Path {
			return nil, fmt.Errorf("the path %s belongs to the functions %s and %s: give one of them other Routes in "+
				"its declaration.go", a.Path, a.Function, b.Function)
		}
	}
	return out, nil
}

// routes returns the routes of one function.
func (f Function) routes(p *platform.Platform) []Route {
	var public, guarded []string
	for _, g := range f.Operations(p) {
		for _, op := range g.Ops() {
			if op.Public {
				public = append(public, op.Path)
			} else {
				guarded = append(guarded, routeOf(op))
			}
		}
	}
	if len(f.Routes) > 0 {
		guarded = f.Routes
	}
	return append(f.routed(public, true), f.routed(guarded, false)...)
}

// routed returns the routes of paths, each once.
func (f Function) routed(paths []string, public bool) []Route {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	var out []Route
	for _, path := range slices.Compact(paths) {
		out = append(out, Route{Path: path, Function: f.Name, Public: public})
	}
	return out
}

// routeOf returns the route of an operation by the first segment of its path: that segment, or everything below it.
func routeOf(op rest.Op) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
	if rest == "" {
		return "/" + first
	}
	return "/" + first + "/{proxy+}"
}
