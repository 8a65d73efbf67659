package local

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestWhatMayGather(t *testing.T) {
	for live, want := range map[uint64]int{0: 1000, 1 << 20: 1000, 6 << 20: 250, 10 << 20: 150, 16 << 20: 100, 64 << 20: 100, 65 << 20: 50, 1 << 40: 50} {
		if got := percent(live); got != want {
			t.Errorf("with %d bytes in use GOGC is %d, want %d", live, got, want)
		}
	}
}

func TestMuchInUseBringsBackGosOwnMeasure(t *testing.T) {
	t.Setenv("GOGC", "")
	ctx, cancel := context.WithCancel(t.Context())
	SpareCollections(ctx)
	await(t, "little is in use", func(p int) bool { return p > 100 })
	used := make([]byte, 3*headroom)
	await(t, "much is in use", func(p int) bool { return p == 100 })
	runtime.KeepAlive(used) // and from here on it is garbage
	await(t, "little is in use again", func(p int) bool { return p > 100 })
	cancel()
	await(t, "it was told to end", func(p int) bool { return p == 100 })
}

// await collects until the percentage is as wanted.
func await(t *testing.T, when string, wanted func(percent int) bool) {
	t.Helper()
	for range 500 {
		runtime.GC()
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		if wanted(p) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("the percentage did not follow when %s", when)
}
