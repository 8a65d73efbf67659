package rest

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
)

// Function is a Lambda function behind API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// Lambda returns the function that serves the operations of groups.
func Lambda(p *platform.Platform, groups ...*Group) Function {
	h, _ := Mount(p, groups...)
	return AdaptHandler(h)
}

// AdaptHandler returns the function that passes events of API Gateway to h. It checks events first, because the adapter
// would answer some with 504 and let others pass unchecked.
func AdaptHandler(h http.Handler) Function {
	proxy := httpadapter.New(authorized(h))
	return func(ctx context.Context, ev events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		if e := sanitizeEvent(&ev); e != nil {
			return turnedAway(ev.RequestContext.RequestID, e), nil
		}
		out, err := proxy.ProxyWithContext(ctx, ev)
		if err != nil { // the event passed the check, but is not a valid request
			e := newError(http.StatusBadRequest, "the request is not well-formed")
			return turnedAway(ev.RequestContext.RequestID, e), nil //nolint:nilerr // an error would become a 502
		}
		return out, nil
	}
}

// authorized adds the caller from the authorizer's context, and from nothing else.
func authorized(next http.Handler) http.Handler {
	callers := identity.NewDecoder()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gw, _ := core.GetAPIGatewayContextFromContext(r.Context())
		c, err := callers.Decode(gw.Authorizer)
		if err != nil {
			w.Header().Set("X-Request-Id", gw.RequestID)
			sendFailure(w, newError(http.StatusInternalServerError, "internal error"))
			return
		}
		next.ServeHTTP(w, r.WithContext(identity.WithCaller(r.Context(), c)))
	})
}

// gatewayRequestID returns the request ID of API Gateway, or "" outside of it.
func gatewayRequestID(ctx context.Context) string {
	gw, _ := core.GetAPIGatewayContextFromContext(ctx)
	return gw.RequestID
}
