package delivery_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

const receivers = 1000

// onDisk returns an organization with receivers, on the machine's clock and a store that syncs.
func onDisk(t testing.TB, to ...delivery.Target) *fixture {
	t.Helper()
	s := apitest.Value(table.Open(filepath.Join(t.TempDir(), "store.db"), table.Options{}))(t)
	t.Cleanup(func() { _ = s.Close() })
	p := apitest.PlatformAt(t, clock.System{})
	p.Table = table.Fenced(s)
	return fixtureOn(t, apitest.On(t, p), to...)
}

func crowd() (to []delivery.Target) {
	for i := range receivers {
		to = append(to, delivery.Target{Kind: delivery.Channel, ID: fmt.Sprintf("chan_%04d", i)})
	}
	return to
}

// Bar: one event reaches 1,000 receivers within 2 s, each once, while one of them does not answer. The engine waits
// for that receiver until its deadline; the others get their message long before.
func TestDeliver_AThousandReceiversOfWhichOneIsDead(t *testing.T) {
	f := onDisk(t, crowd()...)
	release, done := make(chan struct{}), make(chan time.Duration)
	f.post.answer["chan_0000"] = func(context.Context) (delivery.Answer, error) {
		<-release
		return delivery.Answer{}, down
	}
	rows, e := f.happen(event.ResourceFailed, 1), f.engine()
	began := time.Now()
	go func() {
		for _, failed := range e.Deliver(f.Context(), rows) {
			t.Error(failed.Err)
		}
		done <- time.Since(began)
	}()
	f.post.await(receivers - 1)
	took := time.Since(began)
	close(release)
	<-done
	if took > 2*time.Second && !race.Enabled {
		t.Errorf("it took %s to tell %d of %d", took, f.post.count(), receivers)
	}
	to := map[string]int{}
	for _, m := range f.post.sent {
		to[m.Target.ID]++
	}
	if len(to) != receivers-1 || len(f.post.sent) != receivers-1 {
		t.Errorf("%d messages to %d receivers", len(f.post.sent), len(to))
	}
	t.Logf("%s", took)
}

// BenchmarkFanOut1000 delivers an event to 1,000 receivers, on a store that syncs. The bar is 2 s.
func BenchmarkFanOut1000(b *testing.B) {
	f := onDisk(b, crowd()...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		rows := f.happen(fmt.Sprint("key", i), 1)
		ctx, m := table.WithMeter(f.Context())
		b.StartTimer()
		f.engine().Deliver(ctx, rows)
		u := m.Usage()
		b.ReportMetric(float64(u.RoundTrips), "trips/op")
		b.ReportMetric(u.WriteUnits, "writes/op")
		b.ReportMetric(u.ReadUnits, "reads/op")
	}
}
