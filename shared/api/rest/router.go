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

// router finds operations by path. http.ServeMux is not used because it answers some paths by itself, with redirects and
// texts that are no JSON. A fixed segment goes before a parameter, so /actions/bulk/latest is never an id.
type router struct{ root node }

type node struct {
	fixed map[string]*node
	param *node
	name  string            // of the parameter that leads here
	ops   map[string]*route // by method
}

// route is an operation with its way to the handler.
type route struct {
	op     *Op
	hop    *huma.Operation
	body   reflect.Type // of the input's Body, nil without one
	query  map[string]parameter
	handle func(huma.Context)
}

// addRoute gives the path of rt its route, and panics when the path is taken: that is a mistake in a declaration.
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
	return t.root.find(path, nil)
}

func (n *node) find(rest string, values []string) (*node, []string) {
	seg, tail, more := strings.Cut(rest, "/")
	seg, ok := plain(seg)
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
	if more {
		return n.find(tail, values)
	}
	if n.ops == nil {
		return nil, nil
	}
	return n, values
}

// plain decodes a segment. Empty and dotted ones, and ones with control characters, name nothing of ours.
func plain(seg string) (string, bool) {
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

// routeFor returns the route for a method. HEAD is GET whose body is left out, but not where a GET changes something.
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

// setPathValues writes the values into r, where the framework looks for them.
func (rt *route) setPathValues(r *http.Request, values []string) {
	i := 0
	for seg := range strings.SplitSeq(rt.op.Path, "/") {
		if name, ok := strings.CutPrefix(seg, "{"); ok {
			r.SetPathValue(strings.TrimSuffix(name, "}"), values[i])
			i++
		}
	}
}
