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

// WorkerCall is a request of a worker of ours to an operation that is for it alone (Op.Worker).
type WorkerCall struct {
	Function string // that answers: "eventreadiness"
	Worker   string // that asks: "executor"
	Org      string // in whose name
	Method   string
	Path     string
	Body     any // anything encoding/json can write
}

// CallAsWorker makes the request as an invocation of the function, without API Gateway. Who may do that is who may invoke the function,
// which IAM says: of what comes through API Gateway, the authorizer alone says who it is, and it knows no workers. An answer that is no
// success is an error of the kind that its status stands for, in its words.
func CallAsWorker(ctx context.Context, by lambdacall.Invoker, call WorkerCall) error {
	body, err := json.Marshal(call.Body)
	if err != nil {
		return fmt.Errorf("encode the body of %s %s: %w", call.Method, call.Path, err)
	}
	ev := events.APIGatewayProxyRequest{
		HTTPMethod: call.Method, Path: call.Path, Body: string(body),
		Headers:        map[string]string{"Content-Type": "application/json"},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: identity.EncodeCaller(identity.Caller{Worker: call.Worker, Org: call.Org})},
	}
	var out events.APIGatewayProxyResponse
	if err = by.RunTask(ctx, call.Function, ev, &out); err != nil {
		return fmt.Errorf("%s %s: %w", call.Method, call.Path, err)
	}
	return fault.Wrap(call.Method+" "+call.Path, failureOf(out))
}

// failureOf makes the error of an answer; nil of a success.
func failureOf(out events.APIGatewayProxyResponse) error {
	if out.StatusCode >= http.StatusOK && out.StatusCode < http.StatusMultipleChoices {
		return nil
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(out.Body), &said) // what is none of ours says nothing
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
