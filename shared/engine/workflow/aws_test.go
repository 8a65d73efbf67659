package workflow_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/engine/workflow"
)

// A start uses the version of the alias at that time. An execution is described by its own ARN, which contains no
// version (Step Functions API reference, StartExecution and DescribeExecution).
func TestInAWS_StartsWhatIsLive(t *testing.T) {
	got := map[string]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ StateMachineArn, ExecutionArn string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		got[operation] = in.StateMachineArn + in.ExecutionArn
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte(`{"executionArn":"x","startDate":1,"status":"RUNNING"}`))
	}))
	t.Cleanup(srv.Close)
	e := workflow.InAWS(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}, "arn:aws:states:eu-west-1:123456789012:stateMachine:lamplighter-prod-", "action")
	if err := e.Start(t.Context(), "action", "x1", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Describe(t.Context(), "action", "x1"); err != nil {
		t.Fatal(err)
	}
	const of = "arn:aws:states:eu-west-1:123456789012:"
	if got["StartExecution"] != of+"stateMachine:lamplighter-prod-action:live" ||
		got["DescribeExecution"] != of+"execution:lamplighter-prod-action:x1" {
		t.Errorf("got %v", got)
	}
}
