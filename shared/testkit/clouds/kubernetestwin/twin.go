// Package kubernetestwin is a small Kubernetes API server in this process, with the controllers that matter to
// starting and stopping. It speaks the real protocol for the resources that the provider uses (lists with limit and
// continue, merge patches guarded by resourceVersion, the scale subresource, access reviews), over HTTPS, and can be
// made to fail as a cluster does. It is written from the Kubernetes documentation and from the answers of a real
// control plane, not from the provider, so that a test against it can find the provider wrong.
package kubernetestwin

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Token opens the twin, UID is the uid of its namespace kube-system.
const (
	Token = "twin-token-of-the-only-user" //nolint:gosec // it opens this twin alone
	UID   = "5c1de4b2-0000-4000-8000-00000000c105"
)

// Version is the version of the API server.
const Version = "v1.34.2"

// made is when all objects were made, and when the fields were set that a manager holds.
const made = "2026-03-01T08:00:00Z"

// Call is one request as it arrived, refused ones included.
type Call struct {
	Op        string // "patch deployments.apps", "patch deployments/scale.apps"
	Namespace string
	Name      string
	Query     string
	Body      string
	Code      int // of the answer; 0 when that was lost
}

// Fault makes calls of Op fail with an answer of the API server's form. Lost ones have their effect and no answer.
type Fault struct {
	Op      string
	Code    int
	Reason  string
	Message string
	Times   int // how often; below 0 is always
	Lost    bool
}

// Cluster is the twin. Make it with New.
type Cluster struct {
	// Page limits every page below the requested size, so that few objects make many pages.
	Page int
	// Without are the groups that the cluster does not serve: "keda.sh", "argoproj.io".
	Without []string
	// Behind are the servers behind Services, by "ns/name", for the API server's proxy.
	Behind map[string]http.Handler
	// Accept lets tokens in besides Token.
	Accept func(token string) bool

	server    *httptest.Server
	mu        sync.Mutex
	version   int
	objects   map[string]map[string]fields // by resource, by "ns/name"
	throttled int
	denied    []string
	allowed   map[string]bool // nil: everything that is not denied
	faults    []Fault
	calls     []Call
	healed    map[string]fields // specs that a GitOps controller sets back, by resource and name
	expired   int
	between   func(op string) // runs just before a call is answered
	unseen    bool            // controllers take nothing in
}

type fields = map[string]any

// New starts a cluster with the namespaces that every cluster has.
func New() *Cluster {
	c := &Cluster{objects: map[string]map[string]fields{}, healed: map[string]fields{}}
	c.server = httptest.NewTLSServer(c)
	for _, ns := range []string{"default", "kube-system"} {
		c.Add("namespaces", fields{"metadata": fields{"name": ns}})
	}
	c.ChangeUID(UID)
	return c
}

// ChangeUID gives the namespace kube-system another uid, for a second cluster beside the first.
func (c *Cluster) ChangeUID(uid string) {
	c.Change("namespaces", "kube-system", func(o fields) { o["metadata"].(fields)["uid"] = uid })
}

// Close ends the server.
func (c *Cluster) Close() { c.server.Close() }

// URL is where the cluster answers.
func (c *Cluster) URL() string { return c.server.URL }

// Authority is the certificate authority of its server, as PEM.
func (c *Cluster) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw})
}

// Kubeconfig is a kubeconfig for the cluster, with the token.
func (c *Cluster) Kubeconfig(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: main
contexts: [{name: main, context: {cluster: main, user: lamplighter}}]
clusters: [{name: main, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: lamplighter, user: {token: %q}}]
`, c.URL(), base64.StdEncoding.EncodeToString(c.Authority()), token)
}

// ThrottleCalls makes the next calls be throttled; 0 ends it.
func (c *Cluster) ThrottleCalls(calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.throttled = calls
}

// Deny has the only user lack the permission for these operations: "patch deployments.apps".
func (c *Cluster) Deny(ops ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied = ops
}

// Allow denies the only user everything except these operations, and except discovery and reviews, which every user
// may do.
func (c *Cluster) Allow(ops ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = map[string]bool{"create selfsubjectaccessreviews.authorization.k8s.io": true}
	for _, op := range ops {
		c.allowed[op] = true
	}
}

// forbids reports whether the only user may not do it.
func (c *Cluster) forbids(op string) bool {
	return slices.Contains(c.denied, op) || c.allowed != nil && !c.allowed[op]
}

// AddFault adds a fault.
func (c *Cluster) AddFault(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, f)
}

// ExpireNextPage has the next request for a further page come too late.
func (c *Cluster) ExpireNextPage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expired++
}

// Between runs do once, just before the next call of the op is answered, while the cluster is locked.
func (c *Cluster) Between(op string, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.between = func(at string) {
		if at == op {
			c.between = nil
			do()
		}
	}
}

// Calls returns the calls whose operation begins with op since the last ForgetCalls.
func (c *Cluster) Calls(op string) []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.calls), func(k Call) bool { return !strings.HasPrefix(k.Op, op) })
}

// ForgetCalls empties the list of calls.
func (c *Cluster) ForgetCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = nil
}

// Add adds an object and returns "ns/name", or its name when it has no namespace.
func (c *Cluster) Add(resource string, o fields) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = invalidAutoscaler(resource, o) // tests may add objects that an API server would refuse
	return c.addObject(resource, o)
}

func (c *Cluster) addObject(resource string, o fields) string {
	meta := o["metadata"].(fields)
	c.version++
	meta["uid"], meta["generation"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", c.version), int64(1)
	meta["creationTimestamp"] = made
	meta["resourceVersion"] = strconv.Itoa(c.version)
	o["kind"], o["apiVersion"] = kinds[resource], groupVersion(resource)
	if c.objects[resource] == nil {
		c.objects[resource] = map[string]fields{}
	}
	recordManager(o, nil, "its-maker")
	at := placeName(textOf(meta["namespace"]), textOf(meta["name"]))
	c.objects[resource][at] = o
	c.settleWorkload(resource, o)
	return at
}

// Get returns a copy of an object; nil when it does not exist.
func (c *Cluster) Get(resource, at string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cloneFields(c.objects[resource][at])
}

// Remove takes an object away.
func (c *Cluster) Remove(resource, at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects[resource], at)
}

// Change changes an object as somebody else would: it gets a new version.
func (c *Cluster) Change(resource, at string, do func(fields)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changeLocked(resource, at, do)
}

// ChangeLocked is Change for code that runs while the cluster is locked: see Between.
func (c *Cluster) ChangeLocked(resource, at string, do func(fields)) {
	c.changeLocked(resource, at, do)
}

func (c *Cluster) changeLocked(resource, at string, do func(fields)) {
	o := c.objects[resource][at]
	before := cloneFields(o)
	do(o)
	recordManager(o, before, "somebody")
	c.touchObject(o)
}

// touchObject gives an object a new version.
func (c *Cluster) touchObject(o fields) {
	c.version++
	o["metadata"].(fields)["resourceVersion"] = strconv.Itoa(c.version)
}

// Heal makes a GitOps controller set the object's spec back to its present value each time the cluster settles.
func (c *Cluster) Heal(resource, at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.healed[resource+" "+at] = cloneFields(c.objects[resource][at])["spec"].(fields)
}

// StallControllers has the controllers take nothing in, or go on.
func (c *Cluster) StallControllers(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unseen = on
}

// ServeHTTP answers as an API server does; a lost answer is a broken connection.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if lost := c.serve(w, r); lost {
		panic(http.ErrAbortHandler)
	}
}
