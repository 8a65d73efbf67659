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

// Declaration describes a function, once, in functions/<name>/declaration.go. functions.All lists all declarations. The
// function's IAM policy in template.yaml, the eraser, docs/data-model.md and tests are generated from them or compared
// with them. A platform restricts its function to its declaration (OpenLambda, Share), so that undeclared access fails
// on a laptop as it fails in AWS because of IAM. See docs/decisions/010-one-entry-a-function.md.
type Declaration struct {
	Name     string            // name of its folder, and of the function in AWS after lamplighter-<stage>-
	Access   table.Access      // partitions that it reads and writes
	Starts   []string          // machines that it starts
	Stops    []string          // machines that it stops
	Looks    []string          // machines whose executions it describes
	Tasks    []string          // machines whose tasks it runs
	Calls    []string          // functions that it calls
	Seals    []string          // kinds of secrets that it seals (seal.Place.Kind)
	Opens    []string          // kinds of secrets that it opens
	Secrets  []Secret          // secrets of the installation that it reads at its start
	Schedule string            // schedule in EventBridge; "" for none
	Stream   []table.Partition // outbox partitions whose puts it receives from the table's stream
	Samples  []string          // events/<name>.<sample>.json; an operation group needs none
	Routes   []string          // routes of its operations that are not public; none: those of their first segments
	Clouds   bool              // it opens accounts of customers, and so links cloud SDKs
	SDKs     bool              // it links cloud SDKs without opening accounts; Clouds implies it
	Share    int               // share of the concurrent executions reserved for its wing; 0 for an operation group
	Heavy    bool              // it may be larger than an API function; Clouds and SDKs imply it
	Kinds    []Kind            // kinds of records that it owns
	Names    []Reference       // records that its records refer to
}

// EveryMachine in Starts, Stops and Looks means all machines, including future ones.
const EveryMachine = "*"

type declarationKey struct{}

// As returns a context for work of the function d, in a process that many functions share.
func (d *Declaration) As(ctx context.Context) context.Context {
	return context.WithValue(table.As(ctx, d.Name, d.Access), declarationKey{}, d)
}

// declared returns the function of ctx, or else d. If both are nil, nothing is refused.
func declared(ctx context.Context, d *Declaration) *Declaration {
	named, _ := ctx.Value(declarationKey{}).(*Declaration)
	return cmp.Or(named, d)
}

// Own restricts p to the declaration of the function d, for the process of a Lambda.
func (p *Platform) Own(d Declaration) {
	p.Table = table.Confined(p.Table, d.Name, d.Access)
	p.confine(&d)
}

// Share restricts work with p for a function (Declaration.As) to the declaration of that function, for a process that
// many functions share. Work of the process itself is not restricted.
func (p *Platform) Share() {
	p.Table = table.Confined(p.Table, "of the process itself", table.Unlimited)
	p.confine(nil)
}

func (p *Platform) confine(d *Declaration) {
	p.Workflow, p.Workers, p.Sealer = engine{p.Workflow, d}, invoker{p.Workers, d}, sealer{p.Sealer, d}
}

// errUndeclared returns the error for a name that a function does not declare.
func errUndeclared(d *Declaration, field, name string) error {
	return fault.New(fault.Internal,
		"the function %s does not declare that it %s %q: add it to %[2]s in functions/%[1]s/declaration.go", d.Name,
		field, name)
}

// declaresMachine reports whether a machine is among the declared ones.
func declaresMachine(machines []string, machine string) bool {
	return slices.Contains(machines, machine) || slices.Contains(machines, EveryMachine)
}

// engine restricts a workflow.Engine to declared machines.
type engine struct {
	workflow.Engine
	own *Declaration
}

// Start starts an execution of a machine that the function declares to start.
func (e engine) Start(ctx context.Context, machine, name string, input any) error {
	if d := declared(ctx, e.own); d != nil && !declaresMachine(d.Starts, machine) {
		return errUndeclared(d, "Starts", machine)
	}
	return e.Engine.Start(ctx, machine, name, input)
}

// Stop aborts an execution of a machine that the function declares to stop.
func (e engine) Stop(ctx context.Context, machine, name, cause string) error {
	if d := declared(ctx, e.own); d != nil && !declaresMachine(d.Stops, machine) {
		return errUndeclared(d, "Stops", machine)
	}
	return e.Engine.Stop(ctx, machine, name, cause)
}

// Describe reads an execution of a machine that the function declares to look at.
func (e engine) Describe(ctx context.Context, machine, name string) (workflow.Execution, error) {
	if d := declared(ctx, e.own); d != nil && !declaresMachine(d.Looks, machine) {
		return workflow.Execution{}, errUndeclared(d, "Looks", machine)
	}
	return e.Engine.Describe(ctx, machine, name)
}

// invoker restricts a lambdacall.Invoker to declared functions.
type invoker struct {
	lambdacall.Invoker
	own *Declaration
}

// Invoke calls a function that the caller declares to call.
func (i invoker) Invoke(ctx context.Context, function string, in, out any) error {
	if d := declared(ctx, i.own); d != nil && !slices.Contains(d.Calls, function) {
		return errUndeclared(d, "Calls", function)
	}
	return i.Invoker.Invoke(ctx, function, in, out)
}

// RunTask runs a task of a worker that the caller declares to call.
func (i invoker) RunTask(ctx context.Context, function string, in, out any) error {
	if d := declared(ctx, i.own); d != nil && !slices.Contains(d.Calls, function) {
		return errUndeclared(d, "Calls", function)
	}
	return i.Invoker.RunTask(ctx, function, in, out)
}

// sealer restricts a seal.Sealer to declared kinds of secrets.
type sealer struct {
	seal.Sealer
	own *Declaration
}

// Seal seals a secret of a kind that the function declares to seal.
func (s sealer) Seal(ctx context.Context, p seal.Place, plain []byte) ([]byte, error) {
	if d := declared(ctx, s.own); d != nil && !slices.Contains(d.Seals, p.Kind) {
		return nil, errUndeclared(d, "Seals", p.Kind)
	}
	return s.Sealer.Seal(ctx, p, plain)
}

// Open opens a secret of a kind that the function declares to open.
func (s sealer) Open(ctx context.Context, p seal.Place, sealed []byte) ([]byte, error) {
	if d := declared(ctx, s.own); d != nil && !slices.Contains(d.Opens, p.Kind) {
		return nil, errUndeclared(d, "Opens", p.Kind)
	}
	return s.Sealer.Open(ctx, p, sealed)
}
