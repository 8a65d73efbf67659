package local

import (
	"context"
	"strings"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
)

// within returns h as the function d. Store calls are confined to the access that d declares, as IAM confines them in
// AWS.
func within[I, O any](o Options, d platform.Declaration, h func(context.Context, I) (O, error)) func(context.Context,
	I) (O, error) {
	if o.Observer == (unobserved{}) {
		return func(ctx context.Context, in I) (O, error) { return h(d.As(ctx), in) }
	}
	return func(ctx context.Context, in I) (O, error) {
		ctx, meter := table.WithPartitionMeter(d.As(ctx))
		began := o.Clock.Now()
		defer func() { o.Observer.Call(d.Name, usage(meter), o.Clock.Now().Sub(began)) }()
		return h(ctx, in)
	}
}

// usage returns the usage that the meter has counted, without the units of the simulated cloud and the embedded
// workflow engine: their rows are in no table of AWS. Their round trips count, because they stand for calls to a
// cloud and to Step Functions.
func usage(m *table.Meter) table.Usage {
	out := m.Usage()
	for pk, u := range m.Partitions() {
		if strings.HasPrefix(pk, "SIM#") || strings.HasPrefix(pk, "WF#") {
			out.ReadUnits, out.WriteUnits = out.ReadUnits-u.Read, out.WriteUnits-u.Write
		}
	}
	return out
}

// serving returns the functions that the template routes to, by their folders.
func serving(o Options, p *platform.Platform, fs []functions.Function) map[string]rest.Function {
	out := map[string]rest.Function{}
	for _, f := range fs {
		if len(f.Groups) > 0 {
			out[f.Name] = within(o, f.Declaration, rest.Lambda(p, f.Operations(p)...))
		}
	}
	return out
}

// Operations returns the declared operations, by the folders of their functions.
func Operations(p *platform.Platform) map[string][]rest.Op {
	out := map[string][]rest.Op{}
	for _, f := range functions.All() {
		for _, g := range f.Operations(p) {
			out[f.Name] = append(out[f.Name], g.Ops()...)
		}
	}
	return out
}
