// Package azuretwin is a small Azure in this process: it speaks the wire protocols of Microsoft Entra, of the resource
// manager and of the Resource Graph for the types that the provider uses, keeps state, takes time to change it (202
// with Azure-AsyncOperation and Retry-After), and can be made to fail as Azure does. It is written from Azure's
// documentation, not from the provider, so that a test against it can find the provider wrong; the official fakes
// answer a Go client and prove nothing of the wire.
package azuretwin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/testkit/clouds/twin"
)

// The credentials of the twin: its subscription, tenant and application. Others are added as members of management
// groups.
const (
	Subscription = "11111111-2222-3333-4444-555555555555"
	Tenant       = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	Client       = "99999999-8888-7777-6666-555555555555"
	Secret       = "twin-client-secret" //nolint:gosec // of a cloud that is in this process
)

// Call is one request as it arrived, throttled and denied ones included.
type Call struct {
	Method, Path, Query string
	Op                  string // "Microsoft.Compute/virtualMachines/start/action", "entra:token"
	Token               string
	Header              http.Header
	Body                map[string]any // or the form
}

// Fault makes calls of Op ("*" is any) fail with an answer of Azure's form; with Lost, the call has its effect and no
// answer.
type Fault struct {
	Op, Code, Message string
	Status            int
	Times             int // how often; below 0 is always
	Lost              bool
}

// Role is the effect of an assignment: Actions without NotActions.
type Role struct {
	Actions    []string `json:"actions"`
	NotActions []string `json:"notActions"`
}

// Cloud is the twin. Its zero value is an empty subscription; fill it with the Add functions.
type Cloud struct {
	// Page limits every page below the requested size, so that few resources make many pages.
	Page int
	// Strict answers 409 to an act whose result is there already; most services answer 202.
	Strict bool
	// RetryAfter is the pause that throttled answers ask for; 0 asks for a millisecond.
	RetryAfter time.Duration
	// Assertion is the client assertion that opens, besides the secret.
	Assertion string
	// Subscriptions are the subscriptions that the application sees; nil is the twin's own.
	Subscriptions []string

	mu        sync.Mutex
	throttled int
	quota     *int
	faults    []Fault
	roles     []Role
	calls     []Call
	resources []*Resource
	groups    []Group
	members   []*Member
	frozen    []map[string]any
	tokens    map[string]string // and their scopes
	ops       []*operation
	exports   []Export
	blobs     map[string]*stored
	cut       bool
	total     string
	waits     map[string]string
	plain     []string // types
	advices   []map[string]any
	locks     map[string]string // names, by the uids of resources
	offers    []map[string]any
}

// operation is a long-running operation.
type operation struct {
	resource *Resource
	done     bool
	failure  *failure
}

// failure is an error answer.
type failure struct {
	status        int
	code, message string
}

func newFailure(status int, code, format string, args ...any) *failure {
	return &failure{status, code, fmt.Sprintf(format, args...)}
}

// request is a call on its way through the twin.
type request struct {
	*http.Request
	path string // in lower case
	body map[string]any
	op   string
}

// answer is the answer to a request.
type answer struct {
	status int
	header map[string]string
	body   any
	raw    []byte // in place of the body
}

func okAnswer(body any) (answer, *failure) { return answer{status: http.StatusOK, body: body}, nil }

// ThrottleCalls makes the next calls be throttled; 0 ends it.
func (c *Cloud) ThrottleCalls(calls int) { c.ChangeLocked(func() { c.throttled = calls }) }

// LimitGraph leaves so many queries of the Resource Graph before it throttles, and says so in each answer.
func (c *Cloud) LimitGraph(left int) { c.ChangeLocked(func() { c.quota = &left }) }

// AddFault adds a fault.
func (c *Cloud) AddFault(f Fault) { c.ChangeLocked(func() { c.faults = append(c.faults, f) }) }

// EndFaults ends all faults.
func (c *Cloud) EndFaults() { c.ChangeLocked(func() { c.faults, c.throttled = nil, 0 }) }

// SetRoles sets the roles of the application. No roles is the role that may do everything.
func (c *Cloud) SetRoles(roles ...Role) { c.ChangeLocked(func() { c.roles = roles }) }

// FreezeGraph keeps the Resource Graph as it is, which Azure's is for minutes.
func (c *Cloud) FreezeGraph() { c.ChangeLocked(func() { c.frozen = c.graphRows() }) }

