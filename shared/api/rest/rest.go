// Package rest receives the requests of every function: operations are declared once, as an Op beside its handler, and the
// router, the authorization, the envelopes, the error shapes and the interface description derive from that. It is the
// only package that names the API framework, so that the framework can be exchanged.
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

// Op declares one operation. Exactly one of Policy, SignedIn, Public and Worker says who may call it; an operation that says
// nothing is refused when it is mounted.
type Op struct {
	ID          string // operationId: "createChannel"
	Method      string // http.MethodGet, …
	Path        string // "/notifications/channels/{channelID}"
	Summary     string
	Description string

	Policy string // of grant.Policies(): the caller must hold it
	// a grant on a team or resource suffices: the handler shows and touches only what lies in the caller's scopes
	Scoped   bool
	SignedIn bool // any signed-in caller
	Public   bool // anybody, without a credential
	// only this function of ours, which calls without API Gateway (CallAsWorker): no user, session or token ever
	Worker  string
	Session bool // only with the access token of a session: a personal access token is refused
	Reads   bool // a POST that changes nothing: it leaves no row in the audit log
	Writes  bool // a GET that changes something: it leaves one

	// a POST that issues credentials: an Idempotency-Key is ignored, for a repeat must not get them again
	Credentials bool
	ShownOnce   string // member of data that holds a secret shown once: a repeat under an Idempotency-Key gets it empty

	Deprecated bool
	Status     int   // of success; 0 is 200
	Statuses   []int // documented failures, besides those that follow from the declaration
	// a zero value of what a 202 answers in place of a Raw answer that takes long; nil when there is none
	Later any
	// content type of a Raw answer, or several behind commas, of which the first is the default; empty for {"data":…}
	Produces string
}

// Group is the operations under one tag of the interface description.
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

// NewGroup begins the group of operations under tag, spelled as the interface spells it; "" for operations of no group.
func NewGroup(tag string) *Group { return &Group{Tag: tag} }

// Ops lists the operations of the group.
func (g *Group) Ops() []Op {
	out := make([]Op, len(g.ops))
	for i := range g.ops {
		out[i] = g.ops[i].Op
	}
	return out
}

// Handle adds op, answered by h, to g. I is a struct whose fields name where they come from (path, query, header tags; a
// field Body for the JSON body). O is what stands in {"data":…}, or Raw for an answer that is sent as it is. Errors of
// package fault become {"error":{"message":…}} with the status of their kind; any other is a 500.
func Handle[I, O any](g *Group, op Op, h func(context.Context, *I) (O, error)) {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	o := operation{Op: op, input: reflect.TypeFor[I](), output: reflect.TypeFor[O]()}
	places := boundedIn(o.input)
	o.register = func(api huma.API, hop huma.Operation) {
		huma.Register(api, hop, func(ctx context.Context, in *I) (*answer, error) {
			return op.answer(ctx, checkBounds(in, places), func() (any, error) { return h(ctx, in) })
		})
	}
	g.ops = append(g.ops, o)
}

// answer answers with what h returns, unless the input is wrong.
func (op *Op) answer(ctx context.Context, wrong error, h func() (any, error)) (*answer, error) {
	if wrong != nil {
		return nil, clientError(ctx, op, wrong)
	}
	out, err := h()
	if err != nil {
		return nil, clientError(ctx, op, err)
	}
	return newAnswer(op, out)
}

// checkDeclaration refuses a declaration that is incomplete or contradicts itself. Default deny: an operation that does not say who
// may call it never gets a route.
func (op *Op) checkDeclaration() error {
	ways := 0
	for _, on := range []bool{op.Policy != "", op.SignedIn, op.Public, op.Worker != ""} {
		if on {
			ways++
		}
	}
	switch {
	case op.ID == "" || op.Method == "" || !strings.HasPrefix(op.Path, "/"):
		return fmt.Errorf("operation %q %s %q: ID, Method and Path must be set", op.ID, op.Method, op.Path)
	case ways != 1:
		return fmt.Errorf("operation %s: exactly one of Policy, SignedIn, Public and Worker must be set", op.ID)
	case op.Session && op.Public:
		return fmt.Errorf("operation %s: a public operation has no session", op.ID)
	case op.Policy != "" && !grant.IsPolicy(op.Policy):
		return fmt.Errorf("operation %s: policy %q is not in grant.Policies()", op.ID, op.Policy)
	}
	return nil
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

// policyLabel returns what x-policy says of the operation.
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

// denialMessage says what c lacks, and what to do about it.
func (op *Op) denialMessage(c identity.Caller) string {
	if op.Worker != "" {
		return "permission denied: only the service's own " + op.Worker + " does this"
	}
	if op.Session && c.Session == "" {
		return "a personal access token cannot do this: log in with POST /auth/login"
	}
	if c.Org == "" {
		return "you are in no organization: create one with POST /organisations, then POST /auth/refresh with its id " +
			"as tenantID"
	}
	if identity.Holds(c, op.Policy) {
		return "permission denied: " + op.Policy +
			" is needed on the whole organization; your grants of it reach only teams or resources"
	}
	return "permission denied: " + op.Policy + " is needed"
}

// bodyOf returns the type of an input's field Body, nil when there is none.
func bodyOf(input reflect.Type) reflect.Type {
	f, ok := input.FieldByName("Body")
	if !ok {
		return nil
	}
	return f.Type
}
