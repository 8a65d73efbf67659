package gateway

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// askAuthorizer asks the authorizer about a request, and answers the request if the authorizer refuses it. Like API
// Gateway it answers by itself if the identity source is missing or empty. It does not check the value of the header,
// or how often it occurs.
func (x *exchange) askAuthorizer(rt *route, ev *events.APIGatewayProxyRequest) (map[string]any, bool) {
	if rt.public {
		return nil, true
	}
	for _, name := range x.g.source {
		if x.r.Header.Get(name) == "" {
			x.writeGatewayResponse("UNAUTHORIZED", http.StatusUnauthorized)
			return nil, false
		}
	}
	out, err := x.ask(ev)
	switch {
	case err != nil && err.Error() == "Unauthorized": // the word that API Gateway looks for
		x.writeGatewayResponse("UNAUTHORIZED", http.StatusUnauthorized)
	case err != nil:
		x.writeGatewayResponse("AUTHORIZER_FAILURE", http.StatusInternalServerError)
	case !allows(out.PolicyDocument):
		x.writeGatewayResponse("ACCESS_DENIED", http.StatusForbidden)
	default:
		return told(out), true
	}
	return nil, false
}

// ask calls the authorizer with the request as a function would get it, without its body. The maps belong to the
// event: an authorizer must only read them.
func (x *exchange) ask(ev *events.APIGatewayProxyRequest) (out events.APIGatewayCustomAuthorizerResponse, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("authorizer panicked: %v", v)
		}
	}()
	at := &ev.RequestContext
	return x.g.authorize(ctx, events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", Resource: ev.Resource, Path: ev.Path, HTTPMethod: ev.HTTPMethod,
		MethodArn: "arn:aws:execute-api:" + stage + ":" + account + ":" + stage + "/" + stage + "/" + ev.HTTPMethod +
			ev.Path,
		Headers: ev.Headers, MultiValueHeaders: ev.MultiValueHeaders, PathParameters: ev.PathParameters,
		QueryStringParameters:           ev.QueryStringParameters,
		MultiValueQueryStringParameters: ev.MultiValueQueryStringParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: at.Path, AccountID: at.AccountID, Stage: at.Stage, RequestID: at.RequestID,
			ResourcePath: at.ResourcePath,
			HTTPMethod:   at.HTTPMethod, APIID: at.APIID,
			Identity: events.APIGatewayCustomAuthorizerRequestTypeRequestIdentity{SourceIP: at.Identity.SourceIP},
		},
	})
}

// allows reports whether a policy permits the request: at least one statement allows it, and none denies it.
func allows(p events.APIGatewayCustomAuthorizerPolicy) bool {
	allowed := false
	for _, s := range p.Statement {
		if strings.EqualFold(s.Effect, "Deny") {
			return false
		}
		allowed = allowed || s.Effect == "Allow"
	}
	return allowed
}

// told returns the values of requestContext.authorizer for a function. API Gateway turns every value into text.
func told(out events.APIGatewayCustomAuthorizerResponse) map[string]any {
	m := maps.Clone(out.Context)
	if m == nil {
		m = map[string]any{}
	}
	for name, v := range m {
		if _, isText := v.(string); !isText {
			m[name] = fmt.Sprint(v)
		}
	}
	m["principalId"] = out.PrincipalID
	return m
}
