package local

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns_DrainWaitsForThoseUnderWay(t *testing.T) {
	tests := []struct {
		name string
		do   func(ctx context.Context)
		want time.Duration
	}{
		{"a turn that works", func(context.Context) { time.Sleep(3 * time.Second) }, 3 * time.Second},
		{"a turn that waits for a cloud", func(ctx context.Context) {
			turnOf(ctx).pause()
			<-ctx.Done()
			turnOf(ctx).resume()
		}, 0},
		{"a turn that waits and then works", func(ctx context.Context) {
			turnOf(ctx).pause()
			time.Sleep(time.Second)
			turnOf(ctx).resume()
			time.Sleep(time.Second)
		}, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				life, stop := context.WithCancel(t.Context())
				all := newTurns()
				ctx, end, err := all.begin(life)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					tt.do(ctx)
					end()
				}()
				if tt.want > time.Second {
					time.Sleep(time.Second + time.Millisecond) // past the wait of the third
				}
				began := time.Now()
				if err := all.drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began).Round(100 * time.Millisecond); took != max(tt.want-time.Second, 0) {
					t.Errorf("it took %s", took)
				}
				stop()
				if _, _, err = all.begin(life); !errors.Is(err, context.Canceled) {
					t.Errorf("a turn began after the drain: %v", err)
				}
			})
		})
	}
}
