// Package gcptwin is a small Google Cloud in this process: it speaks the REST protocols of the operations that the
// provider uses, keeps state, takes time to change it, and can be made to fail as Google does. It is written from
// Google's documentation, not from the provider, so that a test against it can find the provider wrong.
package gcptwin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/testkit/clouds/twin"
)

// Project is the twin's project, ProjectNumber its number. Others are added as members of folders.
const (
	Project       = "acme-prod"
	ProjectNumber = "123456789012"
)

// Call is one request as it arrived, throttled and denied ones included.
type Call struct {
	Op     string // "compute.instances.stop"
	Method string
	Path   string
	Query  map[string][]string
	Body   string
}

// Fault makes calls of Op ("*" is any) fail with an answer of Google's form; with Lost, the call has its effect and no
// answer.
type Fault struct {
	Op, Reason, Message string
	Status              int
	RetryAfter          string // of the header, in seconds
	Consumer            string // of a service that is disabled: "projects/123456789012"
	Times               int    // how often; below 0 is always
	Lost                bool
}

// Cloud is the twin. Its zero value is an empty cloud; fill it with the Add functions.
type Cloud struct {
	// Page limits every page below the requested size, so that few resources make many pages.
	Page int
	// Lacks are permissions that the credentials do not have, as testIamPermissions tells.
	Lacks []string
	// Unreachable are scopes that listings name as not answering: "zones/europe-west1-b".
	Unreachable []string
	// Slow keeps operations from ending while they are looked at.
	Slow bool
	// Engine executes the queries of billing exports. Without one, the twin answers them from its own rows.
	Engine QueryEngine

	mu           sync.Mutex
	throttled    int
	faults       []Fault
	calls        []Call
	tokens       map[string]bool
	pools        map[string]workloadPool
	instances    []*Instance
	machineTypes []MachineType
	policies     map[string]bool // resource policies; true are schedules of instances
	groups       []*Group
	details      map[string]string
	databases    []*Database
	clusters     []*Cluster
	services     []*Service
	managed      []*Managed
	assets       []Asset
	units        []Unit
	members      []*Member
	series       []Series
	advices      []Advice
	deniedAdvice []string // recommenders
	operations   []*operation
	serial       int
	plain        map[string]map[string]any // by the path of their address
	tables       []BillingTable
	answers      map[string]*queryAnswer
}

// request is a call on its way through the twin.
type request struct {
	*http.Request
	op   string
	args []string // the values of the pattern's placeholders
	body map[string]any
	raw  string
}

// failure is an error answer.
type failure struct {
	status          int
	reason, message string
	consumer        string
	retryAfter      string
}

func newFailure(status int, reason, format string, args ...any) *failure {
	return &failure{status: status, reason: reason, message: fmt.Sprintf(format, args...)}
}

func missingFailure(what string, args ...any) *failure {
	return newFailure(http.StatusNotFound, "notFound", "The resource '%s' was not found", fmt.Sprintf(what, args...))
}

// ThrottleCalls makes the next calls be throttled; 0 ends it.
func (c *Cloud) ThrottleCalls(calls int) { c.ChangeLocked(func() { c.throttled = calls }) }

// AddFault adds a fault.
func (c *Cloud) AddFault(f Fault) { c.ChangeLocked(func() { c.faults = append(c.faults, f) }) }

// EndFaults ends all faults.
func (c *Cloud) EndFaults() { c.ChangeLocked(func() { c.faults, c.throttled = nil, 0 }) }

// ForgetCalls empties the list of calls.
func (c *Cloud) ForgetCalls() { c.ChangeLocked(func() { c.calls = nil }) }

// Calls returns the calls of the op since the last ForgetCalls, all of them for "".
func (c *Cloud) Calls(op string) []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.calls), func(k Call) bool { return op != "" && k.Op != op })
}

// ChangeLocked runs do while the cloud is locked. Tests change resources with it.
func (c *Cloud) ChangeLocked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// SettleAll lets everything that is on its way arrive.
func (c *Cloud) SettleAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.operations {
		o.end()
	}
	for _, i := range c.instances {
		i.settle()
	}
	for _, g := range c.groups {
		g.settle()
	}
	for _, s := range c.services {
		s.Reconciling = false
	}
	for _, m := range c.managed {
		m.settle()
	}
}

// RoundTrip answers a request to any address, so that a client that believes to talk to Google talks to the twin.
func (c *Cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	return twin.Answer(c.serve).RoundTrip(r)
}

// ServeHTTP answers as Google does, for any host. A lost answer is a broken connection.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	twin.Answer(c.serve).ServeHTTP(w, r)
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) (lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, handle := decodeRequest(r)
	if op := c.plainOp(q); op != "" {
		q.op, handle = op, (*Cloud).answerPlain
	}
	c.calls = append(c.calls, Call{q.op, r.Method, r.URL.Path, r.URL.Query(), q.raw})
	if f := c.refuseRequest(q); f != nil {
		q.writeError(w, f)
		return false
	}
	fault, failed := c.takeFault(q)
	if failed && !fault.Lost {
		q.writeError(w, &failure{fault.Status, fault.Reason, fault.Message, fault.Consumer, fault.RetryAfter})
		return false
	}
	if handle == nil {
		q.writeError(w, newFailure(http.StatusNotFound, "notFound", "%s %s is no method here", r.Method, r.URL.Path))
		return false
	}
	answer, f, known := c.answerForeign(q)
	if !known {
		answer, f = handle(c, q)
	}
	switch {
	case failed:
		return true
	case f != nil:
		q.writeError(w, f)
	default:
		writeJSON(w, http.StatusOK, c.withDetails(answer))
	}
	return false
}

// refuseRequest answers requests without a token, and throttled ones: Compute Engine with 403, the newer APIs with
// 429.
func (c *Cloud) refuseRequest(q request) *failure {
	token := strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	if !isMinting(q.op) && !c.tokens[token] {
		return newFailure(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
	}
	if c.throttled <= 0 {
		return nil
	}
	c.throttled--
	if strings.HasPrefix(q.op, "compute.") {
		return newFailure(http.StatusForbidden, "rateLimitExceeded", "Quota exceeded for quota metric 'Read requests'")
	}
	return newFailure(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Quota exceeded")
}

func (c *Cloud) takeFault(q request) (Fault, bool) {
	for i := range c.faults {
		f := &c.faults[i]
		if (f.Op == "*" || f.Op == q.op) && f.Times != 0 {
			f.Times--
			return *f, true
		}
	}
	return Fault{}, false
}

// nextNumber returns a new number.
func (c *Cloud) nextNumber() int {
	c.serial++
	return c.serial
}
