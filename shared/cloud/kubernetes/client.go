package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"sigs.k8s.io/json"
)

// apiResource names a resource of the API of Kubernetes, with its group and version.
type apiResource struct{ Group, Version, Resource string }

// String returns the resource as tokens of pages name it.
func (r apiResource) String() string { return r.Group + "/" + r.Version + ", Resource=" + r.Resource }

// groupVersion returns the group and the version as the API names them: "apps/v1", "v1" of the core.
func (r apiResource) groupVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// groupPath returns the path under which the API serves the resource's group and version.
func (r apiResource) groupPath() []string {
	if r.Group == "" {
		return []string{"api", r.Version}
	}
	return []string{"apis", r.Group, r.Version}
}

// objectPath returns the path of an object of the resource, or of its subresource. Without a name it is the path of
// all objects, without a namespace that of all namespaces.
func (r apiResource) objectPath(at ref, sub ...string) ([]string, error) {
	if problem := segmentProblem(at.ns); problem != "" {
		return nil, fmt.Errorf("invalid namespace %q: [%s]", at.ns, problem)
	}
	if problem := segmentProblem(at.name); problem != "" {
		return nil, fmt.Errorf("invalid resource name %q: [%s]", at.name, problem)
	}
	path := r.groupPath()
	if at.ns != "" {
		path = append(path, "namespaces", at.ns)
	}
	if path = append(path, r.Resource); at.name != "" {
		path = append(path, at.name)
	}
	return append(path, sub...), nil
}

// segmentProblem returns the reason why a name would lead to another path than its own; "" for a safe name.
func segmentProblem(name string) string {
	switch {
	case name == "." || name == "..":
		return "may not be '" + name + "'"
	case strings.Contains(name, "/"):
		return "may not contain '/'"
	case strings.Contains(name, "%"):
		return "may not contain '%'"
	}
	return ""
}

// apiClient calls the API of one cluster. Its transport knows the token, the limits and the retries.
type apiClient struct {
	base *url.URL // with the path under which a proxy serves the API, if there is one
	http *http.Client
}

// apiCall is one request. The zero value of accept and contentType is JSON.
type apiCall struct {
	method              string
	path                []string
	query               url.Values
	accept, contentType string
	body                []byte
}

