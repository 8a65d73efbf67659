package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// ServeHTTP answers one request: names it, finds its operation, asks whether the caller may, confines the store to the
// caller's organization, reads the body within limits, and writes one line to the log.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer x.end() //nolint:contextcheck // x carries the request and its context
	n, values := s.routes.find(r.URL)
	if n == nil {
		send(x, fail(http.StatusNotFound, "not found"))
		return
	}
	rt := n.serves(r.Method)
	if rt == nil {
		x.Header().Set("Allow", n.allow())
		send(x, &GatewayError{http.StatusMethodNotAllowed, "method not allowed"})
		return
	}
	x.route = rt
	rt.params(x.r, values)
	s.answer(x) //nolint:contextcheck // x carries the request and its context
}

// answer lets the caller through to the operation, or not.
func (s *server) answer(x *exchange) {
	op, c := x.route.op, identity.From(x.r.Context())
	switch {
	case !op.Public && c.User == "":
		x.refuse(&GatewayError{http.StatusUnauthorized, "unauthorized"})
	case !op.Public && !op.permits(c):
		x.refuse(shape(op, http.StatusForbidden, op.denial(c)))
	default:
		if e := x.admit(); e != nil {
			x.refuse(e)
			return
		}
		x.r = x.r.WithContext(confined(x.r.Context(), c))
		s.once(x, c)
	}
}

// confined lets store calls touch the caller's organization and nothing else; nothing at all when there is none.
func confined(ctx context.Context, c identity.Caller) context.Context {
	if c.Org == "" {
		return ctx
	}
	return table.WithTenant(ctx, c.Org)
}

// run gives the request to the operation's handler, and has what it changes put on record.
func (x *exchange) run(w http.ResponseWriter) {
	if !x.onRecord() {
		x.handle(w)
		return
	}
	x.audited(w, x.handle)
}

func (x *exchange) handle(w http.ResponseWriter) {
	x.route.handle(humago.NewContext(x.route.hop, x.r, w))
}
