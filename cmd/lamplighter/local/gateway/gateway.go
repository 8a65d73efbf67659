// Package gateway is API Gateway on a laptop. It reads the deployed template.yaml (routes, authorizer, gateway
// responses), turns each HTTP request into the event that API Gateway would make, and calls the same functions. A
// request that passes here passes there too. The gateway is an http.Handler. Its server sets the timeouts:
// ReadHeaderTimeout and ReadTimeout below the 29 seconds that a function has, and WriteTimeout above.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/clock"
)

// timeout is how long a function may take to answer, as in AWS.
const timeout = 29 * time.Second

// Authorizer is a Lambda authorizer of type REQUEST. The error "Unauthorized" becomes a 401, as in API Gateway, and
// any other error a 500. A policy that does not allow becomes ACCESS_DENIED.
type Authorizer func(context.Context,
	events.APIGatewayCustomAuthorizerRequestTypeRequest) (events.APIGatewayCustomAuthorizerResponse, error)

// Gateway answers HTTP requests through the functions of a template.
type Gateway struct {
	clock     clock.Clock
	timeout   time.Duration
	authorize Authorizer
	source    []string // the headers without which a request does not reach the authorizer
	routes    []*route
	responses map[string]response
}

// route is one path and method of the template.
type route struct {
	pattern  string // "/actions/{proxy+}"
	segments []string
	method   string // "ANY" or one
	folder   string
	public   bool
	call     rest.Function
}

// New returns the gateway that template describes. functions are keyed by their folders under functions/, as in the
// template: "lamplighter-${Stage}-actions" is "actions". A function that only one of the two knows is an error.
func New(template []byte, functions map[string]rest.Function, a Authorizer, c clock.Clock) (*Gateway, error) {
	t, err := parseTemplate(template)
	if err != nil {
		return nil, err
	}
	g := &Gateway{clock: c, timeout: timeout, authorize: a, responses: t.gatewayResponses(), source: t.source}
	left := maps.Clone(functions)
	for _, r := range t.routes {
		if r.call = functions[r.folder]; r.call == nil {
			return nil, fmt.Errorf("template routes %s to function %q, which is not given", r.pattern, r.folder)
		}
		delete(left, r.folder)
		g.routes = append(g.routes, r)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("template routes nothing to %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return g, nil
}

// Load reads the template at path and calls New with it.
func Load(path string, functions map[string]rest.Function, a Authorizer, c clock.Clock) (*Gateway, error) {
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the template
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return New(b, functions, a, c)
}

// Route returns the folder of the function that the template routes a path to, and whether the route has no
// authorizer. It returns false for ok if there is no route.
func (g *Gateway) Route(method, path string) (folder string, public, ok bool) {
	r, _ := g.findRoute(method, path)
	if r == nil {
		return "", false, false
	}
	return r.folder, r.public, true
}

// errTimeout is the error of a function that did not answer in time.
var errTimeout = errors.New("the function did not answer in time")

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := g.beginExchange(w, r)
	if status := refusalStatus(r); status != 0 {
		x.writeErrorPage(status)
		return
	}
	rt, params := g.findRoute(r.Method, r.URL.EscapedPath())
	if rt == nil {
		x.writeGatewayResponse("MISSING_AUTHENTICATION_TOKEN", http.StatusForbidden)
		return
	}
	ev := x.newEvent(rt, params)
	caller, ok := x.askAuthorizer(rt, ev) //nolint:contextcheck // x carries the request and its context
	if !ok {
		return
	}
	body, ok := x.readBody()
	if !ok {
		return
	}
	ev.RequestContext.Authorizer = caller
	setEventBody(ev, body)
	out, err := g.invoke(rt, ev) //nolint:contextcheck // a function outlives its client, as in AWS
	switch {
	case errors.Is(err, errTimeout):
		x.writeGatewayResponse("INTEGRATION_TIMEOUT", http.StatusGatewayTimeout)
	case err != nil:
		x.writeGatewayResponse("INTEGRATION_FAILURE", http.StatusBadGateway)
	default:
		x.writeResponse(out)
	}
}

// result is the answer or the error of an invocation.
type result struct {
	out events.APIGatewayProxyResponse
	err error
}

// invoke calls a function as Lambda does: with a deadline, independent of the client's connection, and with a panic
// as an error.
func (g *Gateway) invoke(rt *route, ev *events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	ctx, cancel := context.WithTimeout(invocationContext(ev), g.timeout)
	defer cancel()
	done := make(chan result, 1) // so that a late answer finds room and its goroutine ends
	go rt.run(ctx, ev, done)
	select {
	case r := <-done:
		return r.out, r.err
	case <-ctx.Done():
		return events.APIGatewayProxyResponse{}, errTimeout
	}
}

// run calls the function and sends its result to done. A panic becomes an error.
func (r *route) run(ctx context.Context, ev *events.APIGatewayProxyRequest, done chan<- result) {
	var got result
	defer func() {
		if v := recover(); v != nil {
			got.err = fmt.Errorf("function %s panicked: %v", r.folder, v)
		}
		done <- got
	}()
	got.out, got.err = r.call(ctx, *ev)
}