// callAPI returns the body of an answer of a status from 200 to 206. Any other answer is a *statusError.
func (c *apiClient) callAPI(ctx context.Context, call apiCall) ([]byte, error) {
	at := url.URL{
		Scheme: c.base.Scheme, Host: c.base.Host, RawQuery: call.query.Encode(),
		Path: strings.TrimSuffix(c.base.Path, "/") + "/" + strings.Join(call.path, "/"),
	}
	r, err := http.NewRequestWithContext(ctx, call.method, at.String(), bodyOf(call.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", cmp.Or(call.accept, "application/json"))
	r.Header.Set("User-Agent", fieldManager)
	if call.body != nil {
		r.Header.Set("Content-Type", cmp.Or(call.contentType, "application/json"))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < http.StatusOK || resp.StatusCode > http.StatusPartialContent {
		return nil, newStatusError(resp, call.method, answer)
	}
	return answer, nil
}

func bodyOf(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return strings.NewReader(string(body))
}

// decodeAnswer decodes an answer, which must be an object or a list of the API: it has a kind. A nil into checks that
// alone. Numbers in values of type any become int64 or float64.
func decodeAnswer(body []byte, into any) error {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(body, &kind); err != nil {
		return fmt.Errorf("the answer is not an object of the API: %w", err)
	}
	if err := checkKind(kind.Kind, body); err != nil || into == nil {
		return err
	}
	return unreadableError(json.UnmarshalCaseSensitivePreserveInts(body, into))
}

// checkKind returns an error for an answer without a kind, which is no object or list of the API.
func checkKind(kind string, body []byte) error {
	if kind == "" {
		return fmt.Errorf("the answer %.200q has no kind", body)
	}
	return nil
}

// apiStatus is the answer to a call that failed.
type apiStatus struct {
	Kind     string `json:"kind"`
	Status   string `json:"status"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Code     int    `json:"code"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
}

// statusError is an answer that is no success.
type statusError struct {
	apiStatus
	words string // of a server behind a Service: Prometheus' field error
}

// Error returns the cluster's message.
func (e *statusError) Error() string { return e.Message }

// reasonConflict is the reason of a change that names another version of the object than the present one.
const reasonConflict = "Conflict"

// isNotFound reports whether the error is the answer 404.
func isNotFound(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.Code == http.StatusNotFound
}

// newStatusError takes the status that the cluster sent, or describes the answer of a proxy in front of it.
func newStatusError(resp *http.Response, method string, body []byte) *statusError {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isText := resp.Header.Get("Content-Type") == "" || err == nil && strings.HasPrefix(media, "text/")
	var s struct {
		apiStatus
		Error string `json:"error"`
	}
	if !strings.HasPrefix(media, "text/") && json.UnmarshalCaseSensitivePreserveInts(body, &s) == nil &&
		s.Kind == "Status" && s.Status != "Success" {
		s.Code = cmp.Or(s.Code, resp.StatusCode)
		return &statusError{apiStatus: s.apiStatus}
	}
	words := "unknown"
	if isText {
		words = strings.TrimSpace(string(body[:min(len(body), maxProxyWords)]))
	}
	return &statusError{
		describeAnswer(resp.StatusCode, method, words), s.Error[:min(len(s.Error), maxProxyWords)],
	}
}

// maxProxyWords is the maximum number of bytes of a proxy's answer in an error.
const maxProxyWords = 2048

// answerReasons are the reasons and messages for answers without a status object, by HTTP status. For a message of ""
// the text of the answer is used.
var answerReasons = map[int]struct{ reason, message string }{
	http.StatusConflict:             {reasonConflict, "the server reported a conflict"},
	http.StatusNotFound:             {"NotFound", "the server could not find the requested resource"},
	http.StatusBadRequest:           {"BadRequest", "the server rejected our request for an unknown reason"},
	http.StatusUnauthorized:         {"Unauthorized", "the server has asked for the client to provide credentials"},
	http.StatusForbidden:            {"Forbidden", ""},
	http.StatusNotAcceptable:        {"NotAcceptable", ""},
	http.StatusUnsupportedMediaType: {"UnsupportedMediaType", ""},
	http.StatusMethodNotAllowed: {
		"MethodNotAllowed",
		"the server does not allow this method on the requested resource",
	},
	http.StatusUnprocessableEntity: {"Invalid", "the server rejected our request due to an error in our request"},
	http.StatusServiceUnavailable:  {"ServiceUnavailable", "the server is currently unable to handle the request"},
	http.StatusGatewayTimeout: {"Timeout", "the server was unable to return a response in the time allotted, " +
		"but may still be processing the request"},
	http.StatusTooManyRequests: {"TooManyRequests", "the server has received too many requests and has asked us " +
		"to try again later"},
}

func describeAnswer(code int, method, words string) apiStatus {
	known, ok := answerReasons[code]
	s := apiStatus{Code: code, Reason: known.reason, Message: cmp.Or(known.message, words)}
	switch {
	case code == http.StatusConflict && method == http.MethodPost:
		s.Reason = "AlreadyExists"
	case code == http.StatusNotAcceptable && (words == "" || words == "unknown"):
		s.Message = "the server was unable to respond with a content type that the client supports"
	case !ok && code >= http.StatusInternalServerError:
		s.Reason = "InternalError"
		s.Message = fmt.Sprintf("an error on the server (%q) has prevented the request from succeeding", words)
	case !ok:
		s.Message = fmt.Sprintf("the server responded with the status code %d but did not return more information",
			code)
	}
	return s
}
