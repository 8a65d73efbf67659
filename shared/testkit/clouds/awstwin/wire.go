package awstwin

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// scope matches the key, region and service in a signature.
var scope = regexp.MustCompile(`Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

// refused and throttled are each service's answers to a bad key and to too many calls.
var (
	refused = map[string]*failure{
		"ec2": newFailure(401, "AuthFailure",
			"AWS was not able to validate the provided access credentials"),
		"rds": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"autoscaling": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"sts": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"organizations": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"ecs": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"application-autoscaling": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"redshift": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"sagemaker": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"eks": newFailure(403, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"elasticloadbalancing": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"elasticache": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"es": newFailure(403, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"monitoring": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"s3": newFailure(403, "InvalidAccessKeyId",
			"The AWS Access Key Id you provided does not exist in our records."),
		"lambda": newFailure(403, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"sqs": newFailure(403, "InvalidClientTokenId",
			"The security token included in the request is invalid."),
		"ecr": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"tagging": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"workspaces": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"apprunner": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"lightsail": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"synthetics": newFailure(403, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"bcm-data-exports": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"cur": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"ce": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"cost-optimization-hub": newFailure(400, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
		"resource-explorer-2": newFailure(403, "UnrecognizedClientException",
			"The security token included in the request is invalid."),
	}
	throttled = map[string]*failure{
		"ec2":         newFailure(503, "RequestLimitExceeded", "Request limit exceeded."),
		"rds":         newFailure(400, "Throttling", "Rate exceeded"),
		"autoscaling": newFailure(400, "Throttling", "Rate exceeded"),
		"sts":         newFailure(400, "Throttling", "Rate exceeded"),
		"organizations": newFailure(400, "TooManyRequestsException",
			"AWS Organizations can't complete your request because another request is already in progress. Try "+
				"again later."),
		"ecs":                     newFailure(400, "ThrottlingException", "Rate exceeded"),
		"application-autoscaling": newFailure(400, "ThrottlingException", "Rate exceeded"),
		"redshift":                newFailure(400, "Throttling", "Rate exceeded"),
		"sagemaker":               newFailure(400, "ThrottlingException", "Rate exceeded"),
		"eks":                     newFailure(429, "TooManyRequestsException", "Too Many Requests"),
		"elasticloadbalancing":    newFailure(400, "Throttling", "Rate exceeded"),
		"elasticache":             newFailure(400, "Throttling", "Rate exceeded"),
		"es":                      newFailure(429, "ThrottlingException", "Rate exceeded"),
		"monitoring":              newFailure(400, "Throttling", "Rate exceeded"),
		"s3":                      newFailure(503, "SlowDown", "Please reduce your request rate."),
		"lambda":                  newFailure(429, "TooManyRequestsException", "Rate exceeded"),
		"sqs":                     newFailure(400, "ThrottlingException", "Rate exceeded"),
		"ecr":                     newFailure(400, "ThrottlingException", "Rate exceeded"),
		"tagging":                 newFailure(400, "ThrottledException", "Rate exceeded"),
		"workspaces":              newFailure(400, "ThrottlingException", "Rate exceeded"),
		"apprunner":               newFailure(400, "ThrottlingException", "Rate exceeded"),
		"lightsail":               newFailure(400, "ThrottlingException", "Rate exceeded"),
		"synthetics":              newFailure(429, "TooManyRequestsException", "Rate exceeded"),
		"bcm-data-exports":        newFailure(400, "ThrottlingException", "Rate exceeded"),
		"cur":                     newFailure(400, "ThrottlingException", "Rate exceeded"),
		"ce":                      newFailure(400, "LimitExceededException", "Rate limit exceeded"),
		"cost-optimization-hub":   newFailure(400, "ThrottlingException", "Rate exceeded"),
		"resource-explorer-2":     newFailure(429, "ThrottlingException", "Rate exceeded"),
	}
)

// decodeRequest returns the request of an HTTP request, from its signature and body, and the access key that signed
// it.
func decodeRequest(r *http.Request) (q request, key string) {
	if m := scope.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		key, q.region, q.service = m[1], m[2], m[3]
	}
	q.method, q.header = r.Method, r.Header
	raw := []byte{}
	if r.Body != nil {
		raw, _ = io.ReadAll(r.Body)
	}
	target := r.Header.Get("X-Amz-Target")
	switch {
	case q.routed(r, raw):
	case q.service == "eks":
		q.rest(r, raw)
	case slices.Contains(pathServices, q.service):
		q.byPath(r, raw)
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

// pathServices are services that identify an operation by its method and path. The twin knows few operations of each.
// EKS is another such service.
var pathServices = []string{"s3", "lambda", "resource-explorer-2", "es", "synthetics", "elasticfilesystem"}

// byPath sets the operation of a request to one of pathServices.
func (q *request) byPath(r *http.Request, raw []byte) {
	q.path = strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q.form = r.URL.Query()
	_ = json.Unmarshal(raw, &q.body)
	switch {
	case q.service == "resource-explorer-2":
		q.op = q.path[0]
	case q.service == "elasticfilesystem":
		q.op = "DescribeFileSystems"
	case q.service == "synthetics":
		q.op = canaryOp(q.path)
	case q.service == "lambda":
		q.op = functionOp(r.Method, q.path)
	case q.service == "es" && strings.HasSuffix(r.URL.Path, "domain-info"):
		q.op = "DescribeDomains"
	case q.service == "es":
		q.op = "ListDomainNames"
	case strings.HasSuffix(r.URL.Path, "/configuration/publicAccessBlock"):
		q.op = "GetAccountPublicAccessBlock"
	default:
		q.op = bucketOp(q)
	}
}

// bucketOps are the operations on a bucket by the name of the query parameter.
var bucketOps = map[string]string{
	"versioning": "GetBucketVersioning", "lifecycle": "GetBucketLifecycleConfiguration",
	"policyStatus": "GetBucketPolicyStatus",
	"policy":       "GetBucketPolicy", "publicAccessBlock": "GetPublicAccessBlock", "logging": "GetBucketLogging",
	"uploads": "ListMultipartUploads", "uploadId": "ListParts",
}

func bucketOp(q *request) string {
	for name, op := range bucketOps {
		if q.path[0] != "" && q.form.Has(name) {
			return op
		}
	}
	switch {
	case q.form.Has("list-type"):
		return "ListObjectsV2"
	case q.path[0] != "" && len(q.path) == 1 && q.method == http.MethodHead:
		return "HeadBucket"
	case len(q.path) > 1 && q.method == http.MethodHead:
		return "HeadObject"
	case len(q.path) > 1:
		return "GetObject"
	}
	return "ListBuckets"
}

// rest sets the operation of a request to EKS by its method and path.
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

func (q request) allParams() map[string]any {
	out := map[string]any{}
	for k, v := range q.form {
		out[k] = v[0]
	}
	maps.Copy(out, q.body)
	return out
}

func (q request) getString(name string) string {
	if v := q.form[name]; len(v) > 0 {
		return v[0]
	}
	s, _ := q.body[name].(string)
	return s
}

func (q request) getNumber(name string) (int, bool) {
	if v := q.form[name]; len(v) > 0 {
		n, err := strconv.Atoi(v[0])
		return n, err == nil
	}
	f, ok := q.body[name].(float64)
	return int(f), ok
}

// getList reads "<name>.1", "<name>.2", … of a form, or a list of a JSON body.
func (q request) getList(name string) []string {
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

// cutPage returns the bounds of the requested page of n things, and the token of the next page.
func (c *Cloud) cutPage(q request, n int, sizeName, tokenName string) (from, to int, next string) {
	size, ok := q.getNumber(sizeName)
	if !ok || size <= 0 {
		size = 100
	}
	if c.Page > 0 {
		size = min(size, c.Page)
	}
	from, _ = strconv.Atoi(q.getString(tokenName))
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
	raw  string // XML of a finished piece; the other fields are empty then
}

// newElement makes an element with child elements, and newText one with a text. Empty elements are not written.
func newElement(name string, kids ...node) node { return node{name: name, kids: kids} }

func newText(name, value string) node { return node{name: name, text: value} }

func newItems(name, item string, kids []node) node {
	out := node{name: name}
	for _, k := range kids {
		out.kids = append(out.kids, node{name: item, text: k.text, kids: k.kids, raw: k.raw})
	}
	return out
}

func (n node) render(b *strings.Builder) {
	if b.WriteString(n.raw); n.text == "" && len(n.kids) == 0 {
		return
	}
	b.WriteString("<" + n.name + ">")
	_ = xml.EscapeText(b, []byte(n.text))
	for _, k := range n.kids {
		k.render(b)
	}
	b.WriteString("</" + n.name + ">")
}

// writeAnswer writes an answer: nodes as XML in the service's frame, everything else as JSON.
func (q request) writeAnswer(w http.ResponseWriter, answer any) {
	kids, ok := answer.([]node)
	if policy, is := answer.(json.RawMessage); is && q.op == "GetBucketPolicy" {
		_, _ = w.Write(policy) //nolint:gosec // it is what a test told
		return
	}
	if file, is := answer.(content); is {
		file.write(w)
		return
	}
	if q.service == "s3" {
		var b strings.Builder
		newElement(strings.Replace(q.op, "ListObjectsV2", "ListBucket", 1)+"Result", kids...).render(&b)
		w.Header().Set("Content-Type", "application/xml")
		_, _ = io.WriteString(w, b.String())
		return
	}
	if !ok {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	var b strings.Builder
	b.WriteString("<" + q.op + "Response>")
	frame := node{name: q.op + "Result", kids: kids}
	if len(kids) == 0 {
		frame = node{raw: "<" + q.op + "Result/>"}
	}
	if q.service == "ec2" {
		newText("requestId", "twin").render(&b)
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
	code, message := newText("Code", f.code), newText("Message", f.message)
	var b strings.Builder
	switch {
	case q.service == "ec2":
		newElement("Response", newElement("Errors", newElement("Error", code, message)),
			newText("RequestID", "twin")).render(&b)
	case q.service == "s3":
		failed := newElement("Error", code, message)
		if q.op == "GetAccountPublicAccessBlock" { // S3 Control has another frame for errors
			failed = newElement("ErrorResponse", failed)
		}
		failed.render(&b)
	case slices.Contains(jsonServices, q.service):
		w.Header().Set("X-Amzn-ErrorType", f.code)
		_ = json.NewEncoder(&b).Encode(map[string]string{"__type": f.code, "message": f.message})
	default:
		newElement("ErrorResponse", newElement("Error", newText("Type", "Sender"), code, message),
			newText("RequestId", "twin")).render(&b)
	}
	if f.bucketRegion != "" {
		w.Header().Set("X-Amz-Bucket-Region", f.bucketRegion)
	}
	w.WriteHeader(f.status)
	if q.method != http.MethodHead {
		_, _ = io.WriteString(w, b.String())
	}
}
