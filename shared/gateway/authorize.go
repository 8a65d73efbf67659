package gateway

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// authorized asks the authorizer about a request, and answers it when the authorizer does not let it through. Two
// Authorization headers are none: it is not for a gateway to choose.
func (x *exchange) authorized(rt *route) (map[string]any, bool) {
	if rt.public {
		return nil, true
	}
	credentials := x.r.Header["Authorization"]
	if len(credentials) != 1 || !x.credible(credentials[0]) {
		x.respond("UNAUTHORIZED", http.StatusUnauthorized)
		return nil, false
	}
	out, err := x.ask(credentials[0])
	switch {
	case err != nil && err.Error() == "Unauthorized": // the word that API Gateway looks for
		x.respond("UNAUTHORIZED", http.StatusUnauthorized)
	case err != nil:
		x.respond("AUTHORIZER_FAILURE", http.StatusInternalServerError)
	case !allows(out.PolicyDocument):
		x.respond("ACCESS_DENIED", http.StatusForbidden)
	default:
		return told(out), true
	}
	return nil, false
}

// credible tells whether a credential looks as the template wants it.
func (x *exchange) credible(credential string) bool {
	ok, err := x.g.token.Of([]byte(credential))
	return err == nil && ok
}

func (x *exchange) ask(credential string) (out events.APIGatewayCustomAuthorizerResponse, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("authorizer panicked: %v", v)
		}
	}()
	return x.g.authorize(ctx, events.APIGatewayCustomAuthorizerRequest{
		Type: "TOKEN", AuthorizationToken: credential,
		MethodArn: "arn:aws:execute-api:" + stage + ":" + account + ":" + stage + "/" + stage + "/" + x.r.Method + x.r.URL.EscapedPath(),
	})
}

// allows tells whether a policy lets the request through: something must allow it, and nothing may deny it.
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

// told is what a function finds in requestContext.authorizer: API Gateway makes a text of every value.
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
