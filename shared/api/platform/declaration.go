package platform

import (
	"cmp"
	"context"
	"slices"

	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// Declaration is what a function says of itself, once, in functions/<name>/declaration.go: all that others must know of
// it. functions.All lists them; its IAM policy in infra/stacks/<wing>.yaml, the eraser, docs/data-model.md and tests are made of
// them or held against them. A platform holds its function to it (Open, Shared), so that what is used and not declared
// fails on a laptop as IAM would fail it in AWS. See docs/decisions/010-one-entry-a-function.md.
type Declaration struct {
	Name     string            // of its folder, and of the function in AWS behind lamplighter-<stage>-
	Access   table.Access      // the partitions that it reads and writes
	Starts   []string          // the machines that it starts
	Stops    []string          // the machines that it stops
	Looks    []string          // the machines of which it asks how their executions are
	Tasks    []string          // the machines whose tasks it runs
	Calls    []string          // the functions that it calls and waits for
	Seals    []string          // the kinds of secrets that it seals (seal.Place.Kind)
	Opens    []string          // the kinds of secrets that it opens
	Schedule string            // when EventBridge calls it; "" is never
	Stream   []table.Partition // the outbox partitions whose puts the table's stream brings it
	Samples  []string          // events/<name>.<sample>.json; an operation group needs none
	Routes   []string          // the routes of its operations that are not public; none: those of their first segments
	Clouds   bool              // it opens the accounts of customers, and so links the SDKs of clouds
	SDKs     bool              // it links the SDKs of clouds without opening an account; Clouds implies it
	Share    int               // of the concurrent executions that its wing reserves; an operation group has none
	Heavy    bool              // nobody waits for it, so it may weigh more than an API function; Clouds and SDKs imply it
	Kinds    []Kind            // the kinds of records that it owns
	Names    []Reference       // the records that its records name
}

// EveryMachine stands in Starts, Stops and Looks for all machines, those to come too.
const EveryMachine = "*"

type declarationKey struct{}

// As says that what is done with ctx is done for the function d. It is for a process that many functions share.
func (d *Declaration) As(ctx context.Context) context.Context {
	return context.WithValue(table.As(ctx, d.Name, d.Access), declarationKey{}, d)
}

// declared returns the function that ctx names, or else d; nil when there is neither, in which case nothing is refused.
func declared(ctx context.Context, d *Declaration) *Declaration {
	named, _ := ctx.Value(declarationKey{}).(*Declaration)
	return cmp.Or(named, d)
}

// Own confines p to what the function d declares: for the process of a Lambda, which is that function.
func (p *Platform) Own(d Declaration) {
	p.Table = table.Confined(p.Table, d.Name, d.Access)
	p.confine(&d)
}

// Share confines p, whatever is done with it for a function (Declaration.As), to what that function declares: for a
// process that many functions share. What is done for none, by the process itself, is not refused.
func (p *Platform) Share() {
	p.Table = table.Confined(p.Table, "of the process itself", table.Unlimited)
	p.confine(nil)
}

func (p *Platform) confine(d *Declaration) {
	p.Workflow, p.Workers, p.Sealer = engine{p.Workflow, d}, invoker{p.Workers, d}, sealer{p.Sealer, d}
}

// undeclared refuses what is not among the names that a function declares.
func undeclared(d *Declaration, field, name string) error {
	return fault.New(fault.Internal,
		"the function %s does not declare that it %s %q: add it to %[2]s in functions/%[1]s/declaration.go", d.Name,
		field, name)
}

// among reports whether a machine is among those that are declared.
func among(machines []string, machine string) bool {
	return slices.Contains(machines, machine) || slices.Contains(machines, EveryMachine)
}

// engine starts and stops what is declared.
type engine struct {
	workflow.Engine
	own *Declaration
}

// Start begins an execution of a machine that the function declares to start.
func (e engine) Start(ctx context.Context, machine, name string, input any) error {
	if d := declared(ctx, e.own); d != nil && !among(d.Starts, machine) {
		return undeclared(d, "Starts", machine)
	}
	return e.Engine.Start(ctx, machine, name, input)
}

// Stop aborts an execution of a machine that the function declares to stop.
func (e engine) Stop(ctx context.Context, machine, name, cause string) error {
	if d := declared(ctx, e.own); d != nil && !among(d.Stops, machine) {
		return undeclared(d, "Stops", machine)
	}
	return e.Engine.Stop(ctx, machine, name, cause)
}

// Describe reads an execution of a machine that the function declares to look at.
func (e engine) Describe(ctx context.Context, machine, name string) (workflow.Execution, error) {
	if d := declared(ctx, e.own); d != nil && !among(d.Looks, machine) {
		return workflow.Execution{}, undeclared(d, "Looks", machine)
	}
	return e.Engine.Describe(ctx, machine, name)
}

// invoker calls what is declared.
type invoker struct {
	lambdacall.Invoker
	own *Declaration
}

// Invoke calls a function that the caller declares to call.
func (i invoker) Invoke(ctx context.Context, function string, in, out any) error {
	if d := declared(ctx, i.own); d != nil && !slices.Contains(d.Calls, function) {
		return undeclared(d, "Calls", function)
	}
	return i.Invoker.Invoke(ctx, function, in, out)
}

// RunTask has a worker of state machines that the caller declares to call run a task.
func (i invoker) RunTask(ctx context.Context, function string, in, out any) error {
	if d := declared(ctx, i.own); d != nil && !slices.Contains(d.Calls, function) {
		return undeclared(d, "Calls", function)
	}
	return i.Invoker.RunTask(ctx, function, in, out)
}

// sealer seals and opens what is declared.
type sealer struct {
	seal.Sealer
	own *Declaration
}

// Seal seals a secret of a kind that the function declares to seal.
func (s sealer) Seal(ctx context.Context, p seal.Place, plain []byte) ([]byte, error) {
	if d := declared(ctx, s.own); d != nil && !slices.Contains(d.Seals, p.Kind) {
		return nil, undeclared(d, "Seals", p.Kind)
	}
	return s.Sealer.Seal(ctx, p, plain)
}

// Open opens a secret of a kind that the function declares to open.
func (s sealer) Open(ctx context.Context, p seal.Place, sealed []byte) ([]byte, error) {
	if d := declared(ctx, s.own); d != nil && !slices.Contains(d.Opens, p.Kind) {
		return nil, undeclared(d, "Opens", p.Kind)
	}
	return s.Sealer.Open(ctx, p, sealed)
}
