package local

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// substitutions returns the values that infra/stacks/*.yaml substitute in the state machines, with the names of
// folders instead of ARNs.
func substitutions(fs []functions.Function) map[string]string {
	out := map[string]string{}
	for _, f := range fs {
		if len(f.Tasks) > 0 {
			out[strings.ToUpper(f.Name[:1])+f.Name[1:]+"FunctionArn"] = f.Name
		}
	}
	return out
}

// startWorkers starts the engine of the state machines over store, and makes the workers that the engine, the
// schedules and the API functions call. The engine is no function: it keeps its executions where no function may
// read.
func (s *Service) startWorkers(o Options, store table.Store, fs []functions.Function, died bool) error {
	p := s.Platform
	machines, err := workflow.LoadMachines(os.DirFS(filepath.Join(o.Root, "statemachines")), substitutions(fs))
	if err != nil {
		return err
	}
	handlers, calls := map[string]workflow.Handler{}, lambdacall.Local{}
	for _, f := range fs {
		if f.Worker != nil { // looked up at each call: s.workers is built after the engine
			call := func(ctx context.Context, in json.RawMessage) (any, error) {
				return s.workers[f.Name](ctx, in)
			}
			handlers[f.Name], calls[f.Name] = s.turns.task(call), call
		}
		if len(f.Groups) > 0 { // workers may call the operations that are for workers only
			calls[f.Name] = func(ctx context.Context, in json.RawMessage) (any, error) {
				return s.answer(ctx, f.Name, in)
			}
		}
	}
	s.engine, err = workflow.NewEmbedded(workflow.Parts{
		Store: table.Fenced(store), Clock: p.Clock, Machines: machines, Log: p.Log, Handlers: handlers,
		Transition: o.Observer.Transition, Died: died, Tasks: o.tasks(),
	})
	if err != nil {
		return err
	}
	s.close = append(s.close, s.engine.Close)
	p.Workflow, p.Workers = s.engine, calls
	p.Share()
	s.Providers, s.workers = providers.New(p), map[string]workflow.Handler{}
	for _, f := range fs {
		if f.Worker != nil {
			s.workers[f.Name] = within(o, f.Declaration, f.Worker(p, s.Providers))
		}
	}
	return nil
}

// waitingTasks is how many tasks run at once while tasks of real clouds wait for the complete program. Waiting tasks
// then do not block others.
const waitingTasks = 4096

// tasks returns how many tasks of state machines run at once; 0 means the engine's default.
func (o Options) tasks() int {
	if providers.Complete {
		return 0
	}
	return waitingTasks
}

// answer calls an operation's function with a request that did not come through API Gateway.
func (s *Service) answer(ctx context.Context, function string, in json.RawMessage) (any, error) {
	var ev events.APIGatewayProxyRequest
	if err := json.Unmarshal(in, &ev); err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "%s was sent no request", function)
	}
	return s.serving[function](ctx, ev)
}

// run runs a worker once, as its schedule does in AWS.
func (s *Service) run(ctx context.Context, worker string) error {
	_, err := s.workers[worker](ctx, json.RawMessage("{}"))
	return fault.Wrap("run "+worker, err)
}
