package local

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	headroom    = 16 << 20 // bytes of garbage that may gather before it is collected, at the least
	mostPercent = 1000
	stepPercent = 50 // so that the percentage is not set anew for each little change of what is in use

	plenty       = 64 << 20 // bytes in use from which on less garbage may gather: a discovery of 100,000 resources
	tightPercent = 50
)

// SpareCollections lets at least 16 MB of garbage gather before it is collected, until ctx ends. Go collects when as much
// has been allocated as is in use, and the service has a few megabytes in use, of which each collection looks at
// everything: a fifth of what a request costs. When more than 16 MB are in use Go's own measure holds, and from 64 MB on
// half of it, which keeps the most memory that the process takes, in a discovery, below the bar. Nothing is done where
// the operator has set GOGC.
func SpareCollections(ctx context.Context) {
	if os.Getenv("GOGC") == "" {
		spare(gathering{ctx, 0})
	}
}

// gathering is what is handed from one collection to the next.
type gathering struct {
	ctx     context.Context //nolint:containedctx // it is an argument that waits for the collector
	percent int             // as it was set last; 0 at first
}

// spare sets what may gather until the next collection, and has itself called after that.
func spare(g gathering) {
	if g.ctx.Err() != nil {
		debug.SetGCPercent(percent(headroom))
		return
	}
	if p := percent(live()); p != g.percent {
		debug.SetGCPercent(p)
		g.percent = p
	}
	runtime.AddCleanup(new(found), spare, g)
}

// found is garbage as soon as it is made, so that the next collection finds it.
type found struct{ _ [64]byte }

// live is how many bytes the last collection left; 0 before the first.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// percent is GOGC's value for the bytes in use: 100 as Go has it, and more as long as that leaves too little headroom.
func percent(live uint64) int {
	if live <= headroom*100/mostPercent {
		return mostPercent
	}
	if live > plenty {
		return tightPercent
	}
	p := int(headroom * 100 / live) //nolint:gosec // below mostPercent
	return max(100, p-p%stepPercent)
}
