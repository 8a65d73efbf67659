package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing/fstest"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
)

const greeting = `{
  "StartAt": "Greet",
  "States": {"Greet": {
    "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
    "Parameters": {"FunctionName": "${GreeterFunctionArn}", "Payload.$": "$"},
    "OutputPath": "$.Payload", "End": true
  }}
}`

// A machine is a file in the States Language. Its tasks are handlers by function name. The same file runs on Step
// Functions. The table keeps the state of running executions: an engine that is opened on it later continues them with
// Resume.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := table.Open(filepath.Join(dir, "store.db"), table.Options{Clock: clock.System{}, NoSync: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	machines, err := workflow.LoadMachines(fstest.MapFS{"greeting.asl.json": {Data: []byte(greeting)}},
		map[string]string{"GreeterFunctionArn": "greeter"})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := workflow.NewEmbedded(workflow.Parts{
		Store: store, Clock: clock.System{}, Machines: machines, Log: slog.New(slog.DiscardHandler),
		Handlers: map[string]workflow.Handler{"greeter": func(_ context.Context, input json.RawMessage) (any, error) {
			return "hello " + string(input), nil
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	ctx := table.Within(context.Background(), "")
	fmt.Println(engine.Start(ctx, "greeting", "job_1", 7))
	x, err := engine.Wait(ctx, "greeting", "job_1")
	fmt.Println(x.Status, string(x.Output), err)
	fmt.Println(engine.Start(ctx, "greeting", "job_1", 7)) // a name runs once
	// Output:
	// <nil>
	// SUCCEEDED "hello 7" <nil>
	// the execution greeting job_1 has already run and ended
}
