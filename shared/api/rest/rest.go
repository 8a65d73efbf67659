// Package rest receives the requests of every function. Operations are declared once, as an Op next to the handler. The
// router, the authorization, the envelopes, the error formats and the interface description are derived from the
// declarations. It is the only package that uses the API framework, so that the framework can be replaced.
package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
)

// Op declares one operation. Exactly one of Policy, SignedIn, Public and Worker must be set; it decides who may call
// the operation.
type Op struct {
	ID          string // operationId: "createChannel"
	Method      string // http.MethodGet, …
	Path        string // "/notifications/channels/{channelID}"
	Summary     string
	Description string

	Policy string // one of grant.Policies(), which the caller must hold
	// Scoped accepts a grant on a team or resource. The handler must show and change only records in the caller's
	// scopes.
	Scoped   bool
	SignedIn bool // any signed-in caller
	Public   bool // any client, without a credential
	// Worker is the only function that may call it, without API Gateway (CallAsWorker). No user, session or token may.
	Worker  string
	Session bool // only with the access token of a session; a personal access token is refused
	// StepUp marks a sensitive operation: a user with a second factor must have proved it in the session within
	// identity.StepUpWindow.
	StepUp bool
	Reads  bool // a POST that changes nothing: it leaves no row in the audit log
	Writes bool // a GET that changes something: it leaves a row

	// Credentials marks a POST that issues credentials. It ignores an Idempotency-Key, because a repeat must not get
	// them again.
	Credentials bool
	// member of data with a secret that is shown once: a repeat with an Idempotency-Key gets it empty
	ShownOnce string

	// Console marks the pages and files of the web console, which clients leave out. A slash at the end of the path is
	// ignored, because people type it.
	Console bool

	// Catalogue marks a GET whose answer is the same for every caller until the next version of the service. Clients
	// may keep it for an hour, and ask with its ETag whether it has changed.
	Catalogue bool

	wholeList  bool // the answer is an array with all items
	Deprecated bool
	Status     int   // of success; 0 means 200
	Statuses   []int // documented failures, in addition to those that follow from the declaration
	// Later is a zero value of the answer 202 that replaces a Raw answer that takes long, or nil.
	Later any
	// Produces is the content type of a Raw answer, or several separated by commas, starting with the default. It is
	// empty for {"data":…}.
	Produces string
}

// Group is the operations with one tag of the interface description.
type Group struct {
	Tag string
	ops []operation
}

// operation is an Op with its handler, ready to be registered.
type operation struct {
	Op
	input    reflect.Type
	output   reflect.Type
	register func(huma.API, huma.Operation)
}

// NewGroup returns an empty group with the tag of the interface; "" for operations without group.
func NewGroup(tag string) *Group { return &Group{Tag: tag} }

// Ops lists the operations of the group.
func (g *Group) Ops() []Op {
	out := make([]Op, len(g.ops))
	for i := range g.ops {
		out[i] = g.ops[i].Op
	}
	return out
}

// Handle adds op with the handler h to g. I is a struct whose fields have tags for their source (path, query, header; a
// field Body for the JSON body). O is the content of {"data":…}, or Raw for an answer that is sent unchanged. Errors of
// package fault become {"error":{"message":…}} with the status of their kind; all others become 500.
func Handle[I, O any](g *Group, op Op, h func(context.Context, *I) (O, error)) {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	op.wholeList = isWholeList(reflect.TypeFor[I](), reflect.TypeFor[O]())
	o := operation{Op: op, input: reflect.TypeFor[I](), output: reflect.TypeFor[O]()}
	places := boundedIn(o.input)
	o.register = func(api huma.API, hop huma.Operation) {
		huma.Register(api, hop, func(ctx context.Context, in *I) (*answer, error) {
			return op.answer(ctx, checkBounds(in, places), func() (any, error) { return h(ctx, in) })
		})
	}
	g.ops = append(g.ops, o)
}

// answer returns the answer with the result of h, unless the input is wrong.
func (op *Op) answer(ctx context.Context, wrong error, h func() (any, error)) (*answer, error) {
	if wrong != nil {
		return nil, clientError(ctx, op, wrong)
	}
	out, err := h()
	if err != nil {
		return nil, clientError(ctx, op, err)
	}
	if b, ok := out.(browsed); ok {
		out = b.content()
	}
	if raw, ok := out.(Raw); ok && raw.Failure != nil {
		noteShownFailure(ctx, op, raw.Failure)
	}
	return newAnswer(op, out)
}

