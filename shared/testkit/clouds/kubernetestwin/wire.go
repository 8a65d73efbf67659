package kubernetestwin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// request is a call on its way through the twin.
type request struct {
	verb, group, version, resource, ns, name, sub string
	query                                         url.Values
	body                                          []byte
}

// op is "patch deployments/scale.apps".
func (q request) op() string {
	name := q.resource
	if q.sub != "" {
		name += "/" + q.sub
	}
	if q.group != "" {
		name += "." + q.group
	}
	return q.verb + " " + name
}

func (q request) place() string { return placeName(q.ns, q.name) }

// failure is an error answer.
type failure struct {
	code            int
	reason, message string
	more            fields // of the status
}

func newFailure(code int, reason, format string, args ...any) *failure {
	return &failure{code: code, reason: reason, message: fmt.Sprintf(format, args...)}
}

// decodeRequest takes a path apart: /api/v1/… or /apis/<group>/<version>/….
func decodeRequest(r *http.Request) request {
	q := request{query: r.URL.Query()}
	q.body, _ = io.ReadAll(r.Body) // a body that breaks off is the client's error
	q.decodePath(strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	q.verb = map[string]string{"GET": "get", "PATCH": "patch", "POST": "create", "DELETE": "delete"}[r.Method]
	if q.verb == "get" && q.name == "" && q.resource != "" {
		q.verb = "list"
	}
	return q
}

// decodePath takes the parts of a path.
func (q *request) decodePath(p []string) {
	switch {
	case len(p) >= 2 && p[0] == "api":
		q.version, p = p[1], p[2:]
	case len(p) == 1: // apis, version
		q.version, p = strings.TrimPrefix(p[0], "apis"), nil
	case len(p) >= 3 && p[0] == "apis":
		q.group, q.version, p = p[1], p[2], p[3:]
	}
	if len(p) > 2 && p[0] == "namespaces" {
		q.ns, p = p[1], p[2:]
	}
	for i, into := range []*string{&q.resource, &q.name, &q.sub} {
		if i < len(p) {
			*into = p[i]
		}
	}
}

func (c *Cluster) serve(w http.ResponseWriter, r *http.Request) (lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := decodeRequest(r)
	c.calls = append(c.calls,
		Call{Op: q.op(), Namespace: q.ns, Name: q.name, Query: r.URL.RawQuery, Body: string(q.body)})
	code := &c.calls[len(c.calls)-1].Code
	if c.between != nil {
		c.between(q.op())
	}
	if f := c.refuseRequest(r, q); f != nil {
		*code = writeFailure(w, f)
		return false
	}
	fault, failed := c.takeFault(q)
	if failed && !fault.Lost {
		*code = writeFailure(w, &failure{code: fault.Code, reason: fault.Reason, message: fault.Message})
		return false
	}
	if q.sub == "proxy" {
		*code = c.proxyRequest(w, r, q)
		return false
	}
	answer, f := c.answerRequest(q)
	switch {
	case failed:
		return true
	case f != nil:
		*code = writeFailure(w, f)
	default:
		*code = http.StatusOK
		writeAnswer(w, http.StatusOK, answer)
	}
	return false
}

// refuseRequest answers as the layers before any resource do.
func (c *Cluster) refuseRequest(r *http.Request, q request) *failure {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token != Token && (c.Accept == nil || !c.Accept(token)) {
		return newFailure(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	}
	if c.throttled > 0 {
		c.throttled--
		return newFailure(http.StatusTooManyRequests, "TooManyRequests", "too many requests, please try again later")
	}
	if q.resource == "" { // discovery is for everybody
		return nil
	}
	if c.forbids(q.op()) {
		return newFailure(http.StatusForbidden, "Forbidden",
			`%s "%s" is forbidden: User "lamplighter" cannot %s resource "%s" in API group "%s"`,
			q.resource, q.name, q.verb, q.resource, q.group)
	}
	return nil
}

func (c *Cluster) takeFault(q request) (Fault, bool) {
	for i := range c.faults {
		f := &c.faults[i]
		if f.Op == q.op() && f.Times != 0 {
			f.Times--
			return *f, true
		}
	}
	return Fault{}, false
}

// serves reports whether the cluster has the group, version and resource of a request.
func (c *Cluster) serves(q request) bool {
	gv := strings.TrimPrefix(q.group+"/"+q.version, "/")
	return !slices.Contains(c.Without, q.group) &&
		(q.resource == "" || kinds[q.resource] != "" && groupVersion(q.resource) == gv)
}

func (c *Cluster) answerRequest(q request) (any, *failure) {
	switch {
	case !c.serves(q):
		return nil, newFailure(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	case q.version == "" || q.version == "version":
		return c.aboutServer(q), nil
	case q.resource == "":
		return servedResources(strings.TrimPrefix(q.group+"/"+q.version, "/")), nil
	case q.resource == "selfsubjectaccessreviews":
		return c.reviewAccess(q)
	case q.verb == "list":
		return c.listObjects(q)
	case q.verb == "create":
		return c.createObject(q)
	}
	o := c.objects[q.resource][q.place()]
	if o == nil {
		return nil, newFailure(
			http.StatusNotFound, "NotFound", "%s %q not found", strings.TrimSuffix(q.resource+"."+q.group, "."), q.name)
	}
	switch q.verb {
	case "get":
		return scaleOf(q, o), nil
	case "delete":
		return c.deleteObject(q, o)
	}
	return c.patchObject(q, o)
}

// reviewAccess answers whether the only user has a permission.
func (c *Cluster) reviewAccess(q request) (any, *failure) {
	var r fields
	if err := json.Unmarshal(q.body, &r); err != nil {
		return nil, newFailure(http.StatusBadRequest, "BadRequest", "%s", err)
	}
	a := valueAt(r, "spec", "resourceAttributes")
	ask := request{
		verb: textOf(a["verb"]), group: textOf(a["group"]), resource: textOf(a["resource"]),
		sub: textOf(a["subresource"]),
	}
	r["status"] = fields{"allowed": !c.forbids(ask.op())}
	return r, nil
}

// listObjects answers a page of a resource. A token names the beginning of the next page.
func (c *Cluster) listObjects(q request) (any, *failure) {
	from := 0
	if token := q.query.Get("continue"); token != "" {
		plain, err := base64.RawURLEncoding.DecodeString(token)
		if from, _ = strconv.Atoi(string(plain)); err != nil || from == 0 {
			return nil, newFailure(http.StatusBadRequest, "BadRequest", "continue key is not valid: %s", token)
		}
		if c.expired > 0 {
			c.expired--
			f := newFailure(http.StatusGone, "Expired",
				"The provided continue parameter is too old to display a consistent list result.")
			f.more = fields{"metadata": fields{"continue": token}}
			return nil, f
		}
	}
	items := c.selectedObjects(q)
	limit, _ := strconv.Atoi(q.query.Get("limit")) // absent is all
	if limit == 0 || c.Page > 0 && limit > c.Page {
		limit = max(c.Page, limit)
	}
	if c.Page > 0 {
		limit = min(limit, c.Page)
	}
	meta := fields{"resourceVersion": strconv.Itoa(c.version)}
	from = min(from, len(items))
	page := items[from:]
	if limit > 0 && len(page) > limit {
		page = page[:limit]
		meta["continue"] = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(from + limit)))
	}
	return fields{
		"kind": kinds[q.resource] + "List", "apiVersion": groupVersion(q.resource), "metadata": meta,
		"items": page,
	}, nil
}

func (c *Cluster) selectedObjects(q request) []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(c.objects[q.resource])) {
		o := c.objects[q.resource][key]
		meta := valueAt(o, "metadata")
		if q.ns != "" && meta["namespace"] != q.ns ||
			!matchesSelector(q.query.Get("labelSelector"), valueAt(meta, "labels")) {
			continue
		}
		items = append(items, o)
	}
	return items
}

// matchesSelector knows selectors of the form a=b,c=d.
func matchesSelector(selector string, labels fields) bool {
	for part := range strings.SplitSeq(selector, ",") {
		k, v, ok := strings.Cut(part, "=")
		if ok && labels[k] != v {
			return false
		}
	}
	return true
}

func writeAnswer(w http.ResponseWriter, code int, answer any) {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(answer) // maps of JSON
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // a client that is gone needs no answer
}

func writeFailure(w http.ResponseWriter, f *failure) int {
	status := fields{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "metadata": fields{},
		"message": f.message, "reason": f.reason, "code": f.code,
	}
	maps.Copy(status, f.more)
	if f.code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeAnswer(w, f.code, status)
	return f.code
}
