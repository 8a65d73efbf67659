package awstwin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Hold sets the answer of an operation that reads one resource, as JSON; an answer in XML has the same members. The
// operations of heldOps change it as AWS does.
func (c *Cloud) Hold(op, answer string) {
	var doc map[string]any
	if err := json.Unmarshal([]byte(answer), &doc); err != nil {
		panic(fmt.Sprintf("the answer of %s: %v", op, err))
	}
	c.ChangeLocked(func() {
		if c.held == nil {
			c.held = map[string]map[string]any{}
		}
		c.held[op] = doc
	})
}

// Held returns the answers that Hold has set, with all changes since, as JSON by operation.
func (c *Cloud) Held() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]string{}
	for op, doc := range c.held {
		b, _ := json.Marshal(doc)
		out[op] = string(b)
	}
	return out
}

// heldOp is what AWS does with an operation on a held answer.
type heldOp struct {
	on string // the operation whose answer it changes, or several with spaces between them; "" for a read
	// is maps the parameters that name the resource to the path of that name in the answer. Another name is not found.
	is map[string]string
	// sets maps parameters to the paths of what they set; "param=text" to "path=text" is for one text.
	sets map[string]string
	// always are paths with the texts that the operation sets there.
	always []string
	// drops are the paths that the operation removes.
	drops []string
	// ignores are parameters that AWS takes and that change nothing here.
	ignores []string
	// do changes the answer further.
	do   func(doc, params map[string]any)
	gone string // the code of what a read answers after the operation; "" if the resource stays
}

// answerHeld answers an operation on a held answer; false if there is none.
func (c *Cloud) answerHeld(q request) (answer any, f *failure, held bool) {
	op := q.service + ":" + q.op
	h := heldOps[op]
	doc := c.held[op]
	for on := range strings.FieldsSeq(h.on) {
		if c.held[on] != nil {
			doc = c.held[on]
		}
	}
	if doc == nil {
		return nil, nil, false
	}
	if code, _ := doc["gone"].(string); code != "" {
		return nil, newFailure(http.StatusBadRequest, code, "It does not exist."), true
	}
	params := q.flatParams()
	if f = h.misses(doc, params); f != nil {
		return nil, f, true
	}
	if h.on == "" {
		return c.heldAnswer(q, doc), nil, true
	}
	return c.heldAnswer(q, map[string]any{}), h.change(doc, params), true
}

// misses returns an error for the name of another resource.
func (h heldOp) misses(doc map[string]any, params map[string]any) *failure {
	for param, path := range h.is {
		if given, want := params[param], lookUp(doc, path); given != nil && fmt.Sprint(given) != fmt.Sprint(want) {
			return newFailure(http.StatusBadRequest, "ResourceNotFoundException", "%v is not %v", given, want)
		}
	}
	return nil
}

// change makes the operation. A parameter that AWS does not know is an error.
func (h heldOp) change(doc, params map[string]any) *failure {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path, sets := h.sets[name]
		text, translated := h.sets[fmt.Sprintf("%s=%v", name, params[name])]
		_, names := h.is[name]
		switch {
		case translated:
			path, to, _ := strings.Cut(text, "=")
			put(doc, path, to)
		case sets:
			put(doc, path, params[name])
		case !names && h.do == nil && !slices.Contains(h.ignores, name):
			return newFailure(http.StatusBadRequest, "ValidationException", "Unknown parameter %s", name)
		}
	}
	for _, set := range h.always {
		path, to, _ := strings.Cut(set, "=")
		put(doc, path, constant(to))
	}
	for _, path := range h.drops {
		drop(doc, path)
	}
	if h.gone != "" {
		doc["gone"] = h.gone
	}
	if h.do != nil {
		h.do(doc, params)
	}
	return nil
}

func constant(text string) any {
	switch text {
	case "true", "false":
		return text == "true"
	}
	return text
}

// heldAnswer returns a document as the service writes it.
func (c *Cloud) heldAnswer(q request, doc map[string]any) any {
	if slices.Contains(jsonServices, q.service) {
		return doc
	}
	item := "member"
	if q.service == "ec2" {
		item = "item"
	}
	return nodesOf(doc, item)
}

// repeated are the elements of lists whose elements have names of their own.
var repeated = map[string]bool{"NodeGroupMember": true, "Tag": true, "OrderableDBInstanceOption": true}

func nodesOf(doc map[string]any, item string) []node {
	nodes := []node{}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if all, is := doc[name].([]any); is && repeated[name] {
			for _, one := range all {
				nodes = append(nodes, nodeOf(name, item, one))
			}
			continue
		}
		nodes = append(nodes, nodeOf(name, item, doc[name]))
	}
	return nodes
}

func nodeOf(name, item string, v any) node {
	switch v := v.(type) {
	case map[string]any:
		return newElement(name, nodesOf(v, item)...)
	case []any:
		n := newElement(name)
		for _, one := range v {
			n.kids = append(n.kids, nodeOf(item, item, one))
		}
		return n
	}
	return newText(name, fmt.Sprint(v))
}

// flatParams returns the parameters by their paths; lists stay whole.
func (q request) flatParams() map[string]any {
	out := map[string]any{}
	for name, v := range q.form {
		if name != "Action" && name != "Version" {
			out[name] = v[0]
		}
	}
	flatten(out, "", q.body)
	return out
}

func flatten(out map[string]any, prefix string, m map[string]any) {
	for name, v := range m {
		if under, is := v.(map[string]any); is {
			flatten(out, prefix+name+".", under)
			continue
		}
		out[prefix+name] = v
	}
}

// lookUp returns the value at a path; "[]" follows the only element of a list.
func lookUp(doc map[string]any, path string) any {
	var v any = doc
	for name := range strings.SplitSeq(path, ".") {
		bare, isList := strings.CutSuffix(name, "[]")
		m, _ := v.(map[string]any)
		if v = m[bare]; isList {
			list, _ := v.([]any)
			if v = nil; len(list) > 0 {
				v = list[0]
			}
		}
	}
	return v
}

// parentOf returns the object that holds the last name of a path, and makes those on its way.
func parentOf(doc map[string]any, path string) (parent map[string]any, name string) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		bare, isList := strings.CutSuffix(name, "[]")
		next, is := doc[bare].(map[string]any)
		if list, _ := doc[bare].([]any); isList && len(list) > 0 {
			next, is = list[0].(map[string]any)
		}
		if !is {
			next = map[string]any{}
			doc[bare] = next
		}
		doc = next
	}
	return doc, names[len(names)-1]
}

func put(doc map[string]any, path string, v any) {
	parent, name := parentOf(doc, path)
	parent[name] = v
}

func drop(doc map[string]any, path string) {
	parent, name := parentOf(doc, path)
	delete(parent, name)
}

// route is the method and the path of an operation of a REST service.
type route struct {
	service, method, op string
	path                *regexp.Regexp
}

// routed sets the operation of a request by heldRoutes; false if none of them fits.
func (q *request) routed(r *http.Request, raw []byte) bool {
	for _, is := range heldRoutes {
		m := is.path.FindStringSubmatch(strings.TrimSuffix(r.URL.EscapedPath(), "/"))
		if is.service != q.service || is.method != r.Method || m == nil {
			continue
		}
		q.op, q.form = is.op, r.URL.Query()
		for i, label := range is.path.SubexpNames() {
			if label != "" {
				q.form.Set(label, unescaped(m[i]))
			}
		}
		_ = json.Unmarshal(raw, &q.body)
		return true
	}
	return false
}
