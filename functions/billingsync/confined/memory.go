package confined

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// errMemory is the start of the error output of a process that ended because it used too much memory.
const errMemory = "the limit of memory is reached"

// watchEvery is the interval between two checks of the memory. A process fills at most about 2 GB of memory per
// second.
const watchEvery = 20 * time.Millisecond

// limitMemory ends this process when it takes more than limit bytes of memory. On Linux the kernel refuses more address
// space, too, so that one large allocation fails at once. Elsewhere the process only watches itself. An orphan ends
// itself as well.
func limitMemory(ctx context.Context, limit int64) error {
	if limit <= 0 || limit > math.MaxInt64/4 {
		return fmt.Errorf("a limit of %d bytes", limit)
	}
	debug.SetMemoryLimit(limit / 4 * 3) // the collector works harder before the limit is reached
	if err := limitAddressSpace(limit); err != nil {
		return err
	}
	go watchMemory(ctx, limit, os.Getppid())
	return nil
}

// watchMemory ends the process when its memory is above the limit, or its parent is gone.
func watchMemory(ctx context.Context, limit int64, parent int) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for wait := error(nil); wait == nil; wait = (clock.System{}).Sleep(context.WithoutCancel(ctx), watchEvery) {
		metrics.Read(samples)
		used := samples[0].Value.Uint64() - samples[1].Value.Uint64()
		if used > uint64(limit) { //nolint:gosec // limit is positive
			fmt.Fprintf(os.Stderr, "%s: %d of %d bytes\n", errMemory, used, limit)
			os.Exit(exitMemory)
		}
		if os.Getppid() != parent {
			os.Exit(exitOrphan)
		}
	}
}

// The exit codes of a child that ends itself.
const (
	exitMemory = 3
	exitOrphan = 4
)