// checkDeclaration returns an error for a declaration that is incomplete or contradictory. An operation that does not
// declare who may call it gets no route.
func (op *Op) checkDeclaration() error {
	switch {
	case op.ID == "" || op.Method == "" || !strings.HasPrefix(op.Path, "/"):
		return fmt.Errorf("operation %q %s %q: ID, Method and Path must be set", op.ID, op.Method, op.Path)
	case op.countWays() != 1:
		return fmt.Errorf("operation %s: exactly one of Policy, SignedIn, Public and Worker must be set", op.ID)
	case op.Session && op.Public:
		return fmt.Errorf("operation %s: a public operation has no session", op.ID)
	case op.StepUp && op.Public:
		return fmt.Errorf("operation %s: a public operation has no second factor", op.ID)
	case op.Policy != "" && !grant.IsPolicy(op.Policy):
		return fmt.Errorf("operation %s: policy %q is not in grant.Policies()", op.ID, op.Policy)
	}
	return nil
}

// countWays returns how many declarations say who may call the operation.
func (op *Op) countWays() (n int) {
	for _, on := range []bool{op.Policy != "", op.SignedIn, op.Public, op.Worker != ""} {
		if on {
			n++
		}
	}
	return n
}

// permitsCaller reports whether c may call the operation.
func (op *Op) permitsCaller(c identity.Caller) bool {
	switch {
	case op.Worker != "" || c.Worker != "":
		return c.Worker == op.Worker
	case op.Session && c.Session == "":
		return false
	case op.Policy == "":
		return true
	case op.Scoped:
		return identity.Holds(c, op.Policy)
	}
	return identity.Allows(c, op.Policy)
}

// contentTypes returns the content types of a Raw answer.
func (op *Op) contentTypes() []string {
	if op.Produces == "" {
		return nil
	}
	return strings.Split(op.Produces, ", ")
}

// policyLabel returns the operation's x-policy.
func (op *Op) policyLabel() string {
	switch {
	case op.Public:
		return "public"
	case op.SignedIn:
		return "signed-in"
	case op.Worker != "":
		return "worker:" + op.Worker
	}
	return op.Policy
}

// denialMessage returns the message for c: the missing permission, and the way out.
func (op *Op) denialMessage(c identity.Caller) string {
	if op.Worker != "" {
		return "permission denied: only the service's own " + op.Worker + " does this"
	}
	if op.Session && c.Session == "" {
		return "a personal access token cannot do this: log in with POST /auth/login"
	}
	if c.Barred != "" {
		return barredMessage(c.Barred)
	}
	if c.Org == "" {
		return "you are in no organization: create one with POST /organisations, then POST /auth/refresh with its id " +
			"as tenantID"
	}
	if identity.Holds(c, op.Policy) {
		return "permission denied: " + op.Policy +
			" is needed on the whole organization; your grants of it reach only " +
			scopeList(c.Scopes(op.Policy))
	}
	return "permission denied: " + op.Policy + " is needed"
}

// barredMessage returns the message for a caller whose log-in has no second factor, in an organization that demands
// one.
func barredMessage(org string) string {
	return "a second factor is needed in organization " + org + ": set one up with POST /auth/mfa/totp or POST " +
		"/auth/mfa/passkeys; if you have one, send refreshToken and otp to POST /auth/refresh, or log in with a passkey"
}

// maxNamedScopes is how many scopes of a caller a denial names.
const maxNamedScopes = 3

// scopeList returns the scopes for a message: "team:team_1 and resource:res_1".
func scopeList(s grant.Scopes) string {
	var all []string
	for _, id := range s.Teams {
		all = append(all, "team:"+id)
	}
	for _, id := range s.Resources {
		all = append(all, "resource:"+id)
	}
	if more := len(all) - maxNamedScopes; more > 0 {
		all = append(all[:maxNamedScopes], fmt.Sprintf("%d more", more))
	}
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// bodyOf returns the type of an input's field Body, or nil.
func bodyOf(input reflect.Type) reflect.Type {
	f, ok := input.FieldByName("Body")
	if !ok {
		return nil
	}
	return f.Type
}
