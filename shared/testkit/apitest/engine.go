package apitest

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// Idle is an engine that accepts executions and never runs them.
type Idle struct{ workflow.Engine }

// Start accepts an execution and does nothing.
func (Idle) Start(context.Context, string, string, any) error { return nil }

// Machines returns the named files of statemachines/, without their ending, as the folder of an engine.
func Machines(tb testing.TB, names ...string) fs.FS {
	tb.Helper()
	out := fstest.MapFS{}
	for _, name := range names {
		file := name + ".asl.json"
		b, err := os.ReadFile(filepath.Join(npmpeer.ModuleRoot(tb), "statemachines", file))
		if err != nil {
			tb.Fatal(err)
		}
		out[file] = &fstest.MapFile{Data: b}
	}
	return out
}

// RunMachines has an embedded engine run the machines of the folder from now on, on the fixture's store and clock,
// until the test ends. A handler called executor stands behind ${ExecutorFunctionArn}.
func (f *Fixture) RunMachines(folder fs.FS, handlers map[string]workflow.Handler) *workflow.Embedded {
	f.Helper()
	names := map[string]string{}
	for name := range handlers {
		names[strings.ToUpper(name[:1])+name[1:]+"FunctionArn"] = name
	}
	machines, err := workflow.LoadMachines(folder, names)
	f.Must(err)
	engine, err := workflow.NewEmbedded(workflow.Parts{
		Store: f.Table, Clock: f.Platform.Clock, Machines: machines, Handlers: handlers,
		Log: slog.New(slog.DiscardHandler),
	})
	f.Must(err)
	f.Cleanup(func() {
		if err := engine.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Workflow = engine
	return engine
}
