package rest

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// router finds operations by path. It does not use http.ServeMux, which answers some paths itself with redirects and
// texts that are not JSON. A fixed segment takes precedence over a parameter, so /actions/bulk/latest is never an ID.
type router struct{ root node }

type node struct {
	fixed map[string]*node
	param *node
	name  string            // of the parameter that leads here
	ops   map[string]*route // by method
}

// route is an operation with its handler.
type route struct {
	op     *Op
	hop    *huma.Operation
	body   reflect.Type // of the input's Body, or nil
	query  map[string]parameter
	handle func(huma.Context)
}

// addRoute adds the route rt. It panics if the path is taken, because the declaration is wrong.
func (t *router) addRoute(rt *route) {
	n := &t.root
	for seg := range strings.SplitSeq(strings.TrimPrefix(rt.op.Path, "/"), "/") {
		n = n.child(seg)
	}
	if n.ops == nil {
		n.ops = map[string]*route{}
	}
	if was := n.ops[rt.op.Method]; was != nil {
		panic("rest: " + rt.op.Method + " " + rt.op.Path + " is declared by " + was.op.ID + " and by " + rt.op.ID)
	}
	n.ops[rt.op.Method] = rt
}

func (n *node) child(seg string) *node {
	if name, ok := strings.CutPrefix(seg, "{"); ok {
		if n.param == nil {
			n.param = &node{name: strings.TrimSuffix(name, "}")}
		}
		return n.param
	}
	if n.fixed == nil {
		n.fixed = map[string]*node{}
	}
	if n.fixed[seg] == nil {
		n.fixed[seg] = &node{}
	}
	return n.fixed[seg]
}

// findRoute returns the operations at the path of r by method, and the values of the path's parameters.
func (t *router) findRoute(u *url.URL) (*node, []string) {
	path, ok := strings.CutPrefix(u.EscapedPath(), "/")
	if !ok {
		return nil, nil
	}
	if path == "" {
		return t.root.fixed[""], nil // the operations of the path "/", or nil
	}
	return t.root.find(path, nil)
}

func (n *node) find(rest string, values []string) (*node, []string) {
	seg, tail, more := strings.Cut(rest, "/")
	seg, ok := decodeSegment(seg)
	if !ok {
		return nil, nil
	}
	for _, next := range []*node{n.fixed[seg], n.param} {
		if next == nil {
			continue
		}
		with := values
		if next == n.param {
			with = append(slices.Clip(values), seg)
		}
		if hit, vs := next.end(tail, more, with); hit != nil {
			return hit, vs
		}
	}
	return nil, nil
}

func (n *node) end(tail string, more bool, values []string) (*node, []string) {
	if more && (tail != "" || !n.isConsole()) {
		return n.find(tail, values)
	}
	if n.ops == nil {
		return nil, nil
	}
	return n, values
}

// isConsole reports whether n has a page of the console, whose path may end in a slash.
func (n *node) isConsole() bool {
	rt := n.ops[http.MethodGet]
	return rt != nil && rt.op.Console
}

// decodeSegment decodes a segment. It returns false for empty and dotted ones, and for those with control characters,
// which no record has.
func decodeSegment(seg string) (string, bool) {
	s := seg
	if strings.IndexByte(seg, '%') >= 0 {
		var err error
		if s, err = url.PathUnescape(seg); err != nil {
			return "", false
		}
	}
	if s == "" || s == "." || s == ".." || len(s) > 1024 || !utf8.ValidString(s) {
		return "", false
	}
	return s, !strings.ContainsFunc(s, unicode.IsControl)
}

// routeFor returns the route for a method. HEAD uses the route of GET, unless that changes something.
func (n *node) routeFor(method string) *route {
	if rt := n.ops[method]; rt != nil || method != http.MethodHead {
		return rt
	}
	if rt := n.ops[http.MethodGet]; rt != nil && !rt.op.Writes {
		return rt
	}
	return nil
}

// allowHeader returns the value of the Allow header.
func (n *node) allowHeader() string {
	methods := make([]string, 0, len(n.ops)+1)
	for m := range n.ops {
		methods = append(methods, m)
	}
	if n.routeFor(http.MethodHead) != nil {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// setPathValues sets the path values of r, where the framework reads them.
func (rt *route) setPathValues(r *http.Request, values []string) {
	i := 0
	for seg := range strings.SplitSeq(rt.op.Path, "/") {
		if name, ok := strings.CutPrefix(seg, "{"); ok {
			r.SetPathValue(strings.TrimSuffix(name, "}"), values[i])
			i++
		}
	}
}
