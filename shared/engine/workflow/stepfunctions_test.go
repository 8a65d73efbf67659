package workflow_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// The store may return the members of an input in another order. The second start must send the same text as the first,
// or Step Functions refuses it. After a refusal there must be no DescribeExecution, because its quota is a twentieth of
// that of starts.
func TestStepFunctions_StartsAreOneCallWithOneText(t *testing.T) {
	var inputs, calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		calls, inputs = append(calls, strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AWSStepFunctions.")),
			append(inputs, in.Input)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"ExecutionAlreadyExists"}`))
	}))
	t.Cleanup(server.Close)
	e := workflow.StepFunctions(sfn.New(sfn.Options{
		Region: "us-east-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}), workflow.ARNs("arn:aws:states:us-east-1:123456789012:stateMachine:lamplighter-dev-", "action"))
	for _, in := range []any{
		struct {
			Org     string   `json:"org"`
			Actions []string `json:"actions"`
		}{"org_1", []string{"act_1"}},
		json.RawMessage(`{ "actions": ["act_1"], "org": "org_1" }`),
	} {
		if err := e.Start(t.Context(), "action", "act_1", in); !fault.Is(err, fault.Conflict) {
			t.Errorf("got %v", err)
		}
	}
	if !slices.Equal(calls, []string{"StartExecution", "StartExecution"}) || inputs[0] != inputs[1] {
		t.Errorf("calls %v with %q", calls, inputs)
	}
}
