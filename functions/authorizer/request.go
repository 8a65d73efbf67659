package authorizer

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// Request is the input of an authorizer of type REQUEST.
type Request = events.APIGatewayCustomAuthorizerRequestTypeRequest

// organisationHeader is the header that names the organization for a personal access token, which contains none.
const organisationHeader = "X-Organisation-Id"

// bearerToken returns the credential from the only Authorization header of a request. Two headers are refused.
func bearerToken(r *Request) (string, error) {
	vs := headerValues(r, "Authorization")
	if len(vs) != 1 {
		return "", refuseRequest("not one Authorization header")
	}
	scheme, token, _ := strings.Cut(vs[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", refuseRequest("no bearer token")
	}
	return token, nil
}

// headerValues returns the values of a header under all spellings of its name. HTTP/2 spells names differently from
// HTTP/1.1, and a client can send both.
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
