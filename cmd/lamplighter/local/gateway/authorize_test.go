package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/clock"
)

// witness records the events that the authorizer and the function received for a request.
type witness struct {
	authorizerRequest events.APIGatewayCustomAuthorizerRequestTypeRequest
	functionEvent     asked
}

func (w *witness) authorize(_ context.Context,
	r events.APIGatewayCustomAuthorizerRequestTypeRequest,
) (events.APIGatewayCustomAuthorizerResponse, error) {
	w.authorizerRequest = r
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: "usr_anna", Context: map[string]any{"org": "org_1"},
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Statement: []events.IAMPolicyStatement{{Effect: "Allow"}},
		},
	}, nil
}

func (w *witness) answer(_ context.Context, ev asked) (answer, error) {
	w.functionEvent = ev
	return answer{StatusCode: http.StatusOK}, nil
}

// send sends the gateway one request from 192.0.2.1, the address of httptest's requests.
func (w *witness) send(t *testing.T, line, headers string) int {
	t.Helper()
	g, err := Load("testdata/template.yaml", map[string]rest.Function{"echo": w.answer, "odd": odd}, w.authorize,
		clock.NewManual(noon))
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	g.ServeHTTP(rec, request(line, headers, ""))
	return rec.Code
}

func TestTheAuthorizerSeesTheRequest(t *testing.T) {
	var w witness
	if code := w.send(t, "GET /items/i1/parts?x=1&x=2",
		"Authorization: Bearer a|Authorization: Bearer b|X-Organisation-Id: org_1"); code != http.StatusOK {
		t.Fatal(code)
	}
	at := w.authorizerRequest.RequestContext
	if w.authorizerRequest.Type != "REQUEST" || w.authorizerRequest.HTTPMethod != "GET" ||
		w.authorizerRequest.Path != "/items/i1/parts" || w.authorizerRequest.Resource != "/items/{id}/parts" ||
		w.authorizerRequest.PathParameters["id"] != "i1" ||
		!slices.Equal(w.authorizerRequest.MultiValueQueryStringParameters["x"], []string{"1", "2"}) ||
		w.authorizerRequest.MethodArn != "arn:aws:execute-api:local:000000000000:local/local/GET/items/i1/parts" {
		t.Errorf("asked %+v", w.authorizerRequest)
	}
	if !slices.Equal(w.authorizerRequest.MultiValueHeaders["Authorization"], []string{"Bearer a", "Bearer b"}) ||
		w.authorizerRequest.Headers["X-Organisation-Id"] != "org_1" {
		t.Errorf("headers %v", w.authorizerRequest.MultiValueHeaders)
	}
	if at.RequestID == "" || at.RequestID != w.functionEvent.RequestContext.RequestID || at.HTTPMethod != "GET" ||
		at.ResourcePath != "/items/{id}/parts" {
		t.Errorf("context %+v", at)
	}
}

// check 54: the address of a request comes from its connection, and its caller from the authorizer.
func TestHeadersChangeNeitherAddressNorCaller(t *testing.T) {
	var w witness
	w.send(t, "GET /echo",
		"Authorization: Bearer good|X-Forwarded-For: 203.0.113.66|X-Real-Ip: 203.0.113.66|Forwarded: for=203.0.113.66|"+
			"X-Golambdaproxy-Apigw-Context: {}|X-Amzn-Requestid: mine|Principalid: usr_eve|Org: org_eve")
	for name, ip := range map[string]string{
		"authorizer": w.authorizerRequest.RequestContext.Identity.SourceIP,
		"function":   w.functionEvent.RequestContext.Identity.SourceIP,
	} {
		if ip != "192.0.2.1" {
			t.Errorf("the %s was told %s", name, ip)
		}
	}
	told := w.functionEvent.RequestContext.Authorizer
	if len(told) != 2 || told["org"] != "org_1" || told["principalId"] != "usr_anna" ||
		w.functionEvent.RequestContext.RequestID == "mine" {
		t.Errorf("the function was told %v", w.functionEvent.RequestContext)
	}
}
