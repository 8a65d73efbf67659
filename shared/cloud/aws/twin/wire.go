package twin

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// scope is the part of a signature that names key, region and service.
var scope = regexp.MustCompile(`Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

// refused and throttled are how each service says so.
var (
	refused = map[string]*failure{
		"ec2":                     fail(401, "AuthFailure", "AWS was not able to validate the provided access credentials"),
		"rds":                     fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
		"autoscaling":             fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
		"sts":                     fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
		"ecs":                     fail(400, "UnrecognizedClientException", "The security token included in the request is invalid."),
		"application-autoscaling": fail(400, "UnrecognizedClientException", "The security token included in the request is invalid."),
		"eks":                     fail(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
	}
	throttled = map[string]*failure{
		"ec2":                     fail(503, "RequestLimitExceeded", "Request limit exceeded."),
		"rds":                     fail(400, "Throttling", "Rate exceeded"),
		"autoscaling":             fail(400, "Throttling", "Rate exceeded"),
		"sts":                     fail(400, "Throttling", "Rate exceeded"),
		"ecs":                     fail(400, "ThrottlingException", "Rate exceeded"),
		"application-autoscaling": fail(400, "ThrottlingException", "Rate exceeded"),
		"eks":                     fail(429, "TooManyRequestsException", "Too Many Requests"),
	}
)

// decode tells from the signature and the body what is asked for, and with which key.
func decode(r *http.Request) (q request, key string) {
	if m := scope.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		key, q.region, q.service = m[1], m[2], m[3]
	}
	raw := []byte{}
	if r.Body != nil {
		raw, _ = io.ReadAll(r.Body)
	}
	target := r.Header.Get("X-Amz-Target")
	switch {
	case q.service == "eks":
		q.rest(r, raw)
	case target != "":
		q.op = target[strings.LastIndex(target, ".")+1:]
		_ = json.Unmarshal(raw, &q.body)
		if strings.HasPrefix(target, "AnyScaleFrontendService") {
			q.service = "application-autoscaling"
		}
	default:
		form, _ := url.ParseQuery(string(raw))
		q.form, q.op = form, form.Get("Action")
	}
	return q, key
}

// rest finds the operation of EKS in method and path.
func (q *request) rest(r *http.Request, raw []byte) {
	q.path = strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q.form = r.URL.Query()
	_ = json.Unmarshal(raw, &q.body)
	switch {
	case len(q.path) == 1:
		q.op = "ListClusters"
	case len(q.path) == 2:
		q.op = "DescribeCluster"
	case q.path[2] == "node-groups" && len(q.path) == 3:
		q.op = "ListNodegroups"
	case q.path[2] == "node-groups" && len(q.path) == 4:
		q.op = "DescribeNodegroup"
	case q.path[2] == "node-groups":
		q.op = "UpdateNodegroupConfig"
	case len(q.path) == 3:
		q.op = "ListUpdates"
	default:
		q.op = "DescribeUpdate"
	}
}

func (q request) params() map[string]any {
	out := map[string]any{}
	for k, v := range q.form {
		out[k] = v[0]
	}
	maps.Copy(out, q.body)
	return out
}

func (q request) get(name string) string {
	if v := q.form[name]; len(v) > 0 {
		return v[0]
	}
	s, _ := q.body[name].(string)
	return s
}

func (q request) number(name string) (int, bool) {
	if v := q.form[name]; len(v) > 0 {
		n, err := strconv.Atoi(v[0])
		return n, err == nil
	}
	f, ok := q.body[name].(float64)
	return int(f), ok
}

// list reads "<name>.1", "<name>.2", … of a form, or a list of a JSON body.
func (q request) list(name string) []string {
	var out []string
	for i := 1; len(q.form[name+"."+strconv.Itoa(i)]) > 0; i++ {
		out = append(out, q.form[name+"."+strconv.Itoa(i)][0])
	}
	items, _ := q.body[name].([]any)
	for _, v := range items {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// page cuts the page that is asked for out of n things: the bounds, and the token of the next page.
func (c *Cloud) page(q request, n int, sizeName, tokenName string) (from, to int, next string) {
	size, ok := q.number(sizeName)
	if !ok || size <= 0 {
		size = 100
	}
	if c.Page > 0 {
		size = min(size, c.Page)
	}
	from, _ = strconv.Atoi(q.get(tokenName))
	from = min(from, n)
	if to = from + size; to < n {
		return from, to, strconv.Itoa(to)
	}
	return from, n, ""
}

// node is an XML element.
type node struct {
	name string
	text string
	kids []node
}

// el makes an element of elements, text one of a text; what is empty is not written.
func el(name string, kids ...node) node { return node{name: name, kids: kids} }

func text(name, value string) node { return node{name: name, text: value} }

func items(name, item string, kids []node) node {
	out := node{name: name}
	for _, k := range kids {
		out.kids = append(out.kids, node{name: item, text: k.text, kids: k.kids})
	}
	return out
}

func (n node) render(b *strings.Builder) {
	if n.text == "" && len(n.kids) == 0 {
		return
	}
	b.WriteString("<" + n.name + ">")
	_ = xml.EscapeText(b, []byte(n.text))
	for _, k := range n.kids {
		k.render(b)
	}
	b.WriteString("</" + n.name + ">")
}

// write answers: nodes as XML in the frame that the service uses, everything else as JSON.
func (q request) write(w http.ResponseWriter, answer any) {
	kids, ok := answer.([]node)
	if !ok {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	var b strings.Builder
	b.WriteString("<" + q.op + "Response>")
	frame := node{name: q.op + "Result", kids: kids}
	if q.service == "ec2" {
		text("requestId", "twin").render(&b)
		for _, k := range kids {
			k.render(&b)
		}
	} else {
		frame.render(&b)
	}
	b.WriteString("</" + q.op + "Response>")
	w.Header().Set("Content-Type", "text/xml")
	_, _ = io.WriteString(w, b.String())
}

func (q request) writeError(w http.ResponseWriter, f *failure) {
	code, message := text("Code", f.code), text("Message", f.message)
	var b strings.Builder
	switch q.service {
	case "ec2":
		el("Response", el("Errors", el("Error", code, message)), text("RequestID", "twin")).render(&b)
	case "ecs", "eks", "application-autoscaling":
		w.Header().Set("X-Amzn-ErrorType", f.code)
		_ = json.NewEncoder(&b).Encode(map[string]string{"__type": f.code, "message": f.message})
	default:
		el("ErrorResponse", el("Error", text("Type", "Sender"), code, message), text("RequestId", "twin")).render(&b)
	}
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, b.String())
}
