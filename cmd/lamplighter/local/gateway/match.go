package gateway

import (
	"net/url"
	"slices"
	"strings"
)

// splitPath returns the segments of a path. API Gateway ignores one slash at its end.
func splitPath(path string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
}

// compareRoutes orders routes as API Gateway prefers them: a fixed segment before a parameter before {proxy+}.
func compareRoutes(a, b *route) int {
	return slices.Compare(ranks(a), ranks(b))
}

func ranks(r *route) []int {
	out := make([]int, 0, len(r.segments)+2)
	for _, s := range r.segments {
		switch {
		case strings.HasSuffix(s, "+}"):
			out = append(out, 3)
		case strings.HasPrefix(s, "{"):
			out = append(out, 2)
		default:
			out = append(out, 1)
		}
	}
	if r.method == "ANY" {
		return append(out, 1)
	}
	return append(out, 0)
}

// findRoute returns the route of a request, and the values of its path's parameters.
func (g *Gateway) findRoute(method, path string) (*route, map[string]string) {
	segments := splitPath(path)
	for _, r := range g.routes {
		if r.method != "ANY" && r.method != method {
			continue
		}
		if params, ok := r.match(segments); ok {
			return r, params
		}
	}
	return nil, nil
}

func (r *route) match(path []string) (map[string]string, bool) {
	var params map[string]string
	for i, s := range r.segments {
		if i >= len(path) || path[i] == "" && s != "" { // the route "/" is one empty segment
			return nil, false
		}
		name, isParam := strings.CutPrefix(s, "{")
		switch greedy := strings.HasSuffix(s, "+}"); {
		case greedy:
			return with(params, strings.TrimSuffix(name, "+}"), strings.Join(path[i:], "/")), true
		case isParam:
			params = with(params, strings.TrimSuffix(name, "}"), path[i])
		case s != path[i]:
			return nil, false
		}
	}
	return params, len(r.segments) == len(path)
}

func with(params map[string]string, name, value string) map[string]string {
	if params == nil {
		params = map[string]string{}
	}
	if v, err := url.PathUnescape(value); err == nil {
		value = v
	}
	params[name] = value
	return params
}
