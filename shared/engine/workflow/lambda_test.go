package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// throttled is an error with its own type.
type throttled struct{}

func (*throttled) Error() string { return "slow down" }

// failing are the ways how a function can fail.
var failing = map[string]func() (any, error){
	"a plain error":     func() (any, error) { return nil, errors.New("plain") },
	"a wrapped error":   func() (any, error) { return nil, fmt.Errorf("read: %w", io.EOF) },
	"an error of two":   func() (any, error) { return nil, errors.Join(io.EOF, io.ErrUnexpectedEOF) },
	"a type of its own": func() (any, error) { return nil, &throttled{} },
	"a fault":           func() (any, error) { return nil, fault.New(fault.Invalid, "no <such> thing") },
	"a task error": func() (any, error) {
		return nil, &workflow.TaskError{Name: "Declined", Cause: "by a person"}
	},
	"a wrapped task error": func() (any, error) {
		return nil, fmt.Errorf("ask: %w", &workflow.TaskError{Name: "Declined", Cause: "no"})
	},
	"an answer of Lambda's": func() (any, error) {
		return nil, messages.InvokeResponse_Error{Type: "Own", Message: "m"}
	},
	"a result without JSON": func() (any, error) { return make(chan int), nil },
	"a number without JSON": func() (any, error) { return math.NaN(), nil },
	"a deadline":            func() (any, error) { return nil, context.DeadlineExceeded },
	"a panic with a text":   func() (any, error) { panic("at the disco") },
	"a panic with an error": func() (any, error) { panic(&throttled{}) },
	"a panic of Go's":       func() (any, error) { return []int{}[max(0, len(os.Args)-1_000)], nil },
	"a panic with nil":      func() (any, error) { panic(nil) }, //nolint:govet // the case needs it
}

// failHandler fails in the way that its input names.
func failHandler(_ context.Context, in json.RawMessage) (any, error) {
	var way string
	if err := json.Unmarshal(in, &way); err != nil {
		return nil, err
	}
	return failing[way]()
}

// lambdaChild is set in the child process that is a Lambda. The SDK finds the Runtime API by its own variable.
const lambdaChild = "LAMPLIGHTER_TEST_LAMBDA"

// reportedFailure returns the report of a failure by a real Go Lambda: a child process with a stub of the Runtime API.
func reportedFailure(t *testing.T, way string) (name, cause string) {
	t.Helper()
	answer := make(chan []byte, 1)
	mux := http.NewServeMux()
	asked := false
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		if asked {
			<-r.Context().Done()
			return
		}
		asked = true
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "r1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10))
		_ = json.NewEncoder(w).Encode(way)
	})
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/r1/{verdict}", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		answer <- b
	})
	s := httptest.NewServer(mux)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	cmd := exec.CommandContext(ctx, os.Args[0]) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), lambdaChild+"=1", "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(s.URL, "http://"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait(); s.CloseClientConnections(); s.Close() })
	var got messages.InvokeResponse_Error
	select {
	case b := <-answer:
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	case <-ctx.Done():
		t.Fatal("the Lambda does not answer")
	}
	return got.Type, got.Message
}

func TestErrorsHaveTheNamesThatAGoLambdaReports(t *testing.T) {
	e := openEngine(t, workflow.Parts{Machines: parseMachine(t, oneTask), Handlers: withHandler(failHandler)})
	n := 0
	for way := range failing {
		n++
		name := fmt.Sprintf("x%d", n)
		t.Run(way, func(t *testing.T) {
			wantName, wantMessage := reportedFailure(t, way)
			if err := e.Start(t.Context(), "m", name, way); err != nil {
				t.Fatal(err)
			}
			x := waitEnded(t, e, name)
			var cause messages.InvokeResponse_Error
			if err := json.Unmarshal([]byte(x.Cause), &cause); err != nil {
				t.Fatal(err)
			}
			if wantName == "" || x.Error != wantName || cause.Type != wantName || cause.Message != wantMessage {
				t.Fatalf("here %q %s, a Lambda reports %q %q", x.Error, x.Cause, wantName, wantMessage)
			}
		})
	}
}

// lambdaMain is the child process.
func lambdaMain() { lambda.Start(workflow.LambdaHandler(failHandler)) }
