package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// WorkerCall is a request of one of the service's workers to an operation that only it may call (Op.Worker).
type WorkerCall struct {
	Function string // the function that answers: "eventreadiness"
	Worker   string // the calling worker: "executor"
	Org      string // the organization of the request
	Method   string
	Path     string
	Body     any // any value that encoding/json can encode
}

// CallAsWorker makes the request as an invocation of the function, without API Gateway. IAM decides who may invoke the
// function. For requests through API Gateway, only the authorizer sets the caller, and it never sets a worker. An
// answer that is not a success becomes an error with the kind of its status and its message.
func CallAsWorker(ctx context.Context, by lambdacall.Invoker, call WorkerCall) error {
	body, err := json.Marshal(call.Body)
	if err != nil {
		return fmt.Errorf("encode the body of %s %s: %w", call.Method, call.Path, err)
	}
	caller := identity.Caller{Worker: call.Worker, Org: call.Org}
	ev := events.APIGatewayProxyRequest{
		HTTPMethod: call.Method, Path: call.Path, Body: string(body),
		Headers:        map[string]string{"Content-Type": "application/json"},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: identity.EncodeCaller(caller)},
	}
	var out events.APIGatewayProxyResponse
	if err = by.RunTask(ctx, call.Function, ev, &out); err != nil {
		return fmt.Errorf("%s %s: %w", call.Method, call.Path, err)
	}
	return fault.Wrap(call.Method+" "+call.Path, failureOf(out))
}

// failureOf returns the error of an answer, or nil for a success.
func failureOf(out events.APIGatewayProxyResponse) error {
	if out.StatusCode >= http.StatusOK && out.StatusCode < http.StatusMultipleChoices {
		return nil
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(out.Body), &said) // other bodies have no message
	kinds := map[int]fault.Kind{
		http.StatusBadRequest: fault.Invalid, http.StatusForbidden: fault.Denied, http.StatusNotFound: fault.NotFound,
		http.StatusConflict: fault.Conflict,
	}
	kind, known := kinds[out.StatusCode]
	if !known {
		kind = fault.Unavailable
	}
	return fault.New(kind, "%d %s", out.StatusCode, said.Error.Message)
}
