package local

import (
	"os"
	"path/filepath"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/functions/eraser"
	"lamplighter.dev/functions/executor"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
)

// substitutions are what template.yaml puts into the state machines, by the names of folders instead of ARNs.
var substitutions = map[string]string{
	"ExecutorFunctionArn": "executor", "DiscoveryFunctionArn": "discovery", "EraserFunctionArn": "eraser",
}

// work starts the engine of the state machines and what they call.
func (s *Service) work(o Options) error {
	p := s.Platform
	machines, err := workflow.Machines(os.DirFS(filepath.Join(o.Root, "statemachines")), substitutions)
	if err != nil {
		return err
	}
	s.engine, err = workflow.NewEmbedded(workflow.Parts{
		Store: p.Table, Clock: p.Clock, Machines: machines, Log: p.Log,
		Handlers: map[string]workflow.Handler{
			"executor":  executor.Handler(p, s.Providers),
			"discovery": discovery.Handler(p, s.Providers),
			"eraser":    eraser.Handler(p),
		},
	})
	if err != nil {
		return err
	}
	p.Workflow = s.engine
	p.Workers = lambdacall.Local{"connector": connector.Handler(p, s.Providers)}
	s.close = append(s.close, s.engine.Close)
	return nil
}
