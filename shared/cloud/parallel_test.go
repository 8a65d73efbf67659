package cloud

import (
	"sync/atomic"
	"testing"
)

func TestInParallelRunsEachOnceAndNeverMoreThanItsWidth(t *testing.T) {
	const n, width = 200, 7
	var runs [n]atomic.Int32
	var now, most atomic.Int32
	InParallel(n, width, func(i int) {
		at := now.Add(1)
		for was := most.Load(); at > was && !most.CompareAndSwap(was, at); was = most.Load() {
		}
		runs[i].Add(1)
		now.Add(-1)
	})
	for i := range runs {
		if got := runs[i].Load(); got != 1 {
			t.Errorf("%d ran %d times", i, got)
		}
	}
	if most.Load() > width {
		t.Errorf("%d ran at once, at most %d may", most.Load(), width)
	}
}