// Calls returns the calls whose Op is op since the last ForgetCalls, all of them for "".
func (c *Cloud) Calls(op string) []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.calls), func(k Call) bool { return op != "" && k.Op != op })
}

// ForgetCalls empties the list of calls.
func (c *Cloud) ForgetCalls() { c.ChangeLocked(func() { c.calls = nil }) }

// ChangeLocked runs do while the cloud is locked. Tests change resources with it.
func (c *Cloud) ChangeLocked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// RoundTrip answers a request to any address, so that a client that believes to talk to Azure talks to the twin.
func (c *Cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	return twin.Answer(c.serve).RoundTrip(r)
}

// ServeHTTP answers as Azure does; a lost answer is a broken connection.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	twin.Answer(c.serve).ServeHTTP(w, r)
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) (lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := decodeRequest(r)
	c.calls = append(c.calls,
		Call{
			r.Method, r.URL.Path, r.URL.Query().Encode(), q.op, r.Header.Get("Authorization"), r.Header.Clone(),
			cloneBody(q.body),
		})
	if f := c.refuseRequest(q); f != nil {
		c.writeStorageFailure(w, q, f)
		return false
	}
	fault, failed := c.takeFault(q)
	if failed && !fault.Lost {
		c.writeStorageFailure(w, q, &failure{fault.Status, fault.Code, fault.Message})
		return false
	}
	a, f := c.handlerOf(q)
	switch {
	case failed:
		return true
	case f != nil:
		c.writeStorageFailure(w, q, f)
	default:
		writeAnswer(w, a)
	}
	return false
}

func decodeRequest(r *http.Request) request {
	q := request{Request: r, path: strings.ToLower(strings.TrimSuffix(r.URL.Path, "/")), body: map[string]any{}}
	q.op = opOf(r)
	if r.Body == nil {
		return q
	}
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" || strings.HasPrefix(q.op, "entra:") {
		if r.ParseForm() == nil {
			for name, values := range r.PostForm {
				q.body[name] = values[0]
			}
		}
		return q
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil && len(raw) > 0 && json.Unmarshal(raw, &q.body) != nil {
		q.body = nil
	}
	return q
}

// refuseRequest answers before anything is looked at: no token, no right, too many calls.
func (c *Cloud) refuseRequest(q request) *failure {
	if strings.HasPrefix(q.op, "entra:") {
		return nil
	}
	if storageHost(q.Request) != "" {
		return c.refuseStorage(q)
	}
	token, bearer := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
	switch {
	case !bearer || c.tokens[token] == "" || strings.HasPrefix(c.tokens[token], aksApplication):
		return newFailure(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")
	case q.body == nil:
		return newFailure(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized.")
	case q.URL.Query().Get("api-version") == "":
		return newFailure(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	case c.throttled > 0:
		c.throttled--
		return newFailure(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
			"Number of requests for subscription '%s' exceeded the limit.", Subscription)
	case !c.isAllowed(q.op):
		return newFailure(http.StatusForbidden, "AuthorizationFailed",
			"The client '%s' does not have authorization to perform action '%s' over scope '%s' or the scope "+
				"is invalid.", Client, q.op, q.URL.Path)
	}
	return nil
}

func (c *Cloud) takeFault(q request) (Fault, bool) {
	for i := range c.faults {
		f := &c.faults[i]
		if (f.Op == "*" || strings.EqualFold(f.Op, q.op)) && f.Times != 0 {
			f.Times--
			return *f, true
		}
	}
	return Fault{}, false
}

func (c *Cloud) writeFailure(w http.ResponseWriter, f *failure) {
	if f.status == http.StatusTooManyRequests {
		for name, seconds := range c.waits {
			w.Header().Set(name, seconds)
		}
		if c.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(c.RetryAfter/time.Second)))
		} else {
			w.Header().Set("Retry-After-Ms", "1")
		}
	}
	body := any(map[string]any{"error": map[string]any{"code": f.code, "message": f.message}})
	if strings.HasPrefix(f.code, "invalid_") { // of Entra
		body = map[string]any{"error": f.code, "error_description": f.message}
	}
	writeAnswer(w, answer{status: f.status, body: body})
}

func writeAnswer(w http.ResponseWriter, a answer) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		_, _ = w.Write(a.raw)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		panic(fmt.Sprintf("the twin cannot write %+v: %v", a.body, err))
	}
}
