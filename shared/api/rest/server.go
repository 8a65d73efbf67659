package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ServeHTTP answers one request. It gives it an ID, finds its operation, checks the permission, restricts the store to
// the caller's organization, reads the body within limits, and writes one log line.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.beginExchange(w, r)
	defer x.finishRequest() //nolint:contextcheck // x carries the request and its context
	n, values := s.routes.findRoute(r.URL)
	if n == nil {
		sendFailure(x, newError(http.StatusNotFound, "not found"))
		return
	}
	rt := n.routeFor(r.Method)
	if rt == nil {
		x.Header().Set("Allow", n.allowHeader())
		sendFailure(x, &GatewayError{http.StatusMethodNotAllowed, "method not allowed"})
		return
	}
	x.route = rt
	rt.setPathValues(x.r, values)
	s.answer(x) //nolint:contextcheck // x carries the request and its context
}

// answer runs the operation, if the caller may call it.
func (s *server) answer(x *exchange) {
	op, c := x.route.op, identity.CallerFrom(x.r.Context())
	switch {
	case op.Worker == "" && !op.Public && c.User == "":
		x.refuseRequest(&GatewayError{http.StatusUnauthorized, "unauthorized"})
	case !op.Public && !op.permitsCaller(c):
		x.refuseRequest(errorForStatus(op, http.StatusForbidden, op.denialMessage(c)))
	case op.StepUp && c.CheckStepUp() != nil:
		x.refuseRequest(errorForStatus(op, http.StatusForbidden, fault.Message(c.CheckStepUp())))
	default:
		if e := x.readBody(); e != nil {
			x.refuseRequest(e)
			return
		}
		ctx, cancel := context.WithTimeout(confined(x.r.Context(), c), s.limit)
		defer cancel()
		x.r = x.r.WithContext(ctx)
		s.replayOrRun(x, c)
	}
}

// confined returns a context that permits the caller's organization only; without organization it permits nothing.
func confined(ctx context.Context, c identity.Caller) context.Context {
	if c.Org == "" {
		return ctx
	}
	return table.WithOrg(ctx, c.Org)
}

// runOperation passes the request to the operation's handler, and records its changes.
func (x *exchange) runOperation(w http.ResponseWriter) {
	if !x.onRecord() {
		x.handle(w)
		return
	}
	x.respondAudited(w, x.handle)
}

func (x *exchange) handle(w http.ResponseWriter) {
	x.route.handle(humago.NewContext(x.route.hop, x.r, w))
}
