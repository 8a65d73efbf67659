package authorizer

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// Request is what API Gateway tells an authorizer of type REQUEST.
type Request = events.APIGatewayCustomAuthorizerRequestTypeRequest

// organisationHeader lets a personal access token, which names no organization, say in which one it works.
const organisationHeader = "X-Organisation-Id"

// bearerToken takes the credential from the one Authorization header of a request. Two are none: it is not for us to choose.
func bearerToken(r *Request) (string, error) {
	vs := headerValues(r, "Authorization")
	if len(vs) != 1 {
		return "", refuse("not one Authorization header")
	}
	scheme, token, _ := strings.Cut(vs[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", refuse("no bearer token")
	}
	return token, nil
}

// headerValues returns those of a header under all spellings of its name: HTTP/2 has another one than HTTP/1.1, and a client can send
// both.
func headerValues(r *Request, name string) []string {
	var out []string
	for spelling, vs := range r.MultiValueHeaders {
		if strings.EqualFold(spelling, name) {
			out = append(out, vs...)
		}
	}
	if r.MultiValueHeaders != nil {
		return out
	}
	for spelling, v := range r.Headers {
		if strings.EqualFold(spelling, name) {
			out = append(out, v)
		}
	}
	return out
}
