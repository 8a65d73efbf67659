// Package workflowtest tests that every engine of shared/engine/workflow behaves the same.
package workflowtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Target is an engine under test.
type Target struct {
	// Open returns an empty engine with the given machines and handlers. The machines contain ARNs of functions with
	// the names of handlers. It is called once for each case.
	Open func(t *testing.T, machines map[string]string, handlers map[string]workflow.Handler) workflow.Engine
	// Lacks names the cases that the target cannot pass, with the reason.
	Lacks map[string]string
	// Patience is how long an execution of a few steps may take; 0 means 10 seconds.
	Patience time.Duration
}

// functionARN is the ARN of the function "worker" in the definitions of the cases.
const functionARN = "arn:aws:lambda:us-east-1:123456789012:function:worker"

// The machines of the cases.
const (
	straight = `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":{"done":true},"ResultPath":"$.p","End":true}}}`
	waits    = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	fails    = `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Broken","Cause":"on purpose"}}}`
	timesOut = `{"StartAt":"W","TimeoutSeconds":1,"States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	invokes  = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
		"Parameters":{"FunctionName":"` + functionARN + `","Payload.$":"$"},"OutputPath":"$.Payload","End":true}}}`
	answers = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
		"Parameters":{"FunctionName":"` + functionARN + `","Payload":{"token.$":"$$.Task.Token"}},"End":true}}}`
)

// world is one running case.
type world struct {
	t      *testing.T
	target Target
	engine workflow.Engine
	tokens chan string
}

// Run tests the contract with target.
func Run(t *testing.T, target Target) {
	t.Helper()
	if target.Patience == 0 {
		target.Patience = 10 * time.Second
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if why := target.Lacks[c.name]; why != "" {
				t.Skip("SKIPPED: " + why)
			}
			w := &world{t: t, target: target, tokens: make(chan string, 1)}
			w.engine = target.Open(t, map[string]string{"m": c.machine}, map[string]workflow.Handler{"worker": w.work})
			c.check(w)
		})
	}
}

// refused is an error with its own type, for its name.
type refused struct{}

func (refused) Error() string { return "refused" }

// work is the function of the cases.
func (w *world) work(_ context.Context, input json.RawMessage) (any, error) {
	var in struct {
		Token string `json:"token"`
		Fail  bool   `json:"fail"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if in.Token != "" {
		w.tokens <- in.Token
	}
	if in.Fail {
		return nil, refused{}
	}
	return map[string]json.RawMessage{"got": input}, nil
}

func (w *world) startExecution(input string) error {
	w.t.Helper()
	return w.engine.Start(w.t.Context(), "m", "x-1", json.RawMessage(input))
}

func (w *world) mustStart(input string) {
	w.t.Helper()
	if err := w.startExecution(input); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) describeExecution() workflow.Execution {
	w.t.Helper()
	x, err := w.engine.Describe(w.t.Context(), "m", "x-1")
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

// waitEnded waits for the end of the execution.
func (w *world) waitEnded() workflow.Execution {
	w.t.Helper()
	if local, ok := w.engine.(*workflow.Embedded); ok {
		x, err := local.Wait(w.t.Context(), "m", "x-1")
		if err != nil || x.Status == workflow.Running {
			w.t.Fatalf("the execution still runs: %v", err)
		}
		return x
	}
	for until := time.Now().Add(w.target.Patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if x := w.describeExecution(); x.Status != workflow.Running {
			return x
		}
	}
	w.t.Fatalf("the execution still runs after %s", w.target.Patience)
	return workflow.Execution{}
}

func (w *world) wantFault(err error, k fault.Kind, doing string) {
	w.t.Helper()
	if !fault.Is(err, k) {
		w.t.Fatalf("%s: got %v of kind %d, want kind %d", doing, err, fault.KindOf(err), k)
	}
}

// receivedToken returns the token that the function received.
func (w *world) receivedToken() string {
	w.t.Helper()
	select {
	case t := <-w.tokens:
		return t
	case <-time.After(w.target.Patience):
		w.t.Fatal("the function was not called with a token")
		return ""
	}
}

func sameJSON(a json.RawMessage, b string) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// tooLarge returns an input just above 256 KiB.
func tooLarge() string { return `"` + strings.Repeat("x", 262_144) + `"` }
